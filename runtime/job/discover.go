package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/job/kept"
	"github.com/streamform/streamform/runtime/store"
)

// listEvery is the least time between two listings of a source.
const listEvery = time.Second

// listSlack lets a trigger that ticks every second list at each tick.
const listSlack = 100 * time.Millisecond

// listing is what one look at a source found, not yet committed.
type listing struct {
	reader *reader
	fresh  []Record // with new ordinals
	other  []Record // entries there were, changed
	files  int64    // by which the pending files change
	bytes  int64
}

// add notes an entry, and the one it takes the place of, in the sums of pending files.
func (l *listing) add(list *[]Record, r Record, former *Record) {
	*list = append(*list, r)
	if r.Status == connector.Pending {
		l.files++
		l.bytes += r.SizeBytes
	}
	if former != nil && former.Status == connector.Pending {
		l.files--
		l.bytes -= former.SizeBytes
	}
}

// list looks at every source and commits what it found as pending; extra, if set, rides on the same commit.
func (j *Job) list(ctx context.Context, extra func(b *store.Batch, last map[string]int64) error) error {
	var found []listing
	last := map[string]int64{}
	for _, r := range j.sources {
		l, err := j.look(ctx, r)
		if err != nil {
			return j.failure(r.Addr.String(), err)
		}
		last[r.ID] = l.last()
		found = append(found, l)
	}
	if extra == nil {
		return j.enter(found, nil)
	}
	return j.enter(found, func(b *store.Batch) error { return extra(b, last) })
}

func (j *Job) look(ctx context.Context, r *reader) (listing, error) {
	view := j.Store.View()
	defer view.Close()
	l := listing{reader: r}
	entries, err := r.From.Discover(ctx, reading{ledger: r.ledger, view: view})
	if err != nil {
		return l, fmt.Errorf("listing %s: %w", r.Addr, err)
	}
	r.listed = j.Now()
	for _, e := range entries {
		former, ok, err := r.ledger.newest(view, e.Path)
		if err != nil {
			return l, fmt.Errorf("reading the ledger of %s: %w", r.Addr, err)
		}
		if e.Status == connector.Pending {
			e.Rows = -1
		}
		switch {
		case e.Ordinal <= r.ledger.last:
			l.add(&l.other, Record{Entry: e}, &former)
			continue
		case ok && former.Status == connector.Read:
			former.Status = connector.Overwritten
			l.add(&l.other, former, nil)
		}
		l.add(&l.fresh, Record{Entry: e}, nil)
	}
	return l, nil
}

// enter commits listings and then makes them known to the readers.
func (j *Job) enter(found []listing, extra func(b *store.Batch) error) error {
	found = slices.DeleteFunc(found, func(l listing) bool { return len(l.fresh)+len(l.other) == 0 })
	if len(found) == 0 && extra == nil {
		return nil
	}
	b := j.Store.NewBatch()
	for _, l := range found {
		if err := l.write(b); err != nil {
			return err
		}
	}
	if extra != nil {
		if err := extra(b); err != nil {
			return err
		}
	}
	if err := j.Store.Commit(b); err != nil {
		return fmt.Errorf("entering files into the ledger: %w", err)
	}
	for _, l := range found {
		l.settle()
	}
	return nil
}

func (l listing) last() int64 { return l.reader.ledger.last + int64(len(l.fresh)) }

func (l listing) write(b *store.Batch) error {
	for _, r := range l.other {
		if err := l.reader.ledger.write(b, r, false); err != nil {
			return err
		}
	}
	for _, r := range l.fresh {
		if err := l.reader.ledger.write(b, r, true); err != nil {
			return err
		}
	}
	return writeJSON(b, "src/"+l.reader.ID, l.state())
}

// state is the source's once the listing is committed.
func (l listing) state() SourceState {
	s := l.reader.state
	s.Last = l.last()
	s.PendingFiles += l.files
	s.PendingBytes += l.bytes
	return s
}

func (l listing) settle() {
	l.reader.state = l.state()
	l.reader.ledger.last = l.reader.state.Last
	for _, records := range [][]Record{l.other, l.fresh} {
		for _, r := range records {
			l.reader.ledger.remember(r)
		}
	}
}

// intake is the part of one source that an epoch reads.
type intake struct {
	reader  *reader
	replay  bool        // files that are read already
	records []Record    // files to read, by ordinal
	held    []kept.Part // rows that are held and read in place of files
	from    int64       // position before
	to      int64       // position after
	more    bool        // the limits left files for later
}

// span is a stretch of a ledger: ordinals after From up to To.
type span struct {
	reader   *reader
	from, to int64
	replay   bool // files that are read already, again
	all      bool // whatever the limits
}

