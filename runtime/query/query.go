// Package query turns SQL into operators and runs them over batches; the only room with DuckDB.
package query

import (
	"context"
	"time"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/admitted"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/runtime/query/memory"
	"github.com/streamform/streamform/runtime/query/scan"
	"github.com/streamform/streamform/runtime/query/stage"
	"github.com/streamform/streamform/runtime/query/statement"
)

// Name is one relation that a query reads, and where it stands in the text.
type Name = statement.Name

// Relation is what a query may read while it is compiled.
type Relation = compile.Relation

// Query asks for one compilation.
type Query = compile.Query

// Operator is one step of a program, for explain and for plan.
type Operator = compile.Operator

// Program is a compiled query.
type Program = compile.Program

// Compiler analyses SQL against relations that hold no rows.
type Compiler = compile.Compiler

// NewCompiler starts a compiler with the given number of workers.
func NewCompiler(ctx context.Context, workers int) (*Compiler, error) {
	return compile.NewCompiler(ctx, workers)
}

// Stager runs the statements a sink needs while a change can be read. It is connector.Stager's implementation, valid
// during the Deliver call that received it.
type Stager = stage.Stager

// Written describes a file that a Stager wrote.
type Written = stage.Written

// Shown is a view that an ad-hoc query reads, for Compiler.Lookups.
type Shown = compile.Shown

// Chosen shows no more of an operator's memory than some keys.
type Chosen = memory.Chosen

// Error is what is wrong with a query: a user's mistake, and where it is.
type Error = statement.Error

// Memory is what one operator remembered up to the last commit.
type Memory = memory.Memory

// Remember is what one operator's memory gains in an epoch.
type Remember = memory.Remember

// Unknown is what a change of a key that was not looked up says of its former value.
const Unknown = memory.Unknown

// Step is one relation to compute in an epoch. Steps are in topological order.
type Step struct {
	Relation string // bare name
	Program  *Program
	Memory   func(operator string) Memory
	// Shared numbers the operators whose keyed data other steps have, too: the first step with a number computes and remembers it.
	Shared map[string]uint64
	// Settled operators have their keyed data up to date: they give nothing, and what they read is not for them.
	Settled map[string]bool
	// Seed, if set: the relation is computed from what an old program of it remembers.
	Seed *Seed
	// Whole: the change is everything the view holds; nothing is computed, remembered or delivered.
	Whole bool
	// Former, if set, is the view's generation before: the change is what Memory's rows have that Former's have not, and the
	// other way round. Nothing is computed or remembered.
	Former *Held
	// Wide, with Former: columns that the former rows did not have count, as NULL there. Otherwise nobody looks at them.
	Wide bool
	// Deliver, if set, is called once with the relation's net change while it can be read. Empty changes are not delivered.
	Deliver func(ctx context.Context, change batch.Change, counts batch.Counts, s *Stager) error
}

// Input is the part of a source that an epoch reads.
type Input struct {
	Relation string // bare name
	Source   string // address, for _source of side relations
	Scan     batch.Scan
	Files    []batch.File
	Held     []HeldRows // read beside Files
	Keep     bool       // the rows are asked for as InputResult.Blocks
	// Again: the files were read before. What of them is set aside already (batch.File.Careful) is not remembered once more.
	Again   bool
	Epoch   int64                                                                                // written into the side relation's _epoch
	Deliver func(ctx context.Context, change batch.Change, counts batch.Counts, s *Stager) error // as Step.Deliver: a sink directly on a source
}

// HeldRows are rows of a source that an epoch admitted before, and that are read in place of its files.
type HeldRows = admitted.Rows

// Work is one epoch.
type Work struct {
	Inputs []Input
	Steps  []Step
	// Now is the clock of the epoch, in microseconds since 1970-01-01 UTC: what now() is in filters. It must not go backwards.
	Now int64
	// Careful reads every file with the slower scan that sets malformed records aside. Run asks for it with ErrCareful.
	Careful bool
	// Measure: every operator computes and counts its own rows, so that Result.Operators is exact. The epoch takes longer.
	Measure bool
	Clock   func() time.Time // times operators; nil: time.Now
}

// InputResult tells what became of an Input.
type InputResult struct {
	Rows      int64    // rows admitted
	FileRows  []int64  // the same per file of Input.Files
	Malformed int64    // records set aside
	Rescued   int64    // rows with a value that did not fit
	FileError []string // per file: why it is malformed as a whole, or empty
	Blocks    [][]byte // the rows, where Input.Keep asks for them
	// Sides are blocks for the memories of side relations, by name: malformed, rescued. A name is absent when nothing was set aside.
	Sides map[string][][]byte
}

// Result is what an epoch computed. Nothing of it is durable yet.
type Result struct {
	Inputs    []InputResult           // in Work.Inputs' order
	Relations map[string]batch.Counts // net changes by relation name
	Operators []Measured              // in the order they ran
	Remember  map[string][]Remember   // by relation name
	// Taken says of seeded relations what their keyed data was made from.
	Taken map[string]*evolve.Taken
	// Due says of relations whose Program is Temporal when their rows change next, though nothing they read does: a moment as Work.Now, or temporal.Never.
	Due map[string]int64
}

// SideColumns are the columns of a source's side relation (malformed, rescued); nil for any other name.
func SideColumns(side string) batch.Schema { return scan.SideColumns(side) }
