// Package diag holds diagnostics: what is wrong with what the user wrote, where, and how to mend it.
package diag

import "fmt"

// Severity tells an error, which stops the operation, from a warning.
type Severity string

// The two severities, spelled as machine-readable output spells them.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Pos is a place in a file. Line and Column count from 1 (Column in characters
// as a person sees them), Byte counts from 0.
type Pos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// Range is a stretch of a file, End exclusive. Filename is relative to the
// working directory where that is shorter.
type Range struct {
	Filename string `json:"filename"`
	Start    Pos    `json:"start"`
	End      Pos    `json:"end"`
}

// String is the range as messages cite it: main.sf.hcl:4,3-13.
func (r Range) String() string {
	if r.Start.Line == r.End.Line {
		return fmt.Sprintf("%s:%d,%d-%d", r.Filename, r.Start.Line, r.Start.Column, r.End.Column)
	}
	return fmt.Sprintf("%s:%d,%d-%d,%d", r.Filename, r.Start.Line, r.Start.Column, r.End.Line, r.End.Column)
}

// Value is one value shown below a snippet: Traversal as written, Statement
// what it is ("is 3", "is a list of string with 2 elements").
type Value struct {
	Traversal string `json:"traversal"`
	Statement string `json:"statement"`
}

// Diagnostic is one finding. Summary is a short sentence without a full stop;
// Detail says what to do about it.
type Diagnostic struct {
	Severity Severity
	Code     string // stable, such as SF1042; may be empty
	Summary  string
	Detail   string
	Address  string  // the resource it belongs to, if any
	Subject  *Range  // what is wrong; nil when nothing in a file is
	Context  string  // the block around it: view "sales"
	Values   []Value // what the expressions involved evaluated to
	Call     string  // name of the function being called, if any
	Alone    bool    // says something of its own, so it is never folded into a warning with the same summary
}

// Diagnostics is a list of findings. A nil list is none.
type Diagnostics []Diagnostic

// Failed reports whether any finding is an error.
func (ds Diagnostics) Failed() bool {
	for _, d := range ds {
		if d.Severity == Error {
			return true
		}
	}
	return false
}

// NewError is an error about the given range (nil: none).
func NewError(subject *Range, summary, detail string) Diagnostic {
	return Diagnostic{Severity: Error, Summary: summary, Detail: detail, Subject: subject}
}

// NewWarning is a warning about the given range (nil: none).
func NewWarning(subject *Range, summary, detail string) Diagnostic {
	return Diagnostic{Severity: Warning, Summary: summary, Detail: detail, Subject: subject}
}
