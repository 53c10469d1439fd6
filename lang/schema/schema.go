// Package schema says what a kind looks like, declared once: every reader of a kind (HCL, validation, plan, state, docs, Terraform) derives from its field list.
package schema

import (
	"fmt"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/zclconf/go-cty/cty"
)

// Cost is what changing a field's value means for the data.
type Cost string

// Costs, from nothing to everything. The letters are those of the option tables in the reference.
const (
	CostNone      Cost = "noop"               // not in the data and not in the runtime
	CostInPlace   Cost = "in_place"           // takes effect at the next epoch
	CostCreation  Cost = "creation_only"      // read when the resource is created; a later change does nothing and warns
	CostHistory   Cost = "history"            // changes which rows would have been produced: needs history = keep or restate
	CostReplay    Cost = "replay_from_source" // the source must be read again
	CostRebuild   Cost = "rebuild_from_state" // computed again from rows the runtime holds
	CostRecreate  Cost = "recreate"           // an outside object that cannot be altered is made anew
	CostSemantics Cost = "by_meaning"         // SQL: decided by comparing the bound queries
)

// Kind is one thing that can be declared.
type Kind struct {
	Block   addr.Block
	Type    string        // "files" in source "files"; empty for stream and view
	Doc     string        // one sentence
	New     func() Config // a fresh configuration holding the defaults
	Example string        // HCL that decodes, shown in the reference
}

// Name is the kind's name: source.files, view.
func (k Kind) Name() string { return addr.Resource{Block: k.Block, Type: k.Type, Name: "x"}.Kind() }

// Config is a kind's configuration: a struct of Go variables and the list of its fields.
type Config interface {
	// Fields lists the fields in the order of the reference page. Each points into the receiver.
	Fields() []Field
}

// Duration is written as text: "90s", "1h30m", "7d". It is stored as text in values.
type Duration time.Duration

// Size is a number of bytes, written as text: "64MB" (10^6), "64MiB" (2^20), or a plain number.
type Size int64

// Ref is a reference to another resource (stream.x, view.y, source.files.z.malformed); it is
// stored as text in values.
type Ref string

// SQL is query or expression text; changing it is judged by meaning, not by text.
type SQL string

// Field is one attribute or nested block of a kind.
type Field struct {
	Name      string
	Doc       string
	Type      cty.Type // of the attribute, or of the object inside a block
	Required  bool
	Default   cty.Value // cty.NilVal when there is none; the value is then null
	Secret    bool      // must be a secret reference; never shown or stored in clear
	Cost      Cost
	OneOf     []string
	Refs      bool         // the value is a reference to a resource
	RefBlocks []addr.Block // what it may refer to
	SQLText   bool         // the value is SQL
	Block     bool         // written as a block rather than an attribute
	Repeated  bool         // several blocks allowed
	Labeled   bool         // the block has one label, stored as "name"
	Nested    []Field      // fields of the block
	check     func(cty.Value) error
	set       func(cty.Value) error
}

// Check reports what is wrong with a known, complete value of the field, as a
// sentence for the user; nil when it is fine.
func (f Field) Check(v cty.Value) error {
	if f.check == nil || v.IsNull() {
		return nil
	}
	return f.check(v)
}

// Bind fills a fresh configuration of the kind from a complete value. Values that
// passed Check never fail; an error means the value came from a document of another version.
func (k Kind) Bind(v cty.Value) (Config, error) {
	cfg := k.New()
	if err := bindFields(cfg.Fields(), v); err != nil {
		return nil, fmt.Errorf("reading %s: %w", k.Name(), err)
	}
	return cfg, nil
}
