package input

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/streamform/streamform/acceptance/bench/plain"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector/nexmark"
)

// Nexmark names a data set of events: the first so many of them, in files that each hold a table's share of Chunk events.
type Nexmark struct {
	Cache  string
	Events int64
	Chunk  int64
	Lines  bool // the files are lines of JSON; else Parquet
}

// rate is how many events share a second of event time, as in the data set L of the published runs.
const rate = 10_000

func (n Nexmark) root() string {
	name := fmt.Sprintf("nexmark-%d-%d", n.Events, n.Chunk)
	if n.Lines {
		name += "-lines"
	}
	return filepath.Join(n.Cache, name)
}

// Dir is the folder of a table: person, auction, bid, or side_input with the rows (i, i) for i from 0 to 9999.
func (n Nexmark) Dir(table string) string { return filepath.Join(n.root(), table) }

// Tables are all tables there are.
func (n Nexmark) Tables() []string { return append(nexmark.Tables(), "side_input") }

// Columns of a table, which files of JSON do not tell.
func (n Nexmark) Columns(table string) batch.Schema {
	if table == "side_input" {
		return batch.Schema{{Name: "key", Type: "BIGINT"}, {Name: "value", Type: "VARCHAR"}}
	}
	return nexmark.Columns(table)
}

// part is the path of a table's numbered file.
func (n Nexmark) part(table string, number int64) string {
	path := part(n.Dir(table), number)
	if n.Lines {
		path = strings.TrimSuffix(path, ".parquet") + ".json"
	}
	return path
}

// Make writes the files that are missing.
func (n Nexmark) Make(ctx context.Context) error {
	return once(n.root(), func() (err error) {
		db, err := plain.Open(ctx, 0)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		for _, table := range n.Tables() {
			if err := os.Mkdir(n.Dir(table), 0o755); err != nil {
				return err
			}
		}
		if err := db.Exec(ctx, fmt.Sprintf("COPY (SELECT i AS key, CAST(i AS VARCHAR) AS value FROM range(10000) t(i)) TO '%s'", n.part("side_input", 0))); err != nil {
			return err
		}
		g := nexmark.New(nexmark.Options{Rate: rate, Base: time.UnixMilli(1_700_006_383_000)})
		for from := int64(0); from < n.Events; from += n.Chunk {
			for _, table := range nexmark.Tables() {
				if err := n.write(ctx, db, g, span{table, from, min(from+n.Chunk, n.Events)}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

type span struct {
	table    string
	from, to int64
}

// write makes one table's file of a span of events, a Parquet file by way of lines of JSON.
func (n Nexmark) write(ctx context.Context, db *plain.DB, g *nexmark.Generator, s span) (err error) {
	if n.Lines {
		return n.lines(n.part(s.table, s.from/n.Chunk), g, s)
	}
	lines := filepath.Join(n.root(), "lines.json")
	defer func() { err = errors.Join(err, os.Remove(lines)) }()
	if err := n.lines(lines, g, s); err != nil {
		return err
	}
	return db.Exec(ctx, fmt.Sprintf("COPY (FROM %s) TO '%s'", plain.Lines(lines, n.Columns(s.table)), n.part(s.table, s.from/n.Chunk)))
}

// lines writes one table's events of a span as lines of JSON.
func (n Nexmark) lines(path string, g *nexmark.Generator, s span) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	for e := s.from; e < s.to; e++ {
		if nexmark.Table(e) != s.table {
			continue
		}
		line = g.Append(line[:0], e)
		if _, err := w.Write(line); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(w.Flush(), f.Close())
}
