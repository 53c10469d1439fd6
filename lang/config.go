// Package lang turns HCL files into a Config: complete values, references, source ranges, diagnostics.
package lang

import (
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/lang/schema"
	"github.com/zclconf/go-cty/cty"
)

// Config is a folder of *.sf.hcl files, evaluated: values without expressions
// left, so that nothing is known only after apply. It is never changed after Load.
type Config struct {
	Dir       string // the folder it was read from, absolute
	Settings  Settings
	Resources []Resource // ordered by address
	Outputs   []Output   // ordered by name
	Variables []Variable // ordered by name; the values the run was given
	Checks    []Check    // ordered by name
	Policies  []Policy   // ordered by name
	Moved     []Move     // in the order of files and lines
	// Repeated are the blocks with for_each or count, by address without a key. Those without instances are among them.
	Repeated map[addr.Resource]addr.Repetition
	Files    map[string][]byte // every file read, by the name diagnostics use, for snippets
}

// Settings is the streamform block, with its defaults.
type Settings struct {
	RequiredVersion string
	Backend         BackendRef
	Runtime         BackendRef
}

// BackendRef names a backend or runtime and its attributes.
type BackendRef struct {
	Type string // "local", "embedded"
	// Value is an object with the attributes of the type, null where not written:
	// local has path (text, of the state file), embedded has memory (text, a size); both may be absent.
	Value cty.Value
	Range diag.Range // of the block; zero when none was written
}

// Resource is one declared resource with complete values.
type Resource struct {
	Addr addr.Resource
	Kind schema.Kind
	// Value is an object of the kind's type: defaults filled in, unmarked. References
	// to resources are their address as a string.
	Value cty.Value
	// Written lists the attributes and blocks the user set, in the kind's order, so that a
	// default and the same value written out compare equal but are told apart in messages.
	Written   []string
	Refs      []Reference
	SQL       []SQL
	Lifecycle Lifecycle
	Range     diag.Range // the block's header
	// Keys lists the keys of the maps among the attributes in the order they were written, which Value does not keep, by
	// attribute as schema.FieldChange writes paths. A map without an entry was computed: nobody chose an order.
	Keys map[string][]string
	// AttrRanges gives the place of each attribute (and first block) set at the top of the block, by name.
	AttrRanges map[string]diag.Range
}

// Reference is one use of another resource in an HCL expression.
type Reference struct {
	To    addr.Resource
	Side  string // "malformed" in source.files.x.malformed; empty otherwise
	Attr  string // the attribute that holds it, as schema.FieldChange writes paths
	Range diag.Range
}

// SQL is one attribute that holds SQL, with the map from offsets in the text to
// places in the file it was written in (a heredoc, a quoted string, a .sql file).
type SQL struct {
	Attr string // as schema.FieldChange writes paths: sql, expect["positive"].condition
	Text string
	// Locate turns a stretch of Text (bytes, end exclusive) into the place a person wrote it.
	Locate func(start, end int) diag.Range
}

// Output is one output block.
type Output struct {
	Name        string
	Description string
	Value       cty.Value // unmarked
	Sensitive   bool
	Range       diag.Range
}

// Variable is one input variable and the value it has in this run.
type Variable struct {
	Name      string
	Value     cty.Value // unmarked
	Sensitive bool
}
