// Package applied reads what apply says it did, and counts rows that differ
package applied

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Worked is what apply says of a relation or sink: what was really done.
type Worked struct {
	Address   string            `json:"address"`
	Class     string            `json:"class"`
	Rows      int64             `json:"rows"`
	HeldRows  int64             `json:"held_rows"`
	ReadRows  int64             `json:"read_rows"`
	Operators map[string]string `json:"operators"`
}

// Read finds the summary in the JSON lines that apply printed, by address.
func Read(printed string) (map[string]Worked, error) {
	out := map[string]Worked{}
	for text := range strings.Lines(printed) {
		var line struct {
			Type string `json:"type"`
			Data struct{ Relations, Sinks []Worked }
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			return nil, fmt.Errorf("reading %q: %w", text, err)
		}
		if line.Type != "data_summary" {
			continue
		}
		for _, w := range append(line.Data.Relations, line.Data.Sinks...) {
			out[w.Address] = w
		}
	}
	return out, nil
}

// Differing counts the rows that one list has and the other has not, or not as often; pad is added to those of before.
func Differing(before, after []string, pad string) (n int) {
	left := map[string]int{}
	for _, row := range before {
		left[row+pad]++
	}
	for _, row := range after {
		if left[row]--; left[row] < 0 {
			n++
		}
	}
	for _, more := range left {
		n += max(more, 0)
	}
	return n
}
