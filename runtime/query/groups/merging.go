package groups

import (
	"bytes"
	"context"
	"fmt"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/memory"
)

// merging merges group by group, as the groups are found in memory.
type merging struct {
	Update
	merger
	now     *memory.Rows // groups and their partials in the epoch
	unseen  int          // how many of them were not remembered, while none was
	unfit   bool         // SQL is to merge all
	buf     []byte
	changes memory.Changes
	both    *memory.Rows // of each change the partials, and what was remembered; nil: nobody asks
}

// inBytes merges the groups of an epoch, which come in the order of their hashes. ok is false where SQL is to do it.
func (u Update) inBytes(m merger, now *memory.Rows) (g *merging, ok bool, err error) {
	g = &merging{Update: u, merger: m, now: now}
	if !u.Unread || !tells(u.Aggregate) {
		g.both = &memory.Rows{}
	}
	if u.taken() {
		g.grow()
	}
	if err := u.Memory.Read(now.Len(), now.Key, g.found); err != nil {
		return g, false, fmt.Errorf("reading keyed data: %w", err)
	}
	return g, !g.unfit, nil
}

// taken reports that groups may be given rows less than none.
func (u Update) taken() bool { return u.Aggregate.Retracts && u.Deleted }

func (g *merging) grow() {
	g.changes.Grow(g.now.Len(), g.now.Bytes()*9/8)
	if g.both != nil {
		g.both.Grow(g.now.Len(), g.now.Bytes()*2)
	}
}

// found takes what is remembered of a group. While nothing was remembered of any, there is nothing to merge.
func (g *merging) found(i int, old []byte) {
	if old == nil && g.unseen == i && !g.taken() {
		g.unseen++
		return
	}
	if g.unseen == i && !g.taken() {
		g.grow()
		for j := range i {
			g.merge(j, nil)
		}
	}
	g.merge(i, old)
}

// none reports that nothing was remembered of any group.
func (g *merging) none() bool { return g.unseen == g.now.Len() && !g.taken() }

func (g *merging) merge(i int, old []byte) {
	if g.unfit {
		return
	}
	value, was := g.now.Row(i), memory.Absent
	if old != nil {
		was = len(old)
		merged, ok := g.merger.merge(g.buf[:0], old, value)
		if g.buf = merged; !ok {
			g.unfit = true
			return
		}
		if value = merged; bytes.Equal(value, old) {
			return
		}
	}
	kept, a := value, g.Aggregate
	if a.Retracts && !a.Scalar() && g.integer(value, a.Counter) == 0 {
		if kept = nil; old == nil {
			return
		}
	}
	g.changes.Put(g.now.Key(i), kept, was)
	if g.both != nil {
		g.both.Put(value, old)
	}
}

// brought makes the table of the groups that moved: groups, partials, whether there were some before, and these.
func (g *merging) brought(ctx context.Context) (Brought, error) {
	if g.both == nil {
		counts := batch.Counts{Inserted: int64(g.changes.Len())}
		for i := range g.changes.Len() {
			if _, _, was := g.changes.At(i); was != memory.Absent {
				counts.Deleted++
			}
		}
		return Brought{counts: counts}, nil
	}
	c, before := columns(g.Aggregate), make([]string, len(g.Aggregate.PartialTypes))
	for i := range before {
		before[i] = fmt.Sprintf("o%d", i)
	}
	l, err := g.Set.Loader(append(append(c.Names, "had"), before...), append(append(c.Types, "BOOLEAN"), g.Aggregate.PartialTypes...))
	if err != nil {
		return Brought{}, err
	}
	defer l.Release()
	nulls := make([]byte, 2+len(before)) // false, then NULLs, as the row format has it
	nulls[0] = 1
	for i := range g.changes.Len() {
		if key, _, was := g.changes.At(i); was != memory.Absent {
			err = l.Append(ctx, key, g.both.Key(i), []byte{1, 1}, g.both.Row(i))
		} else {
			err = l.Append(ctx, key, g.both.Key(i), nulls)
		}
		if err != nil {
			return Brought{}, err
		}
	}
	merged, err := l.Table(ctx)
	return Brought{table: merged, counts: uncounted()}, err
}
