// Package schema says what a kind looks like, declared once: every reader of a kind (HCL, validation, plan, state, docs, Terraform) derives from its field list.
package schema

import (
	"fmt"

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
	CostRebuild   Cost = "rebuild_from_state" // computed again from rows the runtime holds
	CostColumns   Cost = "by_columns"         // the columns of a source: decided by comparing them
	CostHistory   Cost = "history"            // changes which rows would have been produced: needs history = keep or restate
	CostSemantics Cost = "by_meaning"         // SQL: decided by comparing the bound queries
	CostReplay    Cost = "replay_from_source" // the source must be read again
	CostRecreate  Cost = "recreate"           // an outside object that cannot be altered is made anew
)

// Costs lists every cost, from nothing to everything.
func Costs() []Cost {
	return []Cost{CostNone, CostInPlace, CostCreation, CostRebuild, CostColumns, CostHistory, CostSemantics, CostReplay, CostRecreate}
}

// Kind is one thing that can be declared.
type Kind struct {
	Block   addr.Block
	Type    string        // "files" in source "files"; empty for stream and view
	Doc     string        // one sentence
	New     func() Config // a fresh configuration holding the defaults
	Example string        // HCL that decodes, shown in the reference
	// Sides names the side relations of a source, stream or view of this kind
	// (malformed, files): SQL reads them as purchases.malformed, HCL refers to them as source.files.purchases.malformed.
	Sides []string

	fields []Field // as New lists them; nil until Prepared
}

// Name is the kind's name: source.files, view.
func (k Kind) Name() string { return addr.Resource{Block: k.Block, Type: k.Type, Name: "x"}.Kind() }

// Fields lists the fields of the kind, with their defaults. Do not change them.
func (k Kind) Fields() []Field {
	if k.fields != nil {
		return k.fields
	}
	return k.New().Fields()
}

// Prepared is the kind with its fields listed once, for those who ask for them often.
func (k Kind) Prepared() Kind {
	k.fields = k.New().Fields()
	return k
}

// Field finds a field at the top of the kind by its name.
func (k Kind) Field(name string) (Field, bool) {
	for _, f := range k.Fields() {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

// ValueType is the type of the kind's complete values: an object with one attribute
// per field; a block is an object (null when absent), a repeated block a list of
// objects (empty when absent).
func (k Kind) ValueType() cty.Type { return objectType(k.Fields()) }

// Config is a kind's configuration: a struct of Go variables and the list of its fields.
type Config interface {
	// Fields lists the fields in the order of the reference page. Each points into
	// the receiver, whose values at the time of the call become the defaults.
	Fields() []Field
}

// Formats that say how the text of a field is read.
const (
	FormatDuration  = "duration"
	FormatSize      = "size"
	FormatReference = "reference"
	FormatSQL       = "sql"
)

// Field is one attribute or nested block of a kind.
type Field struct {
	Name      string
	Doc       string
	Type      cty.Type // of the attribute, or of the object inside a block
	Format    string   // how the text is read, one of the Format constants; empty for plain values
	Required  bool
	Default   cty.Value // cty.NilVal when there is none; the value is then null
	Secret    bool      // must be a secret reference; never shown or stored in clear
	Cost      Cost
	OneOf     []string
	Min, Max  cty.Value    // bounds, inclusive, as numbers (nanoseconds, bytes); cty.NilVal when there is none
	Refs      bool         // the value is a reference to a resource
	RefBlocks []addr.Block // what it may refer to; empty: any relation
	SQLText   bool         // the value is SQL
	Block     bool         // written as a block rather than an attribute
	Repeated  bool         // several blocks allowed
	Labeled   bool         // the block has one label, stored as "name"
	Nested    []Field      // fields of the block
	checks    []func(cty.Value) error
	set       func(cty.Value) error
	same      func(a, b cty.Value) bool
}

// ValueType is the type of the field's value inside the kind's object.
func (f Field) ValueType() cty.Type {
	if f.Repeated {
		return cty.List(f.Type)
	}
	return f.Type
}

// Check reports what is wrong with a known, complete value of the field, as a
// sentence for the user; nil when it is fine.
func (f Field) Check(v cty.Value) error {
	if v.IsNull() {
		return nil
	}
	for _, check := range f.checks {
		if err := check(v); err != nil {
			return err
		}
	}
	return nil
}

// Bind fills a fresh configuration of the kind from a complete value. Values that
// passed Complete never fail; an error means the value came from a document of another version.
func (k Kind) Bind(v cty.Value) (Config, error) {
	cfg := k.New()
	if err := bindFields(cfg.Fields(), v); err != nil {
		return nil, fmt.Errorf("reading %s: %w", k.Name(), err)
	}
	return cfg, nil
}

// bindFields fills the variables the fields point at. What is null or missing keeps its default.
func bindFields(fields []Field, v cty.Value) error {
	if v.IsNull() || !v.Type().IsObjectType() {
		return fmt.Errorf("an object was expected")
	}
	for _, f := range fields {
		if !v.Type().HasAttribute(f.Name) {
			continue
		}
		got := v.GetAttr(f.Name)
		if got.IsNull() {
			continue
		}
		if err := f.set(got); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

func objectType(fields []Field) cty.Type {
	attrs := make(map[string]cty.Type, len(fields))
	for _, f := range fields {
		attrs[f.Name] = f.ValueType()
	}
	return cty.Object(attrs)
}
