package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
)

// component is a pipeline before it has an ID. Members are in topological order.
type component struct {
	members []int
	trigger addr.Resource
}

// findComponents groups what rows connect, in the order of the first members' addresses.
func (g *Graph) findComponents() []component {
	root := make([]int, len(g.resources))
	for v := range root {
		root[v] = v
	}
	find := func(v int) int {
		for root[v] != v {
			root[v] = root[root[v]]
			v = root[v]
		}
		return v
	}
	for v, needs := range g.needs {
		for _, w := range needs {
			if Carries(g.resources[v]) && Carries(g.resources[w]) {
				root[find(v)] = find(w)
			}
		}
	}
	var out []component
	place := map[int]int{}
	for _, v := range g.order {
		if !Carries(g.resources[v]) {
			continue
		}
		i, ok := place[find(v)]
		if !ok {
			i = len(out)
			place[find(v)] = i
			out = append(out, component{})
		}
		out[i].members = append(out[i].members, v)
	}
	slices.SortFunc(out, func(a, b component) int { return cmp.Compare(a.members[0], b.members[0]) })
	return out
}

// triggers gives each component the one trigger that its members name.
func (g *Graph) triggers() diag.Diagnostics {
	var out diag.Diagnostics
	for i := range g.components {
		c := &g.components[i]
		var first Edge
		for _, v := range c.members {
			for _, e := range g.edges[v] {
				switch {
				case e.To.Block != addr.Trigger || e.To == c.trigger:
				case c.trigger == (addr.Resource{}):
					c.trigger, first = e.To, e
				default:
					out = append(out, twoTriggers(first, e))
				}
			}
		}
	}
	return out
}

func twoTriggers(first, second Edge) diag.Diagnostic {
	d := diag.NewError(&second.Range, "Two triggers in one pipeline", fmt.Sprintf(
		"%s asks for %s, but %s asks for %s at %s. Rows flow between the two, so they are one pipeline and run by one trigger: use the same one, or name it in one place only.",
		second.From, second.To, first.From, first.To, Place(first.Range)))
	d.Address, d.Context = second.From.String(), second.From.Header()
	return d
}

// Pipelines are the pipelines, in the order of their first members' addresses. An ID, once given, stays:
// recorded gives the ID a resource had so far (empty: none), and a pipeline keeps the one that most of its members had. When
// a pipeline was split, the part with most of the members keeps the ID; ties go by address. A pipeline without a recorded
// member gets newID of the source (without one, the member) with the smallest address.
func (g *Graph) Pipelines(recorded func(addr.Resource) string, newID func(first addr.Resource) string) []Pipeline {
	out := make([]Pipeline, len(g.components))
	var claims []claim
	for i, c := range g.components {
		out[i] = Pipeline{Members: g.at(c.members), Trigger: c.trigger}
		votes := map[string]int{}
		for _, a := range out[i].Members {
			if a.Block == addr.Source {
				out[i].Sources = append(out[i].Sources, a)
			}
			if id := recorded(a); id != "" {
				votes[id]++
			}
		}
		for id, n := range votes {
			claims = append(claims, claim{id, i, n})
		}
	}
	slices.SortFunc(claims, func(a, b claim) int {
		return cmp.Or(cmp.Compare(b.votes, a.votes), cmp.Compare(a.pipeline, b.pipeline), cmp.Compare(a.id, b.id))
	})
	taken := map[string]bool{}
	for _, c := range claims {
		if out[c.pipeline].ID == "" && !taken[c.id] {
			out[c.pipeline].ID = c.id
			taken[c.id] = true
		}
	}
	for i := range out {
		if out[i].ID == "" {
			named := out[i].Sources
			if len(named) == 0 {
				named = out[i].Members
			}
			out[i].ID = newID(slices.MinFunc(named, addr.Resource.Compare))
		}
	}
	return out
}

// claim is a pipeline's wish to keep an ID that some of its members had.
type claim struct {
	id       string
	pipeline int
	votes    int
}

// DOT is the graph in Graphviz's language. Arrows go the way rows go; what is no flow of rows is dashed.
func (g *Graph) DOT() string {
	var b strings.Builder
	b.WriteString("digraph {\n  rankdir = \"LR\";\n  node [shape = \"rect\"];\n")
	for _, a := range g.resources {
		fmt.Fprintf(&b, "  %q;\n", a.String())
	}
	for v, edges := range g.edges {
		seen := map[string]bool{}
		for _, e := range edges {
			var attributes []string
			if e.Side != "" {
				attributes = append(attributes, fmt.Sprintf("label = %q", e.Side))
			}
			if !Carries(g.resources[v]) || !Carries(e.To) {
				attributes = append(attributes, `style = "dashed"`)
			}
			line := fmt.Sprintf("  %q -> %q", e.To.String(), e.From.String())
			if len(attributes) > 0 {
				line += " [" + strings.Join(attributes, ", ") + "]"
			}
			if !seen[line] {
				seen[line] = true
				b.WriteString(line + ";\n")
			}
		}
	}
	b.WriteString("}\n")
	return b.String()
}
