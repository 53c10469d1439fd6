package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// workload is one pipeline and the statement that does the same in one shot.
type workload struct {
	name   string
	title  string
	block  string // the relation's block: stream or view
	sql    string // reads events
	target string // greatest ratio of time aimed at
}

func workloads() []workload {
	return []workload{
		{
			name: "ingest", title: "filter → Delta append", block: "stream", target: "1.3",
			sql: "SELECT id, key, kind, value, happened_at FROM events WHERE kind <> 'page_view'",
		},
		{
			name: "aggregate", title: "200,160 groups by key and hour → Delta", block: "view", target: "2",
			sql: "SELECT key, time_bucket(INTERVAL 1 HOUR, happened_at) AS hour, count(*) AS n, CAST(sum(value) AS BIGINT) AS total FROM events GROUP BY ALL",
		},
	}
}

// result is one workload's runs, ours and the lower bound's in the order they ran.
type result struct {
	workload
	ours, bound []cost
	rows        int64 // left in the table
}

// compare runs both sides in turn and checks that they left the same rows.
func compare(ctx context.Context, s settings, w workload, input string) (result, error) {
	r := result{workload: w}
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	for pair := range s.pairs {
		dir, err := os.MkdirTemp(s.cache, w.name+"-")
		if err != nil {
			return r, err
		}
		if err := os.WriteFile(filepath.Join(dir, "main.sf.hcl"), []byte(w.config(input)), 0o644); err != nil {
			return r, err
		}
		ours, err := measure(ctx, dir, s.binary, "apply", "-auto-approve")
		if err != nil {
			return r, err
		}
		out := filepath.Join(dir, "bound.parquet")
		bound, err := measure(ctx, dir, self, "-lower-bound", w.oneShot(input, out))
		if err != nil {
			return r, err
		}
		if r.rows, err = sameRows(ctx, filepath.Join(dir, "lake"), out); err != nil {
			return r, err
		}
		r.ours, r.bound = append(r.ours, ours), append(r.bound, bound)
		fmt.Fprintf(os.Stderr, "%s %d: ours %.1f s, cpu %.1f s; DuckDB %.1f s, cpu %.1f s\n", w.name, pair+1,
			ours.wall.Seconds(), ours.cpu.Seconds(), bound.wall.Seconds(), bound.cpu.Seconds())
		if err := os.RemoveAll(dir); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (w workload) config(input string) string {
	name := w.block
	return fmt.Sprintf(`
source "files" "events" {
  path    = %q
  format  = "json"
  columns = { id = "BIGINT", key = "VARCHAR", kind = "VARCHAR", value = "BIGINT", happened_at = "TIMESTAMP" }
}
%s "result" {
  sql = %q
}
sink "delta" "result" {
  from = %s.result
  path = "./lake"
}
`, input, name, w.sql, name)
}

// oneShot is the same work as one COPY.
func (w workload) oneShot(input, out string) string {
	scan := fmt.Sprintf("read_json('%s/*.json', format = 'newline_delimited', columns = {id: 'BIGINT', key: 'VARCHAR', kind: 'VARCHAR', value: 'BIGINT', happened_at: 'TIMESTAMP'})", input)
	return fmt.Sprintf("COPY (%s) TO '%s' (FORMAT parquet, COMPRESSION zstd)", strings.Replace(w.sql, "FROM events", "FROM "+scan, 1), out)
}
