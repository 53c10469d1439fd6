package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/streamform/streamform/runtime/byhash"
	"github.com/streamform/streamform/runtime/store/record"
)

// Open opens the store in a directory, or makes one. Errors: ErrInUse, ErrNewer.
func Open(o Options) (*Store, error) {
	o = o.complete()
	if err := o.FS.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making data directory: %w", err)
	}
	lock, err := pebble.LockDirectory(o.Dir, o.FS)
	if err != nil {
		if inUse(err) {
			return nil, fmt.Errorf("opening %s: %w", o.Dir, ErrInUse)
		}
		return nil, fmt.Errorf("locking data directory: %w", err)
	}
	if o.Locked != nil {
		o.Locked()
	}
	if there, err := pebble.Peek(o.Dir, o.FS); err != nil || !there.Exists {
		o.ReadOnly = false
	}
	s := &Store{options: o, lock: lock, tables: map[uint64]*keyed{}, done: make(chan struct{})}
	s.waiting.init()
	if err := s.open(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if !o.manual && !o.ReadOnly {
		s.folder.Add(1)
		go s.foldInBackground()
		s.waiting.wake()
	}
	return s, nil
}

// inUse tells a lock that someone holds from one that cannot be taken at all.
func inUse(err error) bool {
	var errno syscall.Errno
	if direct, ok := err.(syscall.Errno); ok { // not one wrapped in a *PathError: that is from making the file
		errno = direct
	}
	const windowsSharingViolation = 32
	return errno == syscall.EAGAIN || errno == syscall.EACCES || errno == windowsSharingViolation ||
		strings.Contains(err.Error(), "held by current process")
}

func (s *Store) open() (err error) {
	defer caught(&err)
	if s.db, err = pebble.Open(s.options.Dir, pebbleOptions(&s.options, s.lock)); err != nil {
		return fmt.Errorf("opening data directory: %w", err)
	}
	if err = s.begin(); err == nil {
		err = s.restore()
	}
	if err == nil && !s.options.ReadOnly {
		err = s.clearFolds()
	}
	if err != nil {
		return errors.Join(err, s.db.Close())
	}
	return nil
}

// begin reads the format and the identity, or writes them into a new store.
func (s *Store) begin() error {
	format, err := s.value(keyFormat)
	if err != nil {
		return err
	}
	if format == nil {
		return s.create()
	}
	if len(format) != 1 || format[0] > formatVersion {
		return fmt.Errorf("data directory %s has format %d, this version reads up to %d: %w", s.options.Dir, format, formatVersion, ErrNewer)
	}
	id, err := s.value(keyID)
	s.id = string(id)
	return err
}

func (s *Store) create() error {
	s.id = uuid.NewString()
	b := s.db.NewBatch()
	_ = b.Set([]byte(keyFormat), []byte{formatVersion}, nil) // writing into a batch cannot fail
	_ = b.Set([]byte(keyID), []byte(s.id), nil)
	if err := s.apply(b); err != nil {
		return fmt.Errorf("making data directory: %w", err)
	}
	return nil
}

// value reads one key of the store's own; nil when it is not there.
func (s *Store) value(key string) ([]byte, error) {
	v, closer, err := s.db.Get([]byte(key))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading data directory: %w", err)
	}
	return append([]byte{}, v...), closer.Close()
}

func (s *Store) number(key string) (uint64, error) {
	v, err := s.value(key)
	if v == nil || err != nil {
		return 0, err
	}
	if len(v) != 8 {
		return 0, fmt.Errorf("reading data directory: %s is damaged", key)
	}
	return binary.BigEndian.Uint64(v), nil
}

// restore brings memory to the last commit: the tables' sizes as they were folded,
// then all changes since. Folded keys are read when they are first asked for.
func (s *Store) restore() (err error) {
	if s.commit, err = s.number(keyCommit); err != nil {
		return err
	}
	folded, err := s.number(keyFoldedTo)
	if err != nil {
		return err
	}
	s.folded.Store(folded)
	low := []byte(keyTables)
	err = s.scan(low, after(low), func(k, v []byte) error {
		keys, n := binary.Uvarint(v)
		size, m := binary.Uvarint(v[max(n, 0):])
		if len(k) != len(keyTables)+8 || n <= 0 || m <= 0 {
			return errors.New("reading data directory: the size of a table is damaged")
		}
		id := binary.BigEndian.Uint64(k[len(keyTables):])
		s.tables[id] = s.newKeyed(id, int64(keys), int64(size), false)
		return nil
	})
	if err != nil {
		return err
	}
	return s.scan([]byte{prefixChanges}, []byte{prefixChanges + 1}, s.replay)
}

func (s *Store) replay(k, v []byte) error {
	c, err := decodeChanges(v)
	if err != nil {
		return err
	}
	commit, id := binary.BigEndian.Uint64(k[1:]), binary.BigEndian.Uint64(k[9:])
	t := s.tables[id]
	if t == nil || c.dropped {
		t = s.newKeyed(id, 0, 0, true)
		s.tables[id] = t
	}
	if c.dropped {
		t.emptied = commit
	}
	var items []byhash.Item
	for at := 0; at < len(c.records); {
		key, _, n := record.Cut(c.records[at:])
		items = append(items, byhash.Item{Hash: s.options.hash(key), At: at})
		at += n
	}
	byhash.Sort(items)
	for rest := items; len(rest) > 0; {
		p, n := t.widen(rest, len(items), growth{len(items), len(c.records)})
		for _, h := range rest[:n] {
			key, value, _ := record.Cut(c.records[h.At:])
			t.set(p, h.Hash, key, value, uint32(commit))
		}
		t.touch(p)
		rest = rest[n:]
	}
	t.keys, t.bytes, t.changed = c.keys, c.bytes, commit
	s.waiting.add(int64(c.n), int64(len(v)))
	return nil
}

func (s *Store) scan(low, high []byte, fn func(k, v []byte) error) error {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: low, UpperBound: high})
	if err != nil {
		return fmt.Errorf("reading data directory: %w", err)
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var v []byte
		if v, err = it.ValueAndErr(); err == nil {
			err = fn(it.Key(), v)
		}
	}
	return errors.Join(err, it.Close())
}
