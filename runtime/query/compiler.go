package query

import (
	"context"
	"errors"

	"github.com/streamform/streamform/runtime/batch"
)

// Compiler analyses SQL against relations that hold no rows. It reaches no file
// and no network. It is safe for concurrent use.
type Compiler struct{}

// NewCompiler starts a compiler with the given number of workers.
func NewCompiler(ctx context.Context, workers int) (*Compiler, error) {
	return nil, errors.New("not built yet")
}

// Close frees the compiler.
func (c *Compiler) Close() error { return nil }

// Names lists the relations a query reads, without CTEs, in the order they stand. A text that does
// not parse, or is not one SELECT, is an *Error with its place.
func (c *Compiler) Names(ctx context.Context, sql string) ([]Name, error) {
	return nil, errors.New("not built yet")
}

// Compile binds a query and turns it into operators. Mistakes of the user are *Error.
func (c *Compiler) Compile(ctx context.Context, q Query) (*Program, error) {
	return nil, errors.New("not built yet")
}

// Types checks DuckDB type texts, such as the columns of a source, and returns them as DESCRIBE prints them. A
// type that does not exist is an *Error whose Detail suggests one.
func (c *Compiler) Types(ctx context.Context, types []string) ([]string, error) {
	return nil, errors.New("not built yet")
}

// Program is a compiled query.
type Program struct {
	SQL         string // as given
	Columns     batch.Schema
	AppendOnly  bool
	Key         []string   // columns that identify a row; nil when none
	Reads       []string   // relation names as Relation.Name spells them
	Identity    string     // canonical form; equal identities mean equal results on equal input
	Operators   []Operator // inputs before their readers
	FullRefresh string     // why the whole query runs again each epoch; empty when it is incremental
}
