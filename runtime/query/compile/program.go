package compile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/fuse"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/rewrite"
	"github.com/streamform/streamform/runtime/query/statement"
)

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
	Rewrite     string     // how to write the query so that it does not, in sentences
	Temporal    bool       // rows go in and out as time passes, without a change of what is read
	// Initial: the relation has rows before any input has come (an aggregate over
	// nothing has one row), so it needs an epoch without input.
	Initial bool

	// What the engine runs.
	Body        string                  // the SQL without a closing semicolon
	Stream      bool                    // rows are never taken back, and not held
	AppendRead  map[string]bool         // leaf → its rows are never taken back
	LeafColumns map[string]batch.Schema // leaf → its columns, of every relation read
	Steps       []Stateful              // inputs before their readers
	Final       string                  // SQL over leaves whose columns are the relation's, in order; empty: run Body
	Faithful    bool                    // Final's rows differ where those of the one operator below it do: see logical.Split
	EachGroup   bool                    // it is Faithful and leaves none of them out
	Form        logical.Form            // of the relation's rows, where Final is set
	Linear      bool                    // Body itself, run over new rows, gives the new rows
	// Used are the columns read of each leaf, in lower case; a leaf that is absent is read whole.
	Used map[string]map[string]bool

	identities map[string]string // leaf → Relation.Identity
	full       bool              // Query.Full
}

// aggregate is a logical aggregate with the types DuckDB gives its columns.
type Aggregate struct {
	*logical.Aggregate
	GroupTypes   []string
	PartialTypes []string
	OutputTypes  []string // groups, then finals
}

// storedPrefix begins the names of operators' outputs in SQL.
const storedPrefix = "sf$op"

// build fills the program from the bound plan: incremental where it can be, else
// with the reason why not.
func (p *Program) build(b *binding, doc []byte) error {
	p.AppendRead, p.LeafColumns, p.identities = map[string]bool{}, map[string]batch.Schema{}, map[string]string{}
	allAppend := true
	var sources []string
	for leaf, r := range b.relations {
		p.AppendRead[leaf] = r.AppendOnly
		p.LeafColumns[leaf], p.identities[leaf] = r.Columns, r.Identity
		allAppend = allAppend && r.AppendOnly
		sources = append(sources, leaf+"="+r.Identity)
	}
	slices.Sort(sources)
	err := p.incremental(b, doc)
	var reason *bound.Unsupported
	if err == nil {
		return nil
	}
	if !errors.As(err, &reason) || p.Temporal {
		return err
	}
	if p.Identity == "" {
		if p.Identity, err = logical.RawIdentity(doc, sources); err != nil {
			return err
		}
	}
	p.Steps, p.Final = nil, ""
	if err := b.runsAsWritten(p.Body); err != nil {
		return err
	}
	if op, err := bound.Decode(doc); err == nil && !p.full && logical.Linear(op) && allAppend && len(p.Reads) > 0 {
		p.Linear, p.AppendOnly = true, true
		p.describeLinear("filters and expressions, as written")
		return nil
	}
	p.FullRefresh, p.Rewrite = reason.Reason, reason.By.Rewrite()
	p.Initial = true
	p.describeRefresh()
	return nil
}

func (p *Program) incremental(b *binding, doc []byte) error {
	if p.full && !p.Temporal {
		return bound.Unsupportedf(bound.ByForm, "its view asks for it")
	}
	op, err := bound.Decode(doc)
	if err != nil {
		return err
	}
	if p.Temporal {
		if op, err = rewrite.LiftClocks(op, doc); err != nil {
			return err
		}
	}
	op = rewrite.Presence(op)
	meaning, err := logical.Canonical(op, p.source)
	if err != nil {
		return err
	}
	p.Identity = meaning
	if op, err = rewrite.Plan(op); err != nil {
		return err
	}
	err = p.operators(b, op, fuse.Windows)
	var unproven *bound.Unsupported
	if errors.As(err, &unproven) {
		p.Steps, p.Initial = nil, false
		err = p.operators(b, op, func(*logical.Split) bool { return false })
	}
	if err != nil {
		return err
	}
	p.Identity = p.identity(meaning)
	p.describeIncremental()
	return nil
}

