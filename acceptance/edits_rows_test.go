package acceptance

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// recorded is a relation as the state has it.
type recorded struct {
	name, sql, path string
	block           addr.Block
	columns         []string // NAME TYPE
	needs           []string
}

// relations reads the sources, streams and views of a project's state, inputs before their readers.
func relations(t *testing.T, p *project) []recorded {
	t.Helper()
	data, err := os.ReadFile(p.path("streamform.sfstate"))
	require.NoError(t, err)
	d, err := state.Decode(data)
	require.NoError(t, err)
	var all, out []recorded
	for _, r := range d.Resources {
		if !r.Addr.Block.IsRelation() {
			continue
		}
		var v struct{ SQL, Path string }
		require.NoError(t, json.Unmarshal(r.Attributes, &v))
		got := recorded{name: r.Addr.Relation(), sql: v.SQL, path: v.Path, block: r.Addr.Block}
		for _, c := range r.Relation.Columns {
			got.columns = append(got.columns, fmt.Sprintf("%q: '%s'", c.Name, c.Type))
		}
		for _, n := range r.Dependencies {
			if n.Block.IsRelation() {
				got.needs = append(got.needs, n.Relation())
			}
		}
		all = append(all, got)
	}
	done := map[string]bool{}
	for len(out) < len(all) {
		for _, r := range all {
			ready := !done[r.name] && !slices.ContainsFunc(r.needs, func(n string) bool { return !done[n] })
			if ready {
				done[r.name] = true
				out = append(out, r)
			}
		}
	}
	return out
}

// files lists what a source has read, as SQL: before the next file, or that one alone.
func (e *edit) filesOf(t *testing.T, p *project, r recorded, next bool) string {
	t.Helper()
	names, err := filepath.Glob(p.path(filepath.Join(r.path, "*.json")))
	require.NoError(t, err)
	if r.name == "clicks" && e.rows.clicks != "" {
		names = nil
		for _, n := range strings.Fields(e.rows.clicks) {
			names = append(names, p.path(n))
		}
		if e.rows.feed != "" {
			names = append(names, p.path(e.rows.feed))
		}
	}
	var quoted []string
	for _, n := range names {
		if _, err := os.Stat(n); err != nil || strings.HasSuffix(n, "/c.json") != next {
			continue
		}
		quoted = append(quoted, "'"+n+"'")
	}
	if len(quoted) == 0 {
		quoted = []string{"'" + p.path("empty.json") + "'"}
		p.write("empty.json", "")
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func readJSON(r recorded, files string) string {
	return fmt.Sprintf("SELECT * FROM read_json(%s, columns = {%s}, format = 'newline_delimited')", files, strings.Join(r.columns, ", "))
}

// oracle is SQL that answers a query of relations by DuckDB alone, over all files. A stream that was kept has the
// rows of its former query over the files from before, and those of the new one over the next file.
func (e *edit) oracle(t *testing.T, p *project, before []recorded, query string) string {
	t.Helper()
	now := relations(t, p)
	parts := func(all []recorded, next bool) string {
		var with []string
		for _, r := range all {
			body := r.sql
			if r.block == addr.Source {
				body = readJSON(r, e.filesOf(t, p, r, next))
			}
			with = append(with, fmt.Sprintf("%q AS (%s)", r.name, body))
		}
		return "WITH " + strings.Join(with, ", ")
	}
	var with []string
	for _, r := range now {
		body := r.sql
		switch {
		case r.block == addr.Source:
			body = readJSON(r, e.filesOf(t, p, r, false)) + " UNION ALL " + readJSON(r, e.filesOf(t, p, r, true))
		case slices.Contains(e.rows.kept, r.name):
			body = fmt.Sprintf("SELECT * FROM (%s SELECT * FROM %q) UNION ALL BY NAME SELECT * FROM (%s SELECT * FROM %q)",
				parts(before, false), r.name, parts(now, true), r.name)
		}
		with = append(with, fmt.Sprintf("%q AS (%s)", r.name, body))
	}
	return "WITH " + strings.Join(with, ", ") + " " + query
}

// checkRows compares every view, and the sinks of the base, with the oracle.
func (e *edit) checkRows(t *testing.T, p *project, before []recorded) {
	t.Helper()
	var views []string
	for _, r := range relations(t, p) {
		if r.block == addr.View {
			views = append(views, fmt.Sprintf("SELECT '%s' AS view, CAST(x AS VARCHAR) AS columns FROM %q x", r.name, r.name))
		}
	}
	all := strings.Join(views, " UNION ALL ")
	want, err := duckCSV(p.dir, e.oracle(t, p, before, all))
	require.NoError(t, err)
	require.Equal(t, sortedLines(want), sortedLines(p.must("query", "-csv", all)))
	if !e.rows.sinks {
		e.checkSinks(t, p, before)
	}
}

// checkSinks compares the Delta table of spend with the view, and the files of valid with the stream.
func (e *edit) checkSinks(t *testing.T, p *project, before []recorded) {
	t.Helper()
	scan, err := deltaScan(p.path("lake/spend"))
	require.NoError(t, err)
	got, err := duckCSV(p.dir, "SELECT * FROM ("+scan+")")
	require.NoError(t, err)
	want, err := duckCSV(p.dir, e.oracle(t, p, before, "SELECT * FROM spend"))
	require.NoError(t, err)
	require.Equal(t, sortedLines(want), sortedLines(got), "the Delta table of spend")
	want, err = duckCSV(p.dir, e.oracle(t, p, before, "SELECT user_id, url, price FROM valid"))
	require.NoError(t, err)
	got, err = duckCSV(p.dir, "SELECT user_id, url, price FROM read_json('out/valid/[a-z]*.json', columns = {user_id: 'BIGINT', url: 'VARCHAR', price: 'DECIMAL(10,2)'}, format = 'newline_delimited')")
	require.NoError(t, err)
	require.Equal(t, sortedLines(want), sortedLines(got), "the files of valid")
}

// checkLater looks into the folder of a sink that was given nothing from before the edit.
func (e *edit) checkLater(t *testing.T, p *project) {
	t.Helper()
	if e.rows.later == "" {
		return
	}
	now := relations(t, p)
	var with []string
	for _, r := range now {
		body := r.sql
		if r.block == addr.Source {
			body = readJSON(r, e.filesOf(t, p, r, true))
		}
		with = append(with, fmt.Sprintf("%q AS (%s)", r.name, body))
	}
	want, err := duckCSV(p.dir, "WITH "+strings.Join(with, ", ")+" SELECT user_id, url, price FROM valid")
	require.NoError(t, err)
	got, err := duckCSV(p.dir, "SELECT user_id, url, price FROM read_json('"+e.rows.later+"/[a-z]*.json', columns = {user_id: 'BIGINT', url: 'VARCHAR', price: 'DECIMAL(10,2)'}, format = 'newline_delimited')")
	require.NoError(t, err)
	require.Equal(t, sortedLines(want), sortedLines(got), "the files of later")
}
