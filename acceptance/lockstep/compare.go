package lockstep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
)

// Tolerance is how far two DOUBLE values may lie apart, relative to the greater, and still be equal: sums of
// floating-point numbers depend on the order of their rows.
const Tolerance = 1e-9

// null is how NULL reads in a row of text; no value of the data is like it.
const null = "\x00NULL"

// Compare says how a relation's rows in the engine differ from plain DuckDB's: the first difference, or nil. It
// returns how many rows there are.
func (r *Run) Compare(ctx context.Context, relation string) (int, error) {
	rel, err := r.named(relation)
	if err != nil {
		return 0, err
	}
	got := r.streams[relation]
	if !rel.Stream {
		if got, err = r.held(ctx, rel); err != nil {
			return 0, fmt.Errorf("reading %s from the engine: %w", relation, err)
		}
	}
	want, err := r.batchRows(ctx, relation)
	if err != nil {
		return 0, fmt.Errorf("reading %s from plain DuckDB: %w", relation, err)
	}
	if err := differ(rel.Program.Columns, got, want); err != nil {
		return 0, fmt.Errorf("%s: %w", relation, err)
	}
	return len(want), nil
}

func (r *Run) held(ctx context.Context, rel *Relation) ([][]string, error) {
	rows, err := r.engine.Select(ctx, query.Reading{SQL: "SELECT * FROM " + rel.Name,
		Views: []query.Held{{Relation: rel.Name, Program: rel.Program, Memory: r.memory(rel.Name)}}})
	if err != nil {
		return nil, err
	}
	var out [][]string
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return out, rows.Close()
		}
		if err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		line := make([]string, len(row))
		for i, c := range row {
			line[i] = c.Text
			if c.Null {
				line[i] = null
			}
		}
		out = append(out, line)
	}
}

func (r *Run) batchRows(ctx context.Context, relation string) ([][]string, error) {
	rows, err := r.plain.Text(ctx, "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM "+relation)
	out := make([][]string, len(rows))
	for i, row := range rows {
		out[i] = cells(row)
	}
	return out, err
}

func cells(row []*string) []string {
	out := make([]string, len(row))
	for i, c := range row {
		out[i] = null
		if c != nil {
			out[i] = *c
		}
	}
	return out
}

// differ compares two sets of rows, whose order does not matter.
func differ(columns batch.Schema, got, want [][]string) error {
	var exact, loose []int
	for i, c := range columns {
		if c.Type == "DOUBLE" || c.Type == "FLOAT" {
			loose = append(loose, i)
		} else {
			exact = append(exact, i)
		}
	}
	order := func(a, b []string) int {
		for _, i := range exact {
			if c := strings.Compare(a[i], b[i]); c != 0 {
				return c
			}
		}
		for _, i := range loose {
			if c := cmp.Compare(number(a[i]), number(b[i])); c != 0 {
				return c
			}
		}
		return 0
	}
	got, want = slices.Clone(got), slices.Clone(want)
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	for i := range min(len(got), len(want)) {
		if !equal(columns, got[i], want[i]) {
			return fmt.Errorf("row %d of %d is %s, plain DuckDB has %s (of %d)", i+1, len(got), show(got[i]), show(want[i]), len(want))
		}
	}
	if len(got) != len(want) {
		longer := got
		if len(want) > len(got) {
			longer = want
		}
		return fmt.Errorf("%d rows, plain DuckDB has %d; the first without a match is %s", len(got), len(want), show(longer[min(len(got), len(want))]))
	}
	return nil
}

func number(s string) float64 {
	if s == null {
		return math.Inf(-1)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return math.Inf(1)
	}
	return f
}

func equal(columns batch.Schema, a, b []string) bool {
	for i, c := range columns {
		if a[i] == b[i] {
			continue
		}
		if c.Type != "DOUBLE" && c.Type != "FLOAT" || a[i] == null || b[i] == null {
			return false
		}
		x, y := number(a[i]), number(b[i])
		if near := math.Abs(x-y) <= Tolerance*max(math.Abs(x), math.Abs(y), 1); !near { // so that NaN is near nothing
			return false
		}
	}
	return true
}

func show(row []string) string {
	return "(" + strings.ReplaceAll(strings.Join(row, ", "), null, "NULL") + ")"
}
