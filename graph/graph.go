// Package graph knows what depends on what: edges, order, cycles, pipelines.
package graph

import (
	"slices"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
)

// Name is one relation that an SQL text reads, and where it stands in the text.
type Name struct {
	Schema   string // "purchases" in purchases.malformed; empty for a bare name
	Relation string
	Start    int // bytes, End exclusive
	End      int
}

// Analyze lists the relations an SQL text reads, CTEs left out, in the order they stand. What the user got
// wrong is a *SQLError; anything else is a failure of the machine.
type Analyze func(sql string) ([]Name, error)

// SQLError is what is wrong with an SQL text or with a resource: a user's mistake. Start and End are
// byte offsets in the text, equal when the place is unknown.
type SQLError struct {
	Summary string
	Detail  string
	Start   int
	End     int
	Attr    string // the attribute that is wrong, when it is not the SQL and known
}

func (e *SQLError) Error() string { return e.Summary + ": " + e.Detail }

// Edge says that From needs To.
type Edge struct {
	From, To addr.Resource
	Side     string     // "malformed" when From reads a side relation of To; else empty
	Attr     string     // the attribute that makes the edge
	SQL      bool       // found in SQL rather than in an HCL reference
	Range    diag.Range // where it is written
}

// Pipeline is a connected set of sources, streams, views and sinks: the unit of progress.
type Pipeline struct {
	ID      string          // stable; see Pipelines
	Members []addr.Resource // in topological order
	Sources []addr.Resource // the members that are sources, in the same order
	Trigger addr.Resource   // zero: epochs run as soon as there is data
}

// Order is a topological order: everything stands behind what it depends on. It depends on
// the edges and addresses alone, not on where things are written.
func (g *Graph) Order() []addr.Resource { return g.at(g.order) }

// Edges are the edges out of a resource, in the order they are written.
func (g *Graph) Edges(a addr.Resource) []Edge {
	if v, ok := g.index[a]; ok {
		return g.edges[v]
	}
	return nil
}

// Dependencies are the resources a depends on directly, by address.
func (g *Graph) Dependencies(a addr.Resource) []addr.Resource { return g.neighbours(a, g.needs) }

// Dependents are the resources that depend on a directly, by address.
func (g *Graph) Dependents(a addr.Resource) []addr.Resource { return g.neighbours(a, g.neededBy) }

func (g *Graph) neighbours(a addr.Resource, of [][]int) []addr.Resource {
	if v, ok := g.index[a]; ok {
		return g.at(of[v])
	}
	return nil
}

// Carries reports whether rows flow through a resource: sources, streams, views and sinks,
// but not triggers and monitors.
func Carries(a addr.Resource) bool { return a.Block.IsRelation() || a.Block == addr.Sink }

// Inputs are the relations whose rows flow into a directly, by address.
func (g *Graph) Inputs(a addr.Resource) []addr.Resource {
	if !Carries(a) {
		return nil
	}
	return slices.DeleteFunc(g.Dependencies(a), func(d addr.Resource) bool { return !Carries(d) })
}

// Readers are the streams, views and sinks into which a's rows flow directly, by address.
func (g *Graph) Readers(a addr.Resource) []addr.Resource {
	if !Carries(a) {
		return nil
	}
	return slices.DeleteFunc(g.Dependents(a), func(d addr.Resource) bool { return !Carries(d) })
}
