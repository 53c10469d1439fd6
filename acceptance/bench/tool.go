package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/streamform/streamform/acceptance/bench/meter"
)

// pipeline is one configuration of the tool and the statement that does the same in one shot.
type pipeline struct {
	name   string
	title  string
	block  string // the relation's block: stream or view
	sql    string // reads events
	target string // greatest ratio of time aimed at
}

func pipelines() []pipeline {
	return []pipeline{
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

// result is one pipeline's runs, ours and the lower bound's in the order they ran.
type result struct {
	pipeline
	ours, bound []meter.Cost
	rows        int64 // left in the table
}

// compare runs both sides in turn and checks that they left the same rows.
func compare(ctx context.Context, s settings, w pipeline, input string) (result, error) {
	r := result{pipeline: w}
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	for pair := range s.toolPairs() {
		dir, err := os.MkdirTemp(s.Cache, w.name+"-")
		if err != nil {
			return r, err
		}
		if err := os.WriteFile(filepath.Join(dir, "main.sf.hcl"), []byte(w.config(input)), 0o644); err != nil {
			return r, err
		}
		ours, _, err := meter.Command(ctx, dir, s.binary, "apply", "-auto-approve")
		if err != nil {
			return r, err
		}
		out := filepath.Join(dir, "bound.parquet")
		bound, _, err := meter.Command(ctx, dir, self, "-lower-bound", w.oneShot(input, out))
		if err != nil {
			return r, err
		}
		if r.rows, err = sameRows(ctx, filepath.Join(dir, "lake"), out); err != nil {
			return r, err
		}
		r.ours, r.bound = append(r.ours, ours), append(r.bound, bound)
		fmt.Fprintf(os.Stderr, "%s %d: ours %.1f s, cpu %.1f s; DuckDB %.1f s, cpu %.1f s\n", w.name, pair+1,
			ours.Wall.Seconds(), ours.CPU.Seconds(), bound.Wall.Seconds(), bound.CPU.Seconds())
		if err := os.RemoveAll(dir); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (w pipeline) config(input string) string {
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
func (w pipeline) oneShot(input, out string) string {
	scan := fmt.Sprintf("read_json('%s/*.json', format = 'newline_delimited', columns = {id: 'BIGINT', key: 'VARCHAR', kind: 'VARCHAR', value: 'BIGINT', happened_at: 'TIMESTAMP'})", input)
	return fmt.Sprintf("COPY (%s) TO '%s' (FORMAT parquet, COMPRESSION zstd)", strings.Replace(w.sql, "FROM events", "FROM "+scan, 1), out)
}

// toolPairs is how often both sides of W1 and W12 run.
func (s settings) toolPairs() int {
	if s.pairs > 0 {
		return s.pairs
	}
	return 3
}

// tool runs W1: the binary itself, lines of JSON to Delta tables.
func (s settings) tool(ctx context.Context) (string, error) {
	input := filepath.Join(s.Cache, fmt.Sprintf("events-%d-%d", s.rows, s.files))
	if err := generate(input, s.rows, s.files); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s Medians of %d alternating pairs; ratios with least and greatest.\n", machine(), s.toolPairs())
	fmt.Fprintf(&b, "\n%d events as lines of JSON in %d files. The lower bound is DuckDB alone: one `COPY` of the same `SELECT` over the same files to one zstd Parquet file.\n\n", s.rows, s.files)
	b.WriteString("| workload | rows out | ours | DuckDB | time ratio | target | ours cpu | DuckDB cpu | cpu ratio | ours peak | DuckDB peak |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, w := range pipelines() {
		r, err := compare(ctx, s, w, input)
		if err != nil {
			return "", fmt.Errorf("%s: %w", w.name, err)
		}
		b.WriteString(r.line())
	}
	return b.String(), nil
}

func (r result) line() string {
	wall := meter.Ratios(meter.Of(r.ours, meter.WallSeconds), meter.Of(r.bound, meter.WallSeconds))
	cpu := meter.Ratios(meter.Of(r.ours, meter.CPUSeconds), meter.Of(r.bound, meter.CPUSeconds))
	return fmt.Sprintf("| %s | %d | %s | %s | %s | ≤ %s | %s | %s | %s | %.0f MB | %.0f MB |\n",
		r.title, r.rows, seconds(r.ours, meter.WallSeconds), seconds(r.bound, meter.WallSeconds), wall, r.target,
		seconds(r.ours, meter.CPUSeconds), seconds(r.bound, meter.CPUSeconds), cpu,
		meter.Median(meter.Of(r.ours, meter.Megabytes)), meter.Median(meter.Of(r.bound, meter.Megabytes)))
}
