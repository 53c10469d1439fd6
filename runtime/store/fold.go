package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/streamform/streamform/runtime/byhash"
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
	dropped bool   // what was folded before is not the table's any more
	records []byte // in the order of commits
	n       int
	last    changes // header of the last changes
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
		return job.add(commit, binary.BigEndian.Uint64(k[9:]), v)
	})
	if err != nil && !errors.Is(err, full) {
		return nil, err
	}
	return job, nil
}

func (j *foldJob) add(commit, table uint64, v []byte) error {
	c, err := decodeChanges(v)
	if err != nil {
		return err
	}
	t := j.tables[table]
	if t == nil {
		t = &foldTable{}
		j.tables[table] = t
	}
	if c.dropped {
		*t = foldTable{dropped: true}
	}
	t.records = append(t.records, c.records...)
	t.n += c.n
	j.upto, j.keys, j.bytes = commit, j.keys+int64(c.n), j.bytes+int64(len(v))
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

// table writes the newest value of every key of one table.
func (w *foldWriter) table(id uint64, t *foldTable) error {
	items := make([]byhash.Item, 0, t.n)
	for at := 0; at < len(t.records); {
		key, _, n := cutRecord(t.records[at:])
		items = append(items, byhash.Item{Hash: w.s.options.hash(key), At: at})
		at += n
	}
	byhash.Sort(items, make([]byhash.Item, len(items)))
	for len(items) > 0 {
		n := 1
		for n < len(items) && items[n].Hash == items[0].Hash {
			n++
		}
		for _, h := range newest(t.records, items[:n]) {
			key, value := splitRecord(t.records[h.At:])
			if err := w.add(id, h.Hash, key, value); err != nil {
				return err
			}
		}
		items = items[n:]
	}
	return nil
}

// newest reduces changes of equal hash, oldest first, to the last one of every key, in the order of keys.
func newest(records []byte, same []byhash.Item) []byhash.Item {
	if len(same) == 1 {
		return same
	}
	key := func(h byhash.Item) []byte {
		k, _ := splitRecord(records[h.At:])
		return k
	}
	slices.SortStableFunc(same, func(a, b byhash.Item) int { return bytes.Compare(key(a), key(b)) })
	kept := same[:0]
	for i, h := range same {
		if i+1 == len(same) || !bytes.Equal(key(h), key(same[i+1])) {
			kept = append(kept, h)
		}
	}
	return kept
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
