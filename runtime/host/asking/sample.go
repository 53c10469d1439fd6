package asking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/host/opening"
	"github.com/streamform/streamform/runtime/job"
)

// Sample is what a look at a source found.
type Sample struct {
	Scan  batch.Scan // how its files are decoded, Columns filled in
	Files int64      // all that would be read
	Bytes int64      // as stored
}

// Infer lists a source that need not be applied and finds its columns: those it declares, or else from a sample of
// its files. Mistakes of the user are *query.Error without a place, or *connector.UserError.
func (k *Asker) Infer(ctx context.Context, a addr.Resource, value json.RawMessage) (s Sample, err error) {
	from, err := k.open.Source(ctx, a, &catalog.Generation{Value: value})
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	files, bytes, err := readable(ctx, a, from)
	if err != nil {
		return s, err
	}
	s.Files, s.Bytes = int64(len(files)), bytes
	s.Scan, _ = from.Scan()
	if s.Scan.Columns == nil {
		engine, err := k.open.Engines.Borrow(ctx, append(opening.Dirs(from), k.open.SpoolRoot()))
		if err != nil {
			return s, err
		}
		s.Scan.Columns, err = engine.Infer(ctx, s.Scan, files)
		if err = errors.Join(err, engine.Return()); err != nil {
			return s, fmt.Errorf("inferring the columns of %s: %w", a, err)
		}
		return s, nil
	}
	types := make([]string, len(s.Scan.Columns))
	for i, c := range s.Scan.Columns {
		types[i] = c.Type
	}
	if types, err = k.open.Compiler().Types(ctx, types); err != nil {
		return s, fmt.Errorf("checking the columns of %s: %w", a, err)
	}
	declared := s.Scan.Columns
	s.Scan.Columns = make(batch.Schema, len(declared))
	for i, c := range declared {
		s.Scan.Columns[i] = batch.Column{Name: c.Name, Type: types[i]}
	}
	return s, nil
}

// readable lists all files that a source which has read nothing would read, and their bytes as stored.
func readable(ctx context.Context, a addr.Resource, from connector.Source) (files []batch.File, bytes int64, err error) {
	entries, err := from.Discover(ctx, unread{})
	if err != nil {
		return nil, 0, fmt.Errorf("listing %s: %w", a, err)
	}
	for _, e := range entries {
		if e.Status == connector.Pending {
			files = append(files, job.Record{Entry: e}.File())
			bytes += e.SizeBytes
		}
	}
	return files, bytes, nil
}

// unread is the ledger of a source that has met nothing.
type unread struct{}

func (unread) Lookup(string) (connector.Entry, bool, error) { return connector.Entry{}, false, nil }
func (unread) LastOrdinal() int64                           { return 0 }
