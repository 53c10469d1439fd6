package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/acceptance/bench/meter"
	"github.com/streamform/streamform/acceptance/bench/workload"
)

func TestResultsReplaceTheirOwnPartOnly(t *testing.T) {
	doc := filepath.Join(t.TempDir(), "doc.md")
	require.NoError(t, os.WriteFile(doc, []byte("a\n<!-- W1 -->\nold\n<!-- /W1 -->\nb\n<!-- W12 -->\nstays\n<!-- /W12 -->\n"), 0o600))
	require.NoError(t, writeResults(doc, "W1", "new"))
	got, err := os.ReadFile(doc)
	require.NoError(t, err)
	require.Equal(t, "a\n<!-- W1 -->\n\nnew\n<!-- /W1 -->\nb\n<!-- W12 -->\nstays\n<!-- /W12 -->\n", string(got))
	require.ErrorContains(t, writeResults(doc, "W2", "x"), "no marks of W2")
}

// TestEveryWorkloadHasAPlace in the document.
func TestEveryWorkloadHasAPlace(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "performance.md"))
	require.NoError(t, err)
	for _, w := range (settings{}).workloads() {
		require.Contains(t, string(doc), "<!-- "+w.Name+" -->\n")
		require.Contains(t, string(doc), "<!-- /"+w.Name+" -->")
	}
}

func TestWants(t *testing.T) {
	for _, tc := range []struct {
		only, name string
		yes        bool
		one        int
	}{{"", "W8", true, -1}, {"W2,w8", "W8", true, -1}, {"W8:3", "W8", true, 3}, {"W80", "W8", false, -1}, {"W12", "W1", false, -1}} {
		yes, one := settings{only: tc.only}.wants(tc.name)
		require.Equal(t, tc.yes, yes, tc)
		require.Equal(t, tc.one, one, tc)
	}
}

func TestText(t *testing.T) {
	took := func(s float64) workload.Outcome {
		return workload.Outcome{Cost: meter.Cost{CPU: time.Duration(s * 1e9), Wall: time.Duration(s * 2e9), Peak: 5e6}}
	}
	with := took(4)
	with.Numbers = []workload.Number{{Name: "p50, ms", Value: 1.5}}
	m := measured{Workload: workload.Workload{Text: "What it is."}, pairs: 1, cases: []lines{
		{Case: workload.Case{Name: "first", Target: "≥ 0.5"}, ours: []workload.Outcome{with}, bound: []workload.Outcome{took(2)}},
		{Case: workload.Case{Name: "second"}, ours: []workload.Outcome{took(1)}}}}
	text := m.text()
	require.Contains(t, text, "What it is.\n")
	require.Contains(t, text, "| first | ≥ 0.5 | 0.50 (0.50–0.50) | 0.50 | 4 s | 2 s | 8 s | 4 s | 1.5 | 5 MB |\n")
	require.Contains(t, text, "| second |  | – | – | 1 s | – | 2 s | – |  | 5 MB |\n")
	require.NotContains(t, text, "Geometric")
}

func TestGroupsHaveTheirOwnMeans(t *testing.T) {
	var m measured
	for i := range 6 {
		l := lines{Case: workload.Case{Group: "a"}, ours: []workload.Outcome{{Cost: meter.Cost{CPU: 2 * time.Second}}}, bound: []workload.Outcome{{Cost: meter.Cost{CPU: time.Second}}}}
		if i >= 3 {
			l.Group, l.bound[0].Cost.CPU = "b", 500*time.Millisecond
		}
		m.cases = append(m.cases, l)
	}
	require.Equal(t, "\nGeometric mean of eta by cpu over 3 cases of a: 0.50, over 3 cases of b: 0.25.\n", m.means())
	m.cases = m.cases[2:]
	require.Equal(t, "\nGeometric mean of eta by cpu over 3 cases of b: 0.25.\n", m.means())
}
