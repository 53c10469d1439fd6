package graph

import (
	"container/heap"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
)

// smallest is a heap of places: among all that could come next, the one with the
// smallest address comes, so that the order depends on the graph alone.
type smallest []int

func (s smallest) Len() int           { return len(s) }
func (s smallest) Less(i, j int) bool { return s[i] < s[j] }
func (s smallest) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *smallest) Push(x any)        { *s = append(*s, x.(int)) }
func (s *smallest) Pop() any {
	old := *s
	x := old[len(old)-1]
	*s = old[:len(old)-1]
	return x
}

// sortTopologically returns what comes before any cycle, and false when there is one.
func sortTopologically(needs, neededBy [][]int) ([]int, bool) {
	open := make([]int, len(needs))
	var ready smallest
	for v, n := range needs {
		open[v] = len(n)
		if len(n) == 0 {
			ready = append(ready, v)
		}
	}
	order := make([]int, 0, len(needs))
	for len(ready) > 0 {
		v := heap.Pop(&ready).(int)
		order = append(order, v)
		for _, w := range neededBy[v] {
			if open[w]--; open[w] == 0 {
				heap.Push(&ready, w)
			}
		}
	}
	return order, len(order) == len(needs)
}

// cycles is one error for each cycle that can be shown: every place in it named once.
func (g *Graph) cycles() diag.Diagnostics {
	var out diag.Diagnostics
	done := make([]bool, len(g.resources))
	// What is ordered from either end is on no cycle, nor between two.
	for _, ends := range [][2][][]int{{g.needs, g.neededBy}, {g.neededBy, g.needs}} {
		ordered, _ := sortTopologically(ends[0], ends[1])
		for _, v := range ordered {
			done[v] = true
		}
	}
	for v := range g.resources {
		if done[v] {
			continue
		}
		path := g.shortestCycle(v)
		if path == nil {
			continue
		}
		fresh := !slices.ContainsFunc(path, func(w int) bool { return done[w] })
		for _, w := range path {
			done[w] = true
		}
		if fresh {
			out = append(out, g.cycle(path))
		}
	}
	return out
}

// shortestCycle finds a shortest way from v back to v along needs, by breadth; nil when there is none.
func (g *Graph) shortestCycle(v int) []int {
	from := map[int]int{}
	queue := []int{v}
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		for _, x := range g.needs[w] {
			if x == v {
				path := []int{}
				for ; w != v; w = from[w] {
					path = append(path, w)
				}
				path = append(path, v)
				slices.Reverse(path)
				return path
			}
			if _, seen := from[x]; !seen {
				from[x] = w
				queue = append(queue, x)
			}
		}
	}
	return nil
}

func (g *Graph) cycle(path []int) diag.Diagnostic {
	var b strings.Builder
	b.WriteString("These resources depend on each other, so none of them can come first:\n")
	var first diag.Range
	for i, v := range path {
		e := g.edgeTo(v, g.resources[path[(i+1)%len(path)]])
		if i == 0 {
			first = e.Range
		}
		verb := "refers to"
		if e.SQL {
			verb = "reads"
		}
		fmt.Fprintf(&b, "  %s %s %s at %s\n", e.From, verb, e.To, Place(e.Range))
	}
	b.WriteString("Remove one of these uses.")
	d := diag.NewError(&first, "Cycle: "+strings.Join(texts(g.at(path)), ", "), b.String())
	d.Address, d.Context = g.resources[path[0]].String(), g.resources[path[0]].Header()
	return d
}

func (g *Graph) edgeTo(v int, to addr.Resource) Edge {
	i := slices.IndexFunc(g.edges[v], func(e Edge) bool { return e.To == to })
	return g.edges[v][i]
}

// Place is a place in a file as it stands in a sentence: main.sf.hcl line 3, column 7.
func Place(r diag.Range) string {
	return fmt.Sprintf("%s line %d, column %d", r.Filename, r.Start.Line, r.Start.Column)
}

func (g *Graph) at(places []int) []addr.Resource {
	out := make([]addr.Resource, len(places))
	for i, v := range places {
		out[i] = g.resources[v]
	}
	return out
}

func texts(as []addr.Resource) []string {
	out := make([]string, len(as))
	for i, a := range as {
		out[i] = a.String()
	}
	return out
}
