// Package main measures the real binary against the lower bound: DuckDB alone doing the same work in one shot.
//
// Ours and the lower bound run as processes of their own, alternating, over the same input. A
// result counts only when both left the same rows.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// settings are the command line.
type settings struct {
	binary string
	cache  string
	doc    string
	only   string
	rows   int
	files  int
	pairs  int
}

func main() {
	var s settings
	lowerBound := flag.String("lower-bound", "", "run this statement with DuckDB and exit; used by the benchmark itself")
	flag.StringVar(&s.binary, "streamform", "bin/streamform", "the binary to measure")
	flag.StringVar(&s.cache, "cache", filepath.Join(os.TempDir(), "streamform-bench"), "folder for the generated input, kept between runs")
	flag.StringVar(&s.doc, "doc", "", "Markdown file whose part between the results marks is replaced")
	flag.StringVar(&s.only, "only", "ingest,aggregate,plan", "workloads to run")
	flag.IntVar(&s.rows, "rows", 5_000_000, "events")
	flag.IntVar(&s.files, "files", 200, "files the events are spread over")
	flag.IntVar(&s.pairs, "pairs", 3, "runs of each side")
	flag.Parse()
	var err error
	if *lowerBound != "" {
		err = duckDB(*lowerBound)
	} else {
		err = run(context.Background(), s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) error {
	binary, err := filepath.Abs(s.binary)
	if err != nil {
		return err
	}
	s.binary = binary
	input := filepath.Join(s.cache, fmt.Sprintf("events-%d-%d", s.rows, s.files))
	var results []result
	for _, w := range workloads() {
		if !strings.Contains(s.only, w.name) {
			continue
		}
		if err := generate(input, s.rows, s.files); err != nil {
			return err
		}
		r, err := compare(ctx, s, w, input)
		if err != nil {
			return fmt.Errorf("workload %s: %w", w.name, err)
		}
		results = append(results, r)
	}
	var plans []planned
	if strings.Contains(s.only, "plan") {
		if plans, err = planTimes(ctx, s); err != nil {
			return fmt.Errorf("workload plan: %w", err)
		}
	}
	text := table(s, results, plans)
	fmt.Print(text)
	if s.doc == "" {
		return nil
	}
	return writeResults(s.doc, text)
}
