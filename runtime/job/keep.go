package job

import (
	"fmt"
	"slices"
	"time"

	"github.com/streamform/streamform/runtime/job/kept"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/scan"
	"github.com/streamform/streamform/runtime/store"
)

// Keeping is where the admitted rows of a source are held, and for how long.
type Keeping struct {
	Table uint64        // 0: none are held
	For   time.Duration // since their commit; 0: for good
}

// heldFrom is the part of a source that is held from an ordinal on, and is read in place of its files; not beyond an ordinal.
func (r *reader) heldFrom(v *store.View, from, to int64) (kept.Part, bool, error) {
	if r.Keeps.Table == 0 {
		return kept.Part{}, false, nil
	}
	p, ok, err := kept.Find(v, r.ID, from)
	return p, ok && p.To <= to && p.Serves(scan.Columns(r.Scan)), err
}

// Holding are the parts that a replay of the files after an ordinal, up to another, reads in place of files.
func (s Source) Holding(v *store.View, from, to int64) (kept.Parts, error) {
	if s.Keeps.Table == 0 {
		return nil, nil
	}
	all, err := kept.Serving(v, s.ID, scan.Columns(s.Scan))
	return slices.DeleteFunc(all, func(p kept.Part) bool { return p.From < from || p.To > to }), err
}

// heldRows are the parts that an epoch reads, as the engine reads them.
func (in intake) heldRows(v *store.View) (rows []query.HeldRows) {
	for _, p := range in.held {
		rows = append(rows, HeldRows(v, in.reader.Keeps.Table, p))
	}
	return rows
}

// HeldRows is a part as the engine reads it, while the view is open.
func HeldRows(v *store.View, table uint64, p kept.Part) query.HeldRows {
	return query.HeldRows{Last: p.To, Count: p.Rows, Bytes: p.Bytes, Columns: p.Columns,
		Blocks: func(side string, fn func([]byte) error) error { return p.Read(v.Table(table), side, fn) }}
}

// keeps reports whether the rows that an epoch admits are held.
func (in intake) keeps() bool { return !in.replay && in.reader.Keeps.Table != 0 }

// keep adds what an epoch admitted of a source to what is held, and drops what is older than it is to be held for: not while something is
// built or rewound, which may need it.
func (j *Job) keep(b *store.Batch, o *outcome, in intake, got query.InputResult) error {
	if !in.keeps() {
		return nil
	}
	now := j.Now().UTC()
	if in.to > in.from {
		p := kept.Part{From: in.from, To: in.to, Epoch: o.epoch, At: now, Rows: got.Rows, Files: int64(len(in.records)), Unfit: got.Rescued > 0,
			Columns: scan.Columns(in.reader.Scan)}
		for _, r := range in.records {
			p.FileBytes += r.SizeBytes
		}
		if err := kept.Write(b, in.reader.ID, in.reader.Keeps.Table, p, kept.Rows{Blocks: got.Blocks, Sides: got.Sides}); err != nil {
			return err
		}
	}
	if in.reader.Keeps.For == 0 {
		return nil
	}
	view := j.Store.View()
	defer view.Close()
	_, needed, err := view.Meta(BuildKey(j.ID))
	if err == nil && !needed {
		err = view.MetaPrefix("rew/", func(string, []byte) error {
			needed = true
			return nil
		})
	}
	if err == nil && !needed {
		_, err = kept.Expire(view, b, in.reader.ID, in.reader.Keeps.Table, now.Add(-in.reader.Keeps.For))
	}
	if err != nil {
		return fmt.Errorf("dropping rows that %s held: %w", in.reader.Addr, err)
	}
	return nil
}

// BuildKey is where the store has the record of what is being built of a pipeline.
func BuildKey(pipeline string) string { return "build/" + pipeline }
