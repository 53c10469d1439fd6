package asking

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/host/opening"
	"github.com/streamform/streamform/runtime/query"
)

// Portion is a part of what a source holds.
type Portion struct {
	Files    []batch.File // the newest ones, in the order they are read
	Bytes    int64        // of them, as stored
	AllFiles int64        // how many there are
	AllBytes int64
}

// Portion lists a source that need not be applied, and takes its newest files up to an amount of bytes, but one at least.
func (k *Asker) Portion(ctx context.Context, a addr.Resource, value json.RawMessage, most int64) (p Portion, err error) {
	from, err := k.open.Source(ctx, a, &catalog.Generation{Value: value})
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	all, bytes, err := readable(ctx, a, from)
	if err != nil {
		return p, err
	}
	p.AllFiles, p.AllBytes = int64(len(all)), bytes
	first := len(all)
	for first > 0 && (first == len(all) || p.Bytes+all[first-1].Size <= most) {
		first--
		p.Bytes += all[first].Size
	}
	p.Files = all[first:]
	return p, nil
}

// Newest finds the columns in the newest files of a source, up to an amount of bytes; nil where none can be found there.
func (k *Asker) Newest(ctx context.Context, a addr.Resource, value json.RawMessage, most int64) (columns batch.Schema, err error) {
	p, err := k.Portion(ctx, a, value, most)
	if err != nil || len(p.Files) == 0 {
		return nil, err
	}
	from, err := k.open.Source(ctx, a, &catalog.Generation{Value: value})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	engine, err := k.open.Engines.Borrow(ctx, append(opening.Dirs(from), k.open.SpoolRoot()))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, engine.Return()) }()
	decoding, _ := from.Scan()
	columns, err = engine.Infer(ctx, decoding, p.Files)
	var unfit *query.Error
	if !errors.As(err, &unfit) {
		return columns, err
	}
	// A file without fit columns does not hide those of others; the epoch that reads it says what is wrong.
	for _, f := range slices.Backward(p.Files) {
		found, err := engine.Infer(ctx, decoding, []batch.File{f})
		if err != nil && !errors.As(err, &unfit) {
			return nil, err
		}
		columns = merged(columns, found)
	}
	return columns, nil
}

// merged adds columns to others. One that has several types is to be text.
func merged(columns, more batch.Schema) batch.Schema {
	for _, c := range more {
		at := slices.IndexFunc(columns, func(had batch.Column) bool { return strings.EqualFold(had.Name, c.Name) })
		switch {
		case at < 0:
			columns = append(columns, c)
		case columns[at].Type != c.Type:
			columns[at].Type = "VARCHAR"
		}
	}
	return columns
}

// Rehearsal is a set of definitions to be run over files, beside everything that is applied.
type Rehearsal struct {
	SQL     string // one SELECT over the relations below
	Sources []catalog.Resource
	Files   map[addr.Resource][]batch.File // of each source
	Queries []Rehearsed                    // inputs before their readers
}

// Rehearsed is one stream or view.
type Rehearsed struct {
	Relation string
	Query    query.Query
}

// Rehearse computes the relations over the files and answers the SELECT. Nothing is kept. Close the rows before the host.
// Mistakes in SQL are *query.Error.
func (k *Asker) Rehearse(ctx context.Context, r Rehearsal) (*Rows, error) {
	reading := query.Reading{SQL: r.SQL}
	dirs := []string{k.open.SpoolRoot()}
	for _, s := range r.Sources {
		rows, folders, err := k.rehearsedSource(ctx, s, r.Files[s.Addr])
		if err != nil {
			return nil, err
		}
		reading.Sources = append(reading.Sources, rows)
		dirs = append(dirs, folders...)
	}
	for _, q := range r.Queries {
		program, err := k.open.Compiler().Compile(ctx, q.Query)
		if err != nil {
			return nil, err
		}
		reading.Streams = append(reading.Streams, query.Held{Relation: q.Relation, Program: program})
	}
	engine, err := k.open.Engines.Borrow(ctx, dirs)
	if err != nil {
		return nil, err
	}
	rows, err := engine.Select(ctx, reading)
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return &Rows{Rows: rows, release: engine.Return}, nil
}

func (k *Asker) rehearsedSource(ctx context.Context, s catalog.Resource, files []batch.File) (rows query.FileRows, dirs []string, err error) {
	g := &catalog.Generation{Value: s.Value, Relation: s.Relation}
	opened, err := k.open.Source(ctx, s.Addr, g)
	if err != nil {
		return rows, nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return query.FileRows{Relation: s.Addr.Relation(), Scan: opening.Scan(g, opened), Files: files}, opening.Dirs(opened), nil
}
