package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/streamform/streamform/acceptance/bench/meter"
	"github.com/streamform/streamform/acceptance/bench/workload"
)

// text is a workload's results as Markdown.
func (m measured) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", m.Text)
	fmt.Fprintf(&b, "%s Median of %s.\n\n", machine(), count(m.pairs, "run", "runs"))
	names := m.numbers()
	bounded := slices.ContainsFunc(m.cases, func(l lines) bool { return len(l.bound) > 0 })
	head := []string{"case", "target"}
	if bounded {
		head = append(head, "eta by cpu", "eta by wall", "ours cpu", "bound cpu", "ours wall", "bound wall")
	}
	head = append(append(head, names...), "ours peak")
	fmt.Fprintf(&b, "| %s |\n|---|---|%s\n", strings.Join(head, " | "), strings.Repeat("--:|", len(head)-2))
	for _, l := range m.cases {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(l.cells(bounded, names), " | "))
	}
	b.WriteString(m.means())
	return b.String()
}

// means says the geometric mean of eta of every group of more than two cases.
func (m measured) means() string {
	var groups, parts []string
	for _, l := range m.cases {
		if !slices.Contains(groups, l.Group) {
			groups = append(groups, l.Group)
		}
	}
	for _, g := range groups {
		mean, n := m.mean(g)
		if n <= 2 {
			continue
		}
		of := ""
		if g != "" {
			of = " of " + g
		}
		parts = append(parts, fmt.Sprintf("over %d cases%s: %.2f", n, of, mean))
	}
	if len(parts) == 0 {
		return ""
	}
	return "\nGeometric mean of eta by cpu " + strings.Join(parts, ", ") + ".\n"
}

// machine says when and where.
func machine() string {
	return fmt.Sprintf("%s, %s/%s, %d cores.", time.Now().UTC().Format("2006-01-02"), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// numbers are the names of all numbers besides the costs, as first mentioned.
func (m measured) numbers() []string {
	var names []string
	for _, l := range m.cases {
		for _, n := range l.ours[0].Numbers {
			if !slices.Contains(names, n.Name) {
				names = append(names, n.Name)
			}
		}
	}
	return names
}

func (l lines) cells(bounded bool, names []string) []string {
	ours := costs(l.ours)
	cells := []string{l.Name, l.Target}
	if bounded {
		bound := costs(l.bound)
		if len(bound) == 0 {
			cells = append(cells, "–", "–", seconds(ours, meter.CPUSeconds), "–", seconds(ours, meter.WallSeconds), "–")
		} else {
			cells = append(cells, meter.Ratios(meter.Of(bound, meter.CPUSeconds), meter.Of(ours, meter.CPUSeconds)).String(),
				fmt.Sprintf("%.2f", meter.Ratios(meter.Of(bound, meter.WallSeconds), meter.Of(ours, meter.WallSeconds)).Median),
				seconds(ours, meter.CPUSeconds), seconds(bound, meter.CPUSeconds), seconds(ours, meter.WallSeconds), seconds(bound, meter.WallSeconds))
		}
	}
	for _, name := range names {
		cells = append(cells, l.number(name))
	}
	return append(cells, fmt.Sprintf("%.0f MB", meter.Median(meter.Of(ours, meter.Megabytes))))
}

func (l lines) number(name string) string {
	var values []float64
	for _, o := range l.ours {
		for _, n := range o.Numbers {
			if n.Name == name {
				values = append(values, n.Value)
			}
		}
	}
	if len(values) == 0 {
		return ""
	}
	return fmt.Sprintf("%.3g", meter.Median(values))
}

func costs(all []workload.Outcome) []meter.Cost {
	out := make([]meter.Cost, len(all))
	for i, o := range all {
		out[i] = o.Cost
	}
	return out
}

func seconds(all []meter.Cost, f func(meter.Cost) float64) string {
	return fmt.Sprintf("%.3g s", meter.Median(meter.Of(all, f)))
}

// mean is the geometric mean of eta by processor time of a group, and over how many cases.
func (m measured) mean(group string) (float64, int) {
	sum, n := 0.0, 0
	for _, l := range m.cases {
		if l.Group != group || len(l.bound) == 0 {
			continue
		}
		sum += math.Log(meter.Ratios(meter.Of(costs(l.bound), meter.CPUSeconds), meter.Of(costs(l.ours), meter.CPUSeconds)).Median)
		n++
	}
	return math.Exp(sum / float64(max(n, 1))), n
}

// writeResults replaces the part of a document between a workload's marks.
func writeResults(path, name, text string) error {
	doc, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	open, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, ok := strings.Cut(string(doc), open)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no marks of %s", path, name)
	}
	return os.WriteFile(path, []byte(before+open+"\n"+text+"\n"+end+after), 0o644)
}
