// Package compile binds SQL against relations and turns it into a program of operators.
package compile

import "github.com/streamform/streamform/runtime/batch"

// Relation is what a query may read while it is compiled.
type Relation struct {
	Name       string // "purchases", or "purchases.malformed" for a side relation
	Columns    batch.Schema
	AppendOnly bool
	Key        []string
	Identity   string // identity of what produces it; goes into the identity of its readers
}

// Query asks for one compilation.
type Query struct {
	SQL       string
	Relations []Relation // all that could be read; those not read cost nothing
	Stream    bool       // the result must be append-only; an *Error explains when it cannot be
	Keys      []string   // declared key of a view; empty: derived
}

// Operator is one step of a program, for explain and for plan.
type Operator struct {
	ID       string // stable within the program: names its keyed data
	Kind     string // scan, linear, aggregate, full_refresh
	Identity string
	Detail   string   // one line for people: group keys, aggregates, what is filtered
	Inputs   []string // operator IDs, or relation names
	Holds    string   // what it remembers: "nothing", "partials per key", "input rows"
	Reason   string   // full_refresh: why
}

// ResultID names the operator that holds a relation's rows where no other does.
const ResultID = "result"

// InputID names the operator that holds all rows of an input, for a full refresh.
func InputID(leaf string) string { return "input " + leaf }
