package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/streamform/streamform/acceptance/bench/meter"
)

// edited says how large the applied configuration is that one edit is planned in.
const (
	editedViews   = 1_000
	editedSources = 10
)

// replans measures a plan after one edit among many applied views with a join, an aggregate and a window function each, and a plan of nothing.
func (s settings) replans(ctx context.Context) (string, error) {
	dir, err := os.MkdirTemp(s.Cache, "replan-")
	if err != nil {
		return "", err
	}
	write := func(threshold int) error {
		return os.WriteFile(filepath.Join(dir, "main.sf.hcl"), []byte(manyViews(threshold)), 0o644)
	}
	for i := range editedSources {
		landing := filepath.Join(dir, "landing", fmt.Sprint(i))
		if err := os.MkdirAll(landing, 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(landing, "a.json"), []byte(`{"id":1,"kind":"k","value":5}`+"\n"), 0o644); err != nil {
			return "", err
		}
	}
	if err := write(0); err != nil {
		return "", err
	}
	applied, _, err := meter.Command(ctx, dir, s.binary, "apply", "-auto-approve")
	if err != nil {
		return "", err
	}
	var nothing, edit []meter.Cost
	for i := range s.toolPairs() {
		for _, side := range []struct {
			threshold int
			costs     *[]meter.Cost
		}{{0, &nothing}, {i + 1, &edit}} {
			if err := write(side.threshold); err != nil {
				return "", err
			}
			cost, _, err := meter.Command(ctx, dir, s.binary, "plan")
			if err != nil {
				return "", err
			}
			*side.costs = append(*side.costs, cost)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nA plan of %d views that are applied, with a join, an aggregate and a window function each, over %d sources; the first apply took %.0f s.\n\n",
		editedViews, editedSources, applied.Wall.Seconds())
	b.WriteString("| what changed | time | cpu | peak |\n|---|--:|--:|--:|\n")
	for _, row := range []struct {
		what  string
		costs []meter.Cost
	}{{"nothing", nothing}, {"one query", edit}} {
		fmt.Fprintf(&b, "| %s | %s | %s | %.0f MB |\n", row.what, seconds(row.costs, meter.WallSeconds), seconds(row.costs, meter.CPUSeconds),
			meter.Median(meter.Of(row.costs, meter.Megabytes)))
	}
	return b.String(), os.RemoveAll(dir)
}

// manyViews is the configuration; the last view keeps values above the threshold.
func manyViews(threshold int) string {
	var b strings.Builder
	for i := range editedSources {
		fmt.Fprintf(&b, "source \"files\" \"s%[1]d\" {\n  path    = \"./landing/%[1]d\"\n  format  = \"json\"\n  columns = { id = \"BIGINT\", kind = \"VARCHAR\", value = \"BIGINT\" }\n}\n", i)
	}
	for i := range editedViews {
		above := 0
		if i == editedViews-1 {
			above = threshold
		}
		fmt.Fprintf(&b, `view "v%[1]d" {
  sql = <<-SQL
    SELECT kind, bucket, n FROM (
      SELECT a.kind, b.value %% %[2]d AS bucket, count(*) AS n
      FROM s%[3]d a JOIN s%[3]d b ON a.id = b.id
      WHERE a.value > %[4]d
      GROUP BY ALL)
    QUALIFY row_number() OVER (PARTITION BY kind ORDER BY n DESC, bucket) <= 3
  SQL
}
`, i, i+2, i%editedSources, above)
	}
	return b.String()
}
