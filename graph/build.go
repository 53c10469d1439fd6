package graph

import (
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
)

// Graph holds the edges of one configuration, in both directions. It is never changed after Build.
type Graph struct{}

// Build finds the edges of a configuration. The graph is nil when a diagnostic is an error.
func Build(cfg *lang.Config, analyze Analyze) (*Graph, diag.Diagnostics) {
	return nil, diag.Diagnostics{diag.NewError(nil, "not built yet", "")}
}

// Order is a topological order: everything stands behind what it depends on.
func (g *Graph) Order() []addr.Resource { return nil }

// Edges are the edges out of a resource, in the order they are written.
func (g *Graph) Edges(a addr.Resource) []Edge { return nil }

// Dependencies are the resources a depends on directly, by address.
func (g *Graph) Dependencies(a addr.Resource) []addr.Resource { return nil }

// Dependents are the resources that depend on a directly, by address.
func (g *Graph) Dependents(a addr.Resource) []addr.Resource { return nil }

// Pipelines are the pipelines; recorded gives the ID a resource had before, newID makes one for the first source's name.
func (g *Graph) Pipelines(recorded func(addr.Resource) string, newID func(first addr.Resource) string) []Pipeline {
	return nil
}

// DOT is the graph in Graphviz's language.
func (g *Graph) DOT() string { return "" }
