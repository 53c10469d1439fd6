package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/store"
)

// Facts is what a plan needs to know about the runtime.
type Facts struct {
	RuntimeID string // identity of the store
	Resources map[addr.Resource]Fact
	Sources   map[addr.Resource]SourceFact // of the sources that are applied
}

// Fact is one resource the runtime has.
type Fact struct {
	Generation int64  // the one that serves; 0 while the first is being built
	Building   int64  // the one being built; 0: none
	Digest     string // SHA-256 of the value last put, hexadecimal
}

// SourceFact is how much a source has been read and how much there is to read.
type SourceFact struct {
	Files        int64 // read
	Bytes        int64 // as stored
	Rows         int64 // admitted
	BacklogFiles int64 // not read yet, found by listing now
	BacklogBytes int64
}

// Facts looks at the store and lists the sources. It changes nothing. A source that cannot be listed is
// in the error, which joins all of them; the rest is answered all the same.
func (h *Host) Facts(ctx context.Context) (Facts, error) {
	view := h.store.View()
	defer view.Close()
	f := Facts{RuntimeID: h.store.ID(), Resources: map[addr.Resource]Fact{}, Sources: map[addr.Resource]SourceFact{}}
	c, err := readCatalog(h.store, view)
	if err != nil {
		return f, err
	}
	var unlisted []error
	for _, r := range c.sorted() {
		sum := sha256.Sum256(r.newest().Value)
		fact := Fact{Digest: hex.EncodeToString(sum[:])}
		if r.Live != nil {
			fact.Generation = r.Live.Number
		}
		if r.Building != nil {
			fact.Building = r.Building.Number
		}
		f.Resources[r.Addr] = fact
		if r.Addr.Block != addr.Source {
			continue
		}
		source, err := h.backlog(ctx, view, r.Addr, r.newest())
		unlisted = append(unlisted, err)
		f.Sources[r.Addr] = source
	}
	return f, errors.Join(unlisted...)
}

// backlog is how far a generation of a source has been read, and what there is beyond.
func (h *Host) backlog(ctx context.Context, v *store.View, a addr.Resource, g *generation) (SourceFact, error) {
	state, err := job.ReadSourceState(v, g.ID)
	if err != nil {
		return SourceFact{}, fmt.Errorf("reading the position of %s: %w", a, err)
	}
	f := SourceFact{Files: state.Files, Bytes: state.Bytes, Rows: state.RowsOut, BacklogFiles: state.PendingFiles, BacklogBytes: state.PendingBytes}
	s, err := h.openSource(ctx, a, g)
	if err != nil {
		return f, err
	}
	defer func() { _ = s.Close() }()
	entries, err := s.Discover(ctx, job.LedgerAt(h.store, v, g.ID, state.Last))
	if err != nil {
		return f, fmt.Errorf("listing %s: %w", a, err)
	}
	for _, e := range entries {
		if e.Ordinal > state.Last && e.Status == connector.Pending {
			f.BacklogFiles++
			f.BacklogBytes += e.SizeBytes
		}
	}
	return f, nil
}

// Sample is what a look at a source found.
type Sample struct {
	Scan  batch.Scan // how its files are decoded, Columns filled in
	Files int64      // all that would be read
	Bytes int64      // as stored
}

// Infer lists a source that need not be applied and finds its columns: those it declares, or else from a sample of
// its files. Mistakes of the user are *query.Error without a place, or *connector.UserError.
func (h *Host) Infer(ctx context.Context, a addr.Resource, value json.RawMessage) (s Sample, err error) {
	from, err := h.openSource(ctx, a, &generation{Value: value})
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	entries, err := from.Discover(ctx, unread{})
	if err != nil {
		return s, fmt.Errorf("listing %s: %w", a, err)
	}
	var files []batch.File
	for _, e := range entries {
		if e.Status == connector.Pending {
			files = append(files, job.Record{Entry: e}.File())
			s.Files++
			s.Bytes += e.SizeBytes
		}
	}
	s.Scan, _ = from.Scan()
	if s.Scan.Columns == nil {
		engine, err := h.openEngine(ctx, append(located(from), filepath.Join(h.opts.DataDir, spoolFolder)))
		if err != nil {
			return s, err
		}
		s.Scan.Columns, err = engine.Infer(ctx, s.Scan, files)
		if err = errors.Join(err, engine.Close()); err != nil {
			return s, fmt.Errorf("inferring the columns of %s: %w", a, err)
		}
		return s, nil
	}
	types := make([]string, len(s.Scan.Columns))
	for i, c := range s.Scan.Columns {
		types[i] = c.Type
	}
	if types, err = h.compiler.Types(ctx, types); err != nil {
		return s, fmt.Errorf("checking the columns of %s: %w", a, err)
	}
	declared := s.Scan.Columns
	s.Scan.Columns = make(batch.Schema, len(declared))
	for i, c := range declared {
		s.Scan.Columns[i] = batch.Column{Name: c.Name, Type: types[i]}
	}
	return s, nil
}

// unread is the ledger of a source that has met nothing.
type unread struct{}

func (unread) Lookup(string) (connector.Entry, bool, error) { return connector.Entry{}, false, nil }
func (unread) LastOrdinal() int64                           { return 0 }
