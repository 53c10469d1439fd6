package job

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/store"
)

// Record is a ledger entry as the store keeps it.
type Record struct {
	connector.Entry
	Malformed int64 `json:"malformed,omitempty"` // records of its epoch that were set aside, whole or in part, if the file may hold some
}

// File is the entry as the engine scans it.
func (r Record) File() batch.File {
	return batch.File{Ordinal: r.Ordinal, Path: r.Path, Version: r.Version, Size: r.SizeBytes, Careful: r.Malformed > 0}
}

// maxCached bounds the entries a ledger keeps in memory, so that listing a folder does not read the store
// for each file; one costs about 300 bytes.
const maxCached = 200_000

// ledger is a source's ledger: written by one job, read back by path and by ordinal.
type ledger struct {
	store *store.Store
	id    string
	last  int64
	known map[string]Record // newest entry by path, as committed
	whole bool              // known holds every path
}

func newLedger(s *store.Store, id string, last int64) *ledger {
	return &ledger{store: s, id: id, last: last, known: map[string]Record{}}
}

// reading is a ledger at one moment; it is what a source compares its listing with.
type reading struct {
	*ledger
	view *store.View
}

func (r reading) LastOrdinal() int64 { return r.last }

func (r reading) Lookup(path string) (connector.Entry, bool, error) {
	record, ok, err := r.newest(r.view, path)
	return record.Entry, ok, err
}

func (l *ledger) newest(v *store.View, path string) (Record, bool, error) {
	if record, ok := l.known[path]; ok {
		return record, true, nil
	}
	if err := l.prime(v); err != nil || l.whole {
		record, ok := l.known[path]
		return record, ok, err
	}
	data, ok, err := v.Meta(l.pathKey(path))
	if err != nil || !ok {
		return Record{}, false, err
	}
	ordinal, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		return Record{}, false, fmt.Errorf("reading the ledger entry of %s: %w", path, err)
	}
	record, ok, err := ReadRecord(v, l.id, ordinal)
	if err != nil || !ok || record.Path != path {
		return Record{}, false, err
	}
	l.remember(record)
	return record, true, nil
}

// prime reads the whole ledger at once where it fits into memory: a listing asks for every path.
func (l *ledger) prime(v *store.View) error {
	if l.whole || l.last > maxCached {
		return nil
	}
	l.whole = true // unless there are more paths than remember takes
	return Records(v, l.id, func(r Record) error {
		l.remember(r)
		return nil
	})
}

func (l *ledger) remember(r Record) {
	if old, ok := l.known[r.Path]; ok && old.Ordinal > r.Ordinal {
		return
	}
	if _, ok := l.known[r.Path]; ok || len(l.known) < maxCached {
		l.known[r.Path] = r
	} else {
		l.whole = false
	}
}

// write puts an entry into a batch. The path points to its newest entry.
func (l *ledger) write(b *store.Batch, r Record, newest bool) error {
	if newest {
		b.SetMeta(l.pathKey(r.Path), []byte(strconv.FormatInt(r.Ordinal, 10)))
	}
	return writeJSON(b, l.ordinalKey(r.Ordinal), r)
}

func (l *ledger) ordinalKey(ordinal int64) string { return "led/" + l.id + "/o/" + number(ordinal) }

func (l *ledger) pathKey(path string) string {
	sum := sha256.Sum256([]byte(path))
	return "led/" + l.id + "/p/" + hex.EncodeToString(sum[:16])
}

// ReadRecord returns the entry with an ordinal.
func ReadRecord(v *store.View, source string, ordinal int64) (r Record, ok bool, err error) {
	ok, err = readJSON(v, "led/"+source+"/o/"+number(ordinal), &r)
	return r, ok, err
}

// Records visits a ledger in the order of ordinals.
func Records(v *store.View, source string, fn func(Record) error) error {
	return v.MetaPrefix("led/"+source+"/o/", func(key string, value []byte) error {
		var r Record
		if err := decode(key, value, &r); err != nil {
			return err
		}
		return fn(r)
	})
}

// LedgerAt is the ledger of a source as of a view, for looking at it without a job.
func LedgerAt(s *store.Store, v *store.View, source string, last int64) connector.Ledger {
	return reading{ledger: newLedger(s, source, last), view: v}
}