// operators cuts a plan, and declares what it is cut into. fuse puts operators together, where it finds some.
func (p *Program) operators(b *binding, op *bound.Op, fuse func(*logical.Split) bool) error {
	cut, err := logical.Cut(op, storedPrefix, func(leaf string) bool { return p.AppendRead[leaf] })
	if err != nil {
		return err
	}
	if err := cut.Identify(p.source); err != nil {
		return err
	}
	cut.Merge()
	if fuse(&cut) {
		if err := cut.Identify(p.source); err != nil {
			return err
		}
	}
	p.Form = cut.Form
	for _, o := range cut.Operators {
		typed, err := b.declareOperator(o)
		if err != nil {
			return err
		}
		p.Steps = append(p.Steps, typed)
		p.Initial = p.Initial || o.Aggregate != nil && o.Aggregate.Scalar() || o.Keyed != nil && o.Keyed.Global() && o.Keyed.Kind == "aggregate"
	}
	if err := b.prove(cut.FinalTree, cut.Final.SQL); err != nil {
		return err
	}
	if p.Final, err = finish(cut.Final, p.Columns); err != nil {
		return err
	}
	p.AppendOnly, p.Faithful = !cut.Retracts, cut.Faithful
	p.EachGroup = cut.Faithful && onlyProjects(cut.FinalTree)
	p.Used = used(cut)
	for _, i := range cut.Key {
		p.Key = append(p.Key, p.Columns[i].Name)
	}
	return nil
}

// onlyProjects reports that every row of a stored leaf becomes one row.
func onlyProjects(op *bound.Op) bool {
	for op.Stored == "" {
		if op.Type != "LOGICAL_PROJECTION" {
			return false
		}
		op = op.Children[0]
	}
	return true
}

// source tells canonical forms of a relation that is read.
func (p *Program) source(leaf string) logical.Source {
	s := logical.Source{Identity: p.identities[leaf], Types: map[string]string{}}
	for _, c := range p.LeafColumns[leaf] {
		s.Types[strings.ToLower(c.Name)] = c.Type
	}
	return s
}

// identity is that of an incremental program: what it means, and the form of what it remembers.
func (p *Program) identity(meaning string) string {
	parts := []string{meaning, fmt.Sprint(p.AppendOnly)}
	for _, o := range p.Steps {
		parts = append(parts, Remembers(o))
	}
	return logical.Digest(parts...)
}

// RelationForm is the form of all rows of a relation that is read.
func (p *Program) RelationForm(leaf string) logical.Form {
	names := make([]string, len(p.LeafColumns[leaf]))
	for i, c := range p.LeafColumns[leaf] {
		names[i] = c.Name
	}
	return logical.RelationForm(leaf, p.source(leaf), names)
}

// used finds the columns that the operators and the last part of a cut plan read.
func used(cut logical.Split) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	logical.Used(cut.FinalTree, out)
	for _, o := range cut.Operators {
		switch {
		case o.Aggregate != nil:
			logical.Used(o.Aggregate.Tree, out)
		case o.Temporal != nil:
			logical.Used(o.Temporal.Input.Tree, out)
		default:
			for _, in := range o.Keyed.Inputs {
				logical.Used(in.Tree, out)
			}
		}
	}
	return out
}

// finish names the final SQL's columns as the relation names them, and makes sure of their types.
func finish(r logical.Rendered, columns batch.Schema) (string, error) {
	if r.Columns != len(columns) {
		return "", bound.Unsupportedf(bound.ByForm, "a result whose columns could not be followed")
	}
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = fmt.Sprintf("CAST(c%d AS %s) AS %s", i, c.Type, bound.Ident(c.Name))
	}
	return "SELECT " + strings.Join(parts, ", ") + " FROM (" + r.SQL + ")", nil
}

// asTables reads every leaf from the empty table of its name.
func asTables(sql string) string {
	text, _ := logical.Replace(sql, func(name string) (string, error) { return LeafTable(name), nil })
	return text
}

func (b *binding) declareOperator(o logical.Operator) (Stateful, error) {
	switch {
	case o.Keyed != nil:
		return b.declareKeyed(o.Keyed)
	case o.Temporal != nil:
		return b.declareTemporal(o.Temporal)
	}
	return b.declareAggregate(o.Aggregate)
}

// declareKeyed finds the types of a keyed operator's columns, proves its SQL, and declares its output as a table.
func (b *binding) declareKeyed(k *logical.Keyed) (Keyed, error) {
	out := Keyed{Keyed: k, KeepsInput: !k.Best || slices.ContainsFunc(logical.Leaves(k.Inputs[0].SQL), func(leaf string) bool { return !isOperator(leaf) })}
	for i, in := range k.Inputs {
		if err := b.prove(in.Tree, in.SQL); err != nil {
			return out, err
		}
		list := make([]string, 0, len(in.Keys)+1)
		for j, key := range in.Keys {
			list = append(list, fmt.Sprintf("%s AS k%d", key, j))
		}
		columns, err := b.describe(asTables("SELECT " + strings.Join(append(list, "*"), ", ") + " FROM (" + in.SQL + ")"))
		if err != nil || len(columns) != len(in.Keys)+in.Columns {
			return out, bound.Unsupportedf(bound.ByProof, "an input whose columns could not be written as SQL")
		}
		if err := rememberable(columns[:len(in.Keys)], columns[len(in.Keys):]); err != nil {
			return out, err
		}
		if i == 0 {
			out.KeyTypes = typesOf(columns[:len(in.Keys)])
		} else if !slices.Equal(out.KeyTypes, typesOf(columns[:len(in.Keys)])) {
			return out, bound.Unsupportedf(bound.ByKeys, "a join whose keys differ in type")
		}
		out.InputTypes = append(out.InputTypes, typesOf(columns[len(in.Keys):]))
		b.table(logical.InputLeaf(i), columns[len(in.Keys):])
	}
	if err := b.prove(k.Tree, k.Body); err != nil {
		return out, err
	}
	columns, err := b.describe(asTables(k.Body))
	if err != nil || len(columns) != k.Columns {
		return out, bound.Unsupportedf(bound.ByProof, "an operator whose result could not be written as SQL")
	}
	out.OutputTypes = typesOf(columns)
	b.table(k.ID, Positional(out.OutputTypes))
	return out, nil
}

