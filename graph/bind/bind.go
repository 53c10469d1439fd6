// Package bind gives every source, stream and view its columns, by asking a compiler and what was recorded before.
package bind

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/state"
)

// Relation is what a query may read while it is compiled.
type Relation struct {
	Name       string // "purchases", or "purchases.malformed" for a side relation
	Columns    batch.Schema
	AppendOnly bool
	Key        []string
	// Identity is the ID of what produces it, which stays while that is edited: it goes into the identity of its readers, which
	// then says what they do with it and not what it is.
	Identity string
	Held     bool `json:"-"` // the runtime holds its rows: a view that was applied
}

// Query asks for one compilation.
type Query struct {
	Addr      addr.Resource
	SQL       string
	Relations []Relation // exactly those the SQL names
	Stream    bool       // the result must be append-only
	Keys      []string   // declared key of a view; empty: derived
	Full      bool       `json:",omitempty"` // the whole query is to run again each epoch
}

// Compiled is what the compiler says of a query.
type Compiled struct {
	Columns    batch.Schema
	AppendOnly bool
	Key        []string
	Reads      []string
	Identity   string
	Operators  []state.Operator
}

// Source asks for the columns of one source.
type Source struct {
	Addr  addr.Resource
	Value cty.Value // complete, by the kind's type
	// Written names the columns that the source declares in the order they were written, which Value
	// does not keep; nil when none are declared, or when they were computed, so that nobody chose an order.
	Written []string
}

// Inferred is what a source offers to SQL.
type Inferred struct {
	Columns batch.Schema            // all that SQL can read, metadata columns included, types as DESCRIBE prints them
	Sides   map[string]batch.Schema // columns of its side relations by name ("malformed")
	Sampled bool                    // Columns were found in the data now rather than declared
	Files   int64                   // what the sample read; 0 when declared
	Bytes   int64
}

// Sink is a sink and the relation it delivers.
type Sink struct {
	Addr  addr.Resource
	Value cty.Value // complete, by the kind's type
	From  Relation
}

// Compiler answers what binding needs to know. It is called from two goroutines at once. Mistakes of the
// user are *graph.SQLError: with a place in the SQL for Compile, without one for the others.
type Compiler interface {
	// Compile binds one query.
	Compile(ctx context.Context, q Query) (Compiled, error)
	// Compare says what the step from one query of a resource to another means for what the runtime remembers. Both have been compiled
	// before, or were by an earlier version: a query that cannot be compiled any more is no mistake but replayed.
	Compare(ctx context.Context, before, after Query) (plan.Evolution, error)
	// Infer checks the columns a source declares, or finds them in its data.
	Infer(ctx context.Context, s Source) (Inferred, error)
	// CheckSink refuses a sink that cannot deliver its relation as asked.
	CheckSink(ctx context.Context, s Sink) error
}

// Input is what Bind works on.
type Input struct {
	Config   *lang.Config
	Graph    *graph.Graph
	State    *state.Document                 // nil: nothing recorded; moves are made already
	Former   map[addr.Resource]addr.Resource // what was moved since: new address → the one that queries were recorded with
	Replace  []addr.Resource                 // sources to look at anew, though nothing changed
	AnyCost  bool                            // views that refuse a full refresh are bound all the same
	Compiler Compiler
}

// Result is what Bind found. Maps hold an entry for each relation that could be bound.
type Result struct {
	Relations map[addr.Resource]state.Relation
	// IDs holds the ID of every resource, the recorded one where there is one.
	IDs map[addr.Resource]string
	// Evolutions holds the queries that mean, or read, something else than what is recorded.
	Evolutions map[addr.Resource]plan.Evolution
	Inferred   map[addr.Resource]Inferred // sources whose columns were sampled now
}
