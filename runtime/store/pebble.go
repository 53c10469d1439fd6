package store

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

// pebbleOptions are measured choices: filters, blocks small enough that fetching one
// key does not read and unpack much more than that, and a
// fixed on-disk format so that an upgrade of Pebble does not lock out older binaries.
// A memtable takes more than the changes that wait for a fold, so that most of them are removed before they would be flushed. Folds
// gather before they are compacted, and then straight with the lowest level: keys come in random order, so each compaction
// rewrites most of a table.
func pebbleOptions(o *Options, lock *pebble.Lock) *pebble.Options {
	p := &pebble.Options{
		FS:                          o.FS,
		Lock:                        lock,
		FormatMajorVersion:          pebble.FormatWALSyncChunks,
		CacheSize:                   o.MemoryBudget / 4,
		MemTableSize:                uint64(min(256<<20, max(256<<10, o.MemoryBudget/10))),
		MemTableStopWritesThreshold: 3,
		L0CompactionThreshold:       8,
		L0StopWritesThreshold:       24,
		LBaseMaxBytes:               512 << 20,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
		Logger:                      quiet{},
		ReadOnly:                    o.ReadOnly,
	}
	p.Levels[0].BlockSize = 8 << 10
	p.Levels[0].IndexBlockSize = 256 << 10
	p.Levels[0].FilterPolicy = bloom.FilterPolicy(10)
	p.EnsureDefaults()
	return p
}

// quiet drops Pebble's chatter. Pebble calls Fatalf when it cannot go on and must
// not return from it; a panic unwinds to caught where one of our calls caused it, and
// ends the process when it was Pebble's own work. Both are safe: what was
// acknowledged is on disk.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	stop := stopped{message: "the data directory cannot be written any more: " + fmt.Sprintf(format, args...)}
	for _, a := range args {
		if err, ok := a.(error); ok {
			stop.cause = err
		}
	}
	panic(stop)
}

// stopped is an error after which Pebble must not be used any more.
type stopped struct {
	message string
	cause   error
}

func (s stopped) Error() string { return s.message }
func (s stopped) Unwrap() error { return s.cause }

// caught turns a panic with an error into a stopped error; for the calls into Pebble
// that report failed writes in this way.
func caught(err *error) {
	switch r := recover().(type) {
	case nil:
	case stopped:
		*err = r
	case error:
		*err = stopped{r.Error(), r}
	default:
		panic(r)
	}
}

// apply commits a Pebble batch with one sync.
func (s *Store) apply(b *pebble.Batch) (err error) {
	defer caught(&err)
	return s.db.Apply(b, pebble.Sync)
}
