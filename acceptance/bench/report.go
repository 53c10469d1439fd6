package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// table is the results as Markdown.
func table(s settings, results []result, plans []planned) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s/%s, %d cores. Medians of %d alternating pairs; ratios with least and greatest.\n",
		time.Now().UTC().Format("2006-01-02"), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), s.pairs)
	if len(results) > 0 {
		fmt.Fprintf(&b, "\n%d events as lines of JSON in %d files. The lower bound is DuckDB alone: one `COPY` of the same `SELECT` over the same files to one zstd Parquet file.\n\n", s.rows, s.files)
		b.WriteString("| workload | rows out | ours | DuckDB | time ratio | target | ours cpu | DuckDB cpu | cpu ratio | ours peak | DuckDB peak |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
		for _, r := range results {
			fmt.Fprintf(&b, "| %s | %d | %.1f s | %.1f s | %s | ≤ %s | %.1f s | %.1f s | %s | %.0f MB | %.0f MB |\n",
				r.title, r.rows, median(r.ours, wallSeconds), median(r.bound, wallSeconds), ratio(r.ours, r.bound, wallSeconds), r.target,
				median(r.ours, cpuSeconds), median(r.bound, cpuSeconds), ratio(r.ours, r.bound, cpuSeconds), median(r.ours, megabytes), median(r.bound, megabytes))
		}
	}
	if len(plans) > 0 {
		b.WriteString("\nA plan of new resources, from process start to the saved plan: a quarter each sources, streams, views and triggers, beside as many `terraform_data`.\n\n")
		b.WriteString("| resources | ours | cpu | peak | terraform | cpu | peak | time ratio |\n|--:|--:|--:|--:|--:|--:|--:|--:|\n")
		for _, p := range plans {
			fmt.Fprintf(&b, "| %d | %.2f s | %.2f s | %.0f MB | %s\n", p.resources, median(p.ours, wallSeconds), median(p.ours, cpuSeconds), median(p.ours, megabytes), terraformCells(p))
		}
	}
	return b.String()
}

func terraformCells(p planned) string {
	if len(p.terraform) == 0 {
		return "not installed | – | – | – |"
	}
	return fmt.Sprintf("%.2f s | %.2f s | %.0f MB | %s |", median(p.terraform, wallSeconds), median(p.terraform, cpuSeconds), median(p.terraform, megabytes), ratio(p.ours, p.terraform, wallSeconds))
}

// ratio is ours over theirs, pair by pair: median, least and greatest.
func ratio(ours, theirs []cost, f func(cost) float64) string {
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = f(ours[i]) / f(theirs[i])
	}
	slices.Sort(ratios)
	return fmt.Sprintf("%.2f (%.2f–%.2f)", ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
}

// writeResults replaces the part of a document between its results marks.
func writeResults(path, text string) error {
	doc, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(doc), "<!-- results -->\n")
	_, after, closed := strings.Cut(rest, "<!-- /results -->")
	if !ok || !closed {
		return fmt.Errorf("%s has no results marks", path)
	}
	return os.WriteFile(path, []byte(before+"<!-- results -->\n\n"+text+"\n<!-- /results -->"+after), 0o644)
}