// choose takes files in order while count and bytes are below the source's limits.
func (j *Job) choose(ctx context.Context, s span) (intake, error) {
	view := j.Store.View()
	defer view.Close()
	in := intake{reader: s.reader, replay: s.replay, from: s.from, to: s.from}
	var left room
	if !s.all {
		in, limits := s.reader.From.Scan()
		left = newRoom(in, limits, j.Engine.Memory())
	}
	for ordinal := s.from + 1; ordinal <= s.to; ordinal++ {
		if s.replay {
			part, held, err := s.reader.heldFrom(view, ordinal-1, s.to)
			switch {
			case err != nil:
				return in, fmt.Errorf("choosing rows of %s: %w", s.reader.Addr, err)
			case held && left.full():
				in.more = true
				return in, nil
			case held:
				in.held, in.to, ordinal = append(in.held, part), part.To, part.To
				left.hold(part)
				continue
			}
		}
		record, ok, err := ReadRecord(view, s.reader.ID, ordinal)
		if err != nil {
			return in, fmt.Errorf("choosing files of %s: %w", s.reader.Addr, err)
		}
		take := ok && record.Status == connector.Pending
		if s.replay {
			if take, err = j.readable(ctx, s.reader, record); err != nil {
				return in, err
			}
		}
		if take {
			if left.full() || len(in.held) > 0 { // within an epoch, what is held comes after what is read of files
				in.more = true
				return in, nil
			}
			in.records = append(in.records, record)
			left.take(record)
		}
		in.to = ordinal
	}
	return in, nil
}

// readable reports whether a replay reads a file; what cannot be read as it was is a failure. A file that
// was malformed as a whole had no rows: it is read for its side relation, unless it has changed.
func (j *Job) readable(ctx context.Context, from *reader, r Record) (bool, error) {
	switch {
	case r.Status == connector.Read:
		return true, nil
	case r.Status == connector.Malformed:
		return from.From.Verify(ctx, r.Entry) == nil, nil
	case r.Status == connector.Overwritten && r.Rows >= 0:
		return false, j.unrepeatable(r, "was overwritten after it was read")
	}
	return false, nil
}

func (j *Job) unrepeatable(r Record, what string) *Failure {
	return &Failure{Pipeline: j.Name, Relation: r.Path, Summary: "A file cannot be read again",
		Detail: fmt.Sprintf("The file was read in epoch %d with %d rows and %s, so what is being built cannot be computed from the rows the others have. "+
			"Put the former file back, or apply with -replace on its source: everything that reads it is then computed anew from the files as they are.", r.Epoch, r.Rows, what)}
}

// moved tells that files of an epoch were not what the ledger says.
type moved struct {
	path     string
	vanished bool
}

func (m *moved) Error() string {
	if m.vanished {
		return m.path + " is gone"
	}
	return m.path + " changed while it was being read"
}

// verify looks at every file of an epoch after it was read. Vanished files are committed as
// such, changed ones are listed again; the epoch must then be done again. A replay cannot be.
func (j *Job) verify(ctx context.Context, intakes []intake) error {
	var first error
	for _, in := range intakes {
		var gone []Record
		changed := false
		for _, r := range in.records {
			err := in.reader.From.Verify(ctx, r.Entry)
			vanished := errors.Is(err, connector.ErrVanished)
			switch {
			case err == nil:
				continue
			case !vanished && !errors.Is(err, connector.ErrChanged):
				return j.failure(in.reader.Addr.String(), fmt.Errorf("verifying %s: %w", r.Path, err))
			case in.replay && vanished:
				return j.unrepeatable(r, "is gone")
			case in.replay:
				return j.unrepeatable(r, "has changed since")
			case vanished:
				r.Status, r.Rows = connector.Vanished, 0
				gone = append(gone, r)
			default:
				changed = true
			}
			if first == nil {
				first = &moved{path: r.Path, vanished: vanished}
			}
		}
		if err := j.relist(ctx, in.reader, gone, changed); err != nil {
			return err
		}
	}
	return first
}

func (j *Job) relist(ctx context.Context, r *reader, gone []Record, changed bool) error {
	if len(gone) > 0 {
		l := listing{reader: r}
		for _, record := range gone {
			was := record
			was.Status = connector.Pending
			l.add(&l.other, record, &was)
		}
		if err := j.enter([]listing{l}, nil); err != nil {
			return err
		}
	}
	if !changed {
		return nil
	}
	l, err := j.look(ctx, r)
	if err != nil {
		return j.failure(r.Addr.String(), err)
	}
	return j.enter([]listing{l}, nil)
}
