// Package main measures streamform against lower bounds measured in the same run, and keeps the results in docs/performance.md.
//
// Both sides of a case run as processes of their own, alternating, over the same input. A
// result counts only when both gave the same rows.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/streamform/streamform/acceptance/bench/changes"
	"github.com/streamform/streamform/acceptance/bench/events"
	"github.com/streamform/streamform/acceptance/bench/keyed"
	"github.com/streamform/streamform/acceptance/bench/small"
	"github.com/streamform/streamform/acceptance/bench/workload"
)

// settings are the command line.
type settings struct {
	workload.Settings
	binary string
	doc    string
	only   string
	rows   int
	files  int
	pairs  int
	child  string
	args   []string // of the command line but -child, for the processes of both sides
}

func main() {
	var s settings
	lowerBound := flag.String("lower-bound", "", "run this statement with DuckDB and exit; used by the benchmark itself")
	flag.StringVar(&s.child, "child", "", "run one side of one case and exit; used by the benchmark itself")
	flag.StringVar(&s.binary, "streamform", "bin/streamform", "the binary that W1 and W12 measure")
	flag.StringVar(&s.Cache, "cache", filepath.Join(os.TempDir(), "streamform-bench"), "folder for the generated input, kept between runs")
	flag.StringVar(&s.doc, "doc", "", "Markdown file whose parts between the workloads' marks are replaced")
	flag.StringVar(&s.only, "only", "", "workloads to run, such as W2,W8; a name with a number behind a colon is one case (W2:0); empty: all")
	flag.Float64Var(&s.Scale, "scale", 1, "multiplies the workloads' moderate sizes")
	flag.BoolVar(&s.Full, "full", false, "run at the sizes of the targets: 10 M events, scale factor 1, 50 M keys")
	flag.Int64Var(&s.Memory, "memory", 0, "bytes of the runtime's memory budget; 0: its default")
	flag.IntVar(&s.Threads, "threads", 0, "threads of both sides; 0: all cores")
	flag.StringVar(&s.Profile, "profile", "", "folder for CPU profiles of our side")
	flag.IntVar(&s.rows, "rows", 5_000_000, "events of W1")
	flag.IntVar(&s.files, "files", 200, "files the events of W1 are spread over")
	flag.IntVar(&s.pairs, "pairs", 0, "runs of each side; 0: as many as the workload says")
	flag.Parse()
	flag.Visit(func(f *flag.Flag) {
		if f.Name != "child" {
			s.args = append(s.args, "-"+f.Name+"="+f.Value.String())
		}
	})
	ctx := context.Background()
	var err error
	switch {
	case *lowerBound != "":
		err = duckDB(*lowerBound)
	case s.child != "":
		err = s.runChild(ctx)
	default:
		err = s.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// workloads are all that run both sides through workload.Case, in the order of the report.
func (s settings) workloads() []workload.Workload {
	return slices.Concat(events.All(s.Settings), keyed.All(s.Settings), small.All(s.Settings), changes.All(s.Settings))
}

// wants says whether -only names a workload, and which of its cases; -1 for all.
func (s settings) wants(name string) (bool, int) {
	if s.only == "" {
		return true, -1
	}
	for _, part := range strings.Split(s.only, ",") {
		of, number, one := strings.Cut(part, ":")
		if !strings.EqualFold(of, name) {
			continue
		}
		var i int
		if _, err := fmt.Sscan(number, &i); one && err == nil {
			return true, i
		}
		return true, -1
	}
	return false, -1
}

func (s settings) run(ctx context.Context) error {
	binary, err := filepath.Abs(s.binary)
	if err != nil {
		return err
	}
	s.binary = binary
	if err := os.MkdirAll(s.Cache, 0o755); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		text func(context.Context) (string, error)
	}{{"W1", s.tool}, {"W12", s.plans}} {
		if ok, _ := s.wants(part.name); !ok {
			continue
		}
		text, err := part.text(ctx)
		if err != nil {
			return fmt.Errorf("workload %s: %w", part.name, err)
		}
		if err := s.tell(part.name, text); err != nil {
			return err
		}
	}
	for _, w := range s.workloads() {
		ok, one := s.wants(w.Name)
		if !ok {
			continue
		}
		m, err := s.measure(ctx, w, one)
		if err != nil {
			return fmt.Errorf("workload %s: %w", w.Name, err)
		}
		if err := s.tell(w.Name, m.text()); err != nil {
			return err
		}
	}
	return nil
}

// tell prints a workload's results, and puts them into the document.
func (s settings) tell(name, text string) error {
	fmt.Print(text, "\n")
	if s.doc == "" {
		return nil
	}
	return writeResults(s.doc, name, text)
}
