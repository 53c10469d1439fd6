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
	Full      bool       // the whole query runs again each epoch, also where it could be incremental; not with Stream
}

// Operator is one step of a program, for explain and for plan.
type Operator struct {
	ID         string // stable within the program: names its keyed data
	Kind       string // linear, aggregate, window, join, top, set, temporal, rows, input, full_refresh
	Identity   string
	Detail     string   // one line for people: group keys, aggregates, what is filtered
	Inputs     []string // operator IDs, or relation names
	AppendOnly bool     // rows it gives are never taken back
	Holds      string   // what it remembers: "nothing", "partials per key", "input rows"
	Cost       Cost     // per epoch
	Reason     string   // why it costs more than operators of its kind do; full_refresh: why
	Rewrite    string   // how to write the query so that it does not, in sentences; set with Reason only
}

// Cost is what an operator does in an epoch.
type Cost struct {
	Words   string // for people
	Formula string // in the letters of CostLetters
}

// CostLetters says what the letters in formulas count, in the order people should read them.
func CostLetters() [][2]string {
	return [][2]string{
		{"d", "rows that changed in the epoch"},
		{"k", "keys that these rows touch"},
		{"r", "rows remembered for these keys"},
		{"n", "all rows remembered"},
	}
}

// ResultID names the operator that holds a relation's rows where no other does.
const ResultID = "result"

// InputID names the operator that holds all rows of an input, for a full refresh.
func InputID(leaf string) string { return "input " + leaf }
