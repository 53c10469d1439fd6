// Package firsts finds the first rows of each key among those shown so far and those that came, and the keys of which more rows are to be read
package firsts

import (
	"context"
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/memory"
	"github.com/streamform/streamform/runtime/query/table"
)

// Rows are what an operator for the first rows of each key knows of its touched keys before it reads what it remembers of its input.
type Rows struct {
	*table.Set
	Keyed       compile.Keyed // with First
	Was         string        // the rows shown so far
	Plus, Minus string        // rows that came and that were taken back; Minus is empty for none

	short string // table of the keys whose candidates do not suffice
}

// Candidates are those of the rows shown so far that stay, and of the rows that came, the first. All other rows come behind the last row that was
// shown, or tie with it. So the candidates are enough for a key of which as many as are shown come not behind that row, and where all rows
// were shown. They are returned with the other keys.
func (r *Rows) Candidates(ctx context.Context) (rows string, short memory.Keys, err error) {
	kept, err := r.Make(ctx, "FROM "+r.kept())
	if err != nil {
		return "", short, err
	}
	first, err := logical.Replace(r.Keyed.Body, func(string) (string, error) { return r.Plus, nil })
	if err != nil {
		return "", short, err
	}
	few, err := r.Make(ctx, "SELECT "+r.list()+" FROM ("+first+")")
	if err != nil {
		return "", short, err
	}
	rows = fmt.Sprintf("(SELECT %[1]s FROM %[2]s UNION ALL SELECT %[1]s FROM %[3]s)", r.list(), kept, few)
	if r.short, err = r.Make(ctx, r.lacking(rows)); err != nil {
		return "", short, err
	}
	n := len(r.Keyed.KeyTypes)
	found, err := r.Encoded(ctx, r.short, table.Columns{Names: append(compile.Numbered("k", n), "one"), Types: append(append([]string{}, r.Keyed.KeyTypes...), "INTEGER"), Key: n})
	if err != nil {
		return "", short, err
	}
	return rows, found.Keys(), nil
}

// Completed has all rows of the keys whose candidates do not suffice; whole has them, and may have rows of others.
func (r *Rows) Completed(candidates, whole string) string {
	on := "true"
	for i, key := range r.Keyed.Inputs[0].Keys {
		on += fmt.Sprintf(" AND CAST(%s AS %s) IS NOT DISTINCT FROM k%d", key, r.Keyed.KeyTypes[i], i)
	}
	return fmt.Sprintf("(SELECT %[1]s FROM %[2]s ANTI JOIN %[3]s ON %[4]s UNION ALL SELECT %[1]s FROM %[5]s SEMI JOIN %[3]s ON %[4]s)", r.list(), candidates, r.short, on, whole)
}

func (r *Rows) names() []string { return compile.Numbered("c", len(r.Keyed.InputTypes[0])) }

func (r *Rows) list() string { return strings.Join(r.names(), ", ") }

// kept are the rows shown so far without those taken back.
func (r *Rows) kept() string {
	was := fmt.Sprintf("(SELECT %s FROM %s)", r.list(), r.Was)
	if r.Minus == "" {
		return was
	}
	// Few of the rows taken back were shown: they are found by columns that are simple to compare.
	on := "true"
	for i, t := range r.Keyed.InputTypes[0] {
		if !strings.ContainsAny(t, "([") {
			on += fmt.Sprintf(" AND m.c%[1]d IS NOT DISTINCT FROM w.c%[1]d", i)
		}
	}
	gone := fmt.Sprintf("(SELECT %s FROM %s m SEMI JOIN %s w ON %s)", r.list(), r.Minus, r.Was, on)
	names, types := r.names(), r.Keyed.InputTypes[0]
	rest := table.Without(was, gone, names, types)
	if table.Told(names, types) == "" {
		return rest
	}
	// A row that was shown may have lost the sign of a zero on its way through a sort: what is left of those taken back goes with what is equal to it.
	return table.WithoutEqual(rest, table.Without(gone, was, names, types), names)
}

// lacking is SQL for the keys whose candidates may not suffice.
func (r *Rows) lacking(candidates string) string {
	f := r.Keyed.First
	keys := make([]string, len(r.Keyed.Inputs[0].Keys))
	for i, key := range r.Keyed.Inputs[0].Keys {
		keys[i] = fmt.Sprintf("CAST(%s AS %s) AS k%d", key, r.Keyed.KeyTypes[i], i)
	}
	names := compile.Numbered("k", len(keys))
	places := "*"
	if f.Dense {
		places = "DISTINCT sf$d"
	}
	ranked := fmt.Sprintf("SELECT %s, dense_rank() OVER (%s) AS sf$d FROM (SELECT %s, false AS sf$new FROM %s UNION ALL SELECT %[3]s, true FROM %[5]s)",
		strings.Join(append(keys, "sf$new"), ", "), f.Over, r.list(), r.Was, candidates)
	by, partition := "", ""
	if len(names) > 0 {
		by, partition = " GROUP BY "+strings.Join(names, ", "), "PARTITION BY "+strings.Join(names, ", ")
	}
	return fmt.Sprintf("SELECT %s FROM (SELECT *, max(sf$d) FILTER (NOT sf$new) OVER (%s) AS sf$last FROM (%s))%s HAVING count(%s) FILTER (NOT sf$new) >= %d AND count(%[5]s) FILTER (sf$new AND sf$d <= sf$last) < %[6]d",
		strings.Join(append(names, "1 AS one"), ", "), partition, ranked, by, places, f.Most)
}
