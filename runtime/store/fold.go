package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// foldJob is the oldest waiting changes, taken together.
type foldJob struct {
	upto   uint64 // the last commit in it
	keys   int64
	bytes  int64
	tables map[uint64]*foldTable
}

// foldTable is what a job knows of one table.
type foldTable struct {
	dropped bool     // what was folded before is not the table's any more
	parts   [][]byte // records of each commit, oldest first, in the order of their hashes
	last    changes  // header of the last changes
}

func (s *Store) foldInBackground() {
	defer s.folder.Done()
	for {
		select {
		case <-s.done:
			return
		case <-s.waiting.wakeup:
		}
		for s.due() {
			err := s.failure()
			if err == nil {
				err = s.fold()
			}
			s.waiting.done(0, 0, err)
			if err != nil || s.closing() {
				break // the next commit wakes this again
			}
		}
	}
}

func (s *Store) closing() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// due says whether it pays to fold now, by the amount or because memory is short.
func (s *Store) due() bool {
	s.waiting.mu.Lock()
	defer s.waiting.mu.Unlock()
	return s.waiting.due(&s.options, 1) || s.waiting.half(&s.options) && s.used.Load() > s.options.keyedBudget()/8*7
}

// fold brings waiting changes into sorted tables: write, ingest, then one commit that
// moves the mark and removes the changes. Interrupted anywhere it is done again from
// the start, which is harmless because changes hold absolute values.
func (s *Store) fold() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("folding keyed data: %w", err)
		}
	}()
	job, err := s.gather()
	if err != nil || job.upto == 0 {
		return err
	}
	if err := s.foldFiles(job); err != nil {
		return errors.Join(err, s.clearFolds())
	}
	if err := s.finish(job); err != nil {
		return err
	}
	s.shrunk.Store(0)
	s.shrink()
	return nil
}

func (s *Store) foldFiles(job *foldJob) error {
	if err := s.clearDropped(job); err != nil {
		return err
	}
	paths, err := s.writeFolds(job)
	if err != nil {
		return err
	}
	return s.ingest(paths)
}

func (s *Store) ingest(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	err := func() (err error) {
		defer caught(&err)
		return s.db.Ingest(context.Background(), paths)
	}()
	if errors.As(err, new(stopped)) {
		return s.fail(err)
	}
	return err
}

// gather reads the oldest waiting changes, at least one commit and as many as are worth one fold.
func (s *Store) gather() (*foldJob, error) {
	s.mu.Lock()
	last := s.commit // not one that is being written: it may yet fail
	s.mu.Unlock()
	job := &foldJob{tables: map[uint64]*foldTable{}}
	full := errors.New("enough")
	err := s.scan([]byte{prefixChanges}, pairKey(prefixChanges, last+1, 0), func(k, v []byte) error {
		commit := binary.BigEndian.Uint64(k[1:])
		if commit != job.upto && (job.bytes >= 2*s.options.foldBytes || job.keys >= 2*s.options.foldKeys) {
			return full
		}
		return job.add(s, pair{commit, binary.BigEndian.Uint64(k[9:])}, v)
	})
	if err != nil && !errors.Is(err, full) {
		return nil, err
	}
	return job, nil
}

// pair is what changes are found by.
type pair struct{ commit, table uint64 }

func (j *foldJob) add(s *Store, at pair, v []byte) error {
	c, err := decodeChanges(v)
	if err != nil {
		return err
	}
	t := j.tables[at.table]
	if t == nil {
		t = &foldTable{}
		j.tables[at.table] = t
	}
	if c.dropped {
		*t = foldTable{dropped: true}
	}
	if c.n > 0 {
		t.parts = append(t.parts, s.inOrder(c))
	}
	j.upto, j.keys, j.bytes = at.commit, j.keys+int64(c.n), j.bytes+int64(len(v))
	c.records = nil
	t.last = c
	return nil
}

func (j *foldJob) ids() []uint64 {
	ids := make([]uint64, 0, len(j.tables))
	for id := range j.tables {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// clearDropped removes the folded keys of tables that were dropped. It comes before
// the other ingestion because it would remove what that brings, too. A file, and not a
// write, because ingestion over keys in the memtable would have to flush it.
func (s *Store) clearDropped(job *foldJob) error {
	w := foldWriter{s: s, name: fmt.Sprintf("%d-dropped", job.upto)}
	for _, id := range job.ids() {
		if job.tables[id].dropped {
			if err := w.clear(id); err != nil {
				return err
			}
		}
	}
	if err := w.close(); err != nil {
		return err
	}
	return s.ingest(w.paths)
}

// applyOrFail writes, and stops the store when that fails, as a commit does.
func (s *Store) applyOrFail(b *pebble.Batch) error {
	if err := s.failure(); err != nil {
		return err
	}
	if err := s.apply(b); err != nil {
		return s.fail(err)
	}
	return b.Close()
}

// writeFolds writes the job's newest values as files to be ingested, sorted.
func (s *Store) writeFolds(job *foldJob) ([]string, error) {
	w := foldWriter{s: s, name: fmt.Sprint(job.upto)}
	for _, id := range job.ids() {
		if err := w.table(id, job.tables[id]); err != nil {
			return nil, err
		}
	}
	return w.paths, w.close()
}

// finish moves the mark and removes the folded changes, in one commit, and lets memory know.
func (s *Store) finish(job *foldJob) error {
	s.committing.Lock()
	defer s.committing.Unlock()
	b := s.db.NewBatch()
	for _, id := range job.ids() {
		last := job.tables[id].last
		if last.keys == 0 {
			_ = b.Delete(statsKey(id), nil) // writing into a batch cannot fail
			continue
		}
		stats := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(last.keys)), uint64(last.bytes))
		_ = b.Set(statsKey(id), stats, nil)
	}
	_ = b.Set([]byte(keyFoldedTo), binary.BigEndian.AppendUint64(nil, job.upto), nil)
	_ = b.DeleteRange([]byte{prefixChanges}, pairKey(prefixChanges, job.upto+1, 0), nil)
	if err := s.applyOrFail(b); err != nil {
		return err
	}
	s.folded.Store(job.upto)
	s.waiting.done(job.keys, job.bytes, nil)
	for _, id := range job.ids() {
		s.forgetEmpty(id, job.upto)
	}
	return nil
}

// forgetEmpty drops the memory of a table that has no keys, changed or not, any more.
func (s *Store) forgetEmpty(id, upto uint64) {
	t := s.table(id)
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.keys == 0 && t.changed <= upto && len(t.pinned) == 0 {
		s.tablesMu.Lock()
		delete(s.tables, id)
		s.tablesMu.Unlock()
		t.release()
	}
}