// table declares an operator's input or output.
func (b *binding) table(name string, columns batch.Schema) {
	b.pending[name] = "CREATE OR REPLACE TABLE " + bound.Ident(name) + "(" + ColumnList(columns) + ")"
}

func typesOf(columns batch.Schema) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.Type
	}
	return out
}

// rememberable refuses types that keyed data has no form for: as keys also those that SQL compares otherwise than by their bytes.
func rememberable(keys, values batch.Schema) error {
	for i, c := range append(slices.Clone(keys), values...) {
		if strings.Contains(c.Type, "UNION(") || strings.Contains(c.Type, "VARIANT") || strings.Contains(c.Type, "BIGNUM") {
			return bound.Unsupportedf(bound.ByType, "remembered values of type %s", c.Type)
		}
		if i < len(keys) && strings.Contains(c.Type, "INTERVAL") {
			return bound.Unsupportedf(bound.ByKeys, "keys of type %s", c.Type)
		}
	}
	return nil
}

// declareAggregate finds the types of an aggregate's columns and declares its output as a table for what reads it.
func (b *binding) declareAggregate(a *logical.Aggregate) (Aggregate, error) {
	out := Aggregate{Aggregate: a}
	if err := b.prove(a.Tree, a.Input); err != nil {
		return out, err
	}
	types, err := b.describe(asTables(PartialSQL(a, a.Input)))
	if err != nil {
		return out, bound.Unsupportedf(bound.ByProof, "an aggregate whose parts could not be written as SQL")
	}
	if err := rememberable(types[:len(a.Groups)], types[len(a.Groups):]); err != nil {
		return out, err
	}
	for i, c := range types {
		if i < len(a.Groups) {
			out.GroupTypes = append(out.GroupTypes, c.Type)
		} else {
			out.PartialTypes = append(out.PartialTypes, c.Type)
		}
	}
	out.OutputTypes = append(slices.Clone(out.GroupTypes), a.FinalTypes...)
	b.table(a.ID, Positional(out.OutputTypes))
	return out, nil
}

// PartialSQL computes an aggregate's groups g0, g1, … and partials p0, p1, … over an input.
func PartialSQL(a *logical.Aggregate, input string) string {
	var list []string
	for i, g := range a.Groups {
		list = append(list, fmt.Sprintf("%s AS g%d", g, i))
	}
	for i, p := range a.Partials {
		list = append(list, fmt.Sprintf("%s AS p%d", p.Expr, i))
	}
	sql := "SELECT " + strings.Join(list, ", ") + " FROM (" + input + ")"
	if len(a.Groups) > 0 {
		sql += " GROUP BY ALL"
		if len(a.Partials) == 0 {
			sql = strings.Replace(sql, "SELECT ", "SELECT DISTINCT ", 1)
			sql = strings.TrimSuffix(sql, " GROUP BY ALL")
		}
	}
	return sql
}

// OutputList is the select list that turns groups and partials into the output's columns c0, c1, ….
func OutputList(a *logical.Aggregate) []string {
	var list []string
	for i := range a.Groups {
		list = append(list, fmt.Sprintf("g%d AS c%d", i, i))
	}
	for i, f := range a.Finals {
		list = append(list, fmt.Sprintf("%s AS c%d", f, len(a.Groups)+i))
	}
	return list
}

// setKey checks declared keys, or keeps the derived ones.
func (p *Program) setKey(declared []string) error {
	if len(declared) == 0 {
		return nil
	}
	p.Key = nil
	for _, k := range declared {
		i := slices.IndexFunc(p.Columns, func(c batch.Column) bool { return strings.EqualFold(c.Name, k) })
		if i < 0 {
			return &statement.Error{Summary: "Key is not a column", Detail: fmt.Sprintf("keys names %q, which is not among the result's columns: %s.", k, columnNames(p.Columns))}
		}
		p.Key = append(p.Key, p.Columns[i].Name)
	}
	return nil
}

func columnNames(columns batch.Schema) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return strings.Join(names, ", ")
}
