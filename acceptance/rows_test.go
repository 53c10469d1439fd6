package acceptance

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/streamform/streamform/acceptance/outside"
)

// duckCSV answers a statement with DuckDB alone: see outside.DuckCSV.
func duckCSV(dir, statement string) (string, error) { return outside.DuckCSV(dir, statement) }

// deltaScan is the statement that reads the newest version of a Delta table.
func deltaScan(dir string) (string, error) { return outside.DeltaScan(dir) }

// sortedLines is a text with its lines in order, so that two can be compared as sets of rows.
func sortedLines(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// csvRows parses CSV as duckCSV and `query -csv` print it.
func csvRows(text string) ([][]string, error) {
	return csv.NewReader(strings.NewReader(text)).ReadAll()
}

// writeEvents writes seeded events as lines of JSON: id, key (of 1,000), kind (of 5), value, happened_at. Equal
// arguments write equal bytes; rows are spread evenly over the files.
func writeEvents(dir string, rows, files int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, uint64(rows)))
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	kinds := []string{"view", "click", "cart", "order", "return"}
	id := 0
	for f := range files {
		var b strings.Builder
		for range rows/files + btoi(f < rows%files) {
			id++
			at := start.Add(time.Duration(random.IntN(72*3600)) * time.Second)
			fmt.Fprintf(&b, `{"id":%d,"key":"k%03d","kind":"%s","value":%d,"happened_at":"%s"}`+"\n",
				id, random.IntN(1000), kinds[random.IntN(len(kinds))], random.IntN(10_000), at.Format("2006-01-02 15:04:05"))
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("events-%05d.json", f)), []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
