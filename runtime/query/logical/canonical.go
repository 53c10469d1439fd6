package logical

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"github.com/streamform/streamform/runtime/query/bound"
	"slices"
	"strings"
)

// canon is the canonical form of a step: where its rows come from, which
// predicates keep them, and what each column is in terms of the relations read.
type canon struct {
	base  string
	arms  []string // of a UNION ALL that is the base
	preds []string
	cols  []string
}

// Source is the relation behind a scan.
type Source struct {
	Identity string            // empty: its name is
	Types    map[string]string // of its columns, by name in lower case; nil where types do not matter
}

// Canonical is a text equal for plans of equal meaning: aliases, the order of
// predicates, the direction of comparisons, projections in between and CTEs do
// not matter. source tells of the relation behind a scan.
func Canonical(op *bound.Op, source func(leaf string) Source) (string, error) {
	z := &canonizer{source: source}
	c, err := z.canon(bound.StripOrder(op))
	if err != nil {
		return "", err
	}
	return c.query(), nil
}

// query is the canonical form as one text.
func (c canon) query() string {
	return Digest(append([]string{"query", c.seal()}, shown(c.cols)...)...)
}

// shown gives columns that nobody reads, and that have no name, the form in which they are rendered.
func shown(cols []string) []string {
	out := slices.Clone(cols)
	for i, c := range out {
		if c == "" {
			out[i] = "CAST(NULL AS INTEGER)"
		}
	}
	return out
}

// RawIdentity is the identity of a plan that has no canonical form: its JSON
// without places and aliases. Equal texts are equal meanings; the converse need not hold.
func RawIdentity(doc []byte, sources []string) (string, error) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return "", fmt.Errorf("decoding the bound plan: %w", err)
	}
	text, err := json.Marshal(strip(v))
	if err != nil {
		return "", fmt.Errorf("encoding the bound plan: %w", err)
	}
	return Digest(append([]string{"raw", string(text)}, sources...)...), nil
}

func strip(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range []string{"query_location", "alias", "extra_info"} {
			delete(v, k)
		}
		for k, e := range v {
			v[k] = strip(e)
		}
	case []any:
		for i, e := range v {
			v[i] = strip(e)
		}
	}
	return v
}

// Digest is one short text for several.
func Digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (c canon) arm() string { return Digest(append([]string{"arm", c.seal()}, shown(c.cols)...)...) }

// seal fixes the rows of a step as one short text.
func (c canon) seal() string {
	if len(c.preds) == 0 {
		return c.base
	}
	preds := slices.Clone(c.preds)
	slices.Sort(preds)
	return Digest(append([]string{"filter", c.base}, slices.Compact(preds)...)...)
}

// canonizer carries what a plan's parts refer to from afar.
type canonizer struct {
	source func(leaf string) Source
	stored map[string]canon // outputs and inputs of operators; one that is not there goes by its name
	delims []canon          // what DELIM_GET reads, innermost last
}

func (z *canonizer) canon(op *bound.Op) (canon, error) {
	if op.Stored != "" {
		c, known := z.stored[op.Stored]
		if !known {
			c = leafCanon(op.Stored, op.StoredColumns)
		}
		return c, nil
	}
	switch op.Type {
	case "LOGICAL_GET":
		if op.Made() {
			return canonicalConstant(op)
		}
		return z.get(op)
	case "LOGICAL_DUMMY_SCAN", "LOGICAL_EMPTY_RESULT", "LOGICAL_EXPRESSION_GET":
		return canonicalConstant(op)
	case "LOGICAL_DELIM_GET":
		if len(z.delims) == 0 {
			return canon{}, bound.UnsupportedOp(op)
		}
		return z.delims[len(z.delims)-1], nil
	case "LOGICAL_UNION", "LOGICAL_EXCEPT", "LOGICAL_INTERSECT":
		return z.setOperation(op)
	case "LOGICAL_COMPARISON_JOIN", "LOGICAL_ANY_JOIN", "LOGICAL_ASOF_JOIN", "LOGICAL_CROSS_PRODUCT", "LOGICAL_DELIM_JOIN":
		return z.join(op)
	}
	if len(op.Children) != 1 {
		return canon{}, bound.UnsupportedOp(op)
	}
	in, err := z.canon(op.Children[0])
	if err != nil {
		return canon{}, err
	}
	return in.step(op)
}

// step is the canonical form of a step over one input.
func (c canon) step(op *bound.Op) (canon, error) {
	switch op.Type {
	case "LOGICAL_ORDER_BY":
		if len(op.Projections) == 0 {
			return c, nil
		}
	case "LOGICAL_FILTER":
		return canonicalFilter(op, c)
	case "LOGICAL_PROJECTION":
		cols, err := c.exprs(op.Expressions)
		return canon{base: c.base, arms: c.arms, preds: c.preds, cols: cols}, err
	case "LOGICAL_UNNEST":
		return canonicalUnnest(op, c)
	case "LOGICAL_AGGREGATE_AND_GROUP_BY":
		return canonicalAggregate(op, c)
	case "LOGICAL_WINDOW":
		return c.windows(op)
	case "LOGICAL_LIMIT":
		return c.top(op)
	case "LOGICAL_DISTINCT":
		if op.DistinctType != "DISTINCT" {
			return c.distinctOn(op)
		}
		base := Digest(append([]string{"distinct", c.seal()}, c.cols...)...)
		return canon{base: base, cols: tagged("d", base, c.cols)}, nil
	}
	return canon{}, bound.UnsupportedOp(op)
}

// columnMark begins and ends what stands for a column in a canonical text: nothing else in SQL holds it.
const columnMark = "\x00"

// columnToken stands for a column of a relation, or of an operator. Its type is empty where types do not matter.
func columnToken(of, name, typ string) string {
	return columnMark + of + "\x01" + name + "\x01" + typ + columnMark
}

// leafCanon is what a leaf with columns c0, c1, … gives.
func leafCanon(of string, columns int) canon {
	c := canon{base: "scan(" + of + ")"}
	for i := range columns {
		c.cols = append(c.cols, columnToken(of, column(i), ""))
	}
	return c
}

func tagged(tag, base string, cols []string) []string {
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = opaque(tag, c, base)
	}
	return out
}

// opaque is a column of which no more is told than that equal ones are equal. It keeps texts from doubling at every level.
func opaque(parts ...string) string { return columnMark + "#" + Digest(parts...) + columnMark }

func (z *canonizer) get(op *bound.Op) (canon, error) {
	schema, name, ok := op.Table()
	if !ok {
		return canon{}, bound.Unsupportedf(bound.ByTableFunction, "the table function %s", op.Name)
	}
	leaf := RelationLeaf(schema, name)
	names, err := op.ScanColumns()
	if err != nil {
		return canon{}, err
	}
	source := z.source(leaf)
	of := cmp.Or(source.Identity, leaf)
	c := canon{base: "scan(" + of + ")"}
	for _, n := range names {
		text := ""
		if n != "" {
			text = source.column(of, n)
		}
		c.cols = append(c.cols, text)
	}
	for _, f := range op.TableFilters.Filters {
		if f.Key < 0 || f.Key >= len(op.Names) {
			return canon{}, bound.Unsupportedf(bound.ByForm, "a filter on the row identifier")
		}
		preds, err := filterPredicates(f.Value, source.column(of, op.Names[f.Key]))
		if err != nil {
			return canon{}, err
		}
		c.preds = append(c.preds, preds...)
	}
	return c, nil
}

func (s Source) column(of, name string) string {
	name = strings.ToLower(name)
	return columnToken(of, name, s.Types[name])
}

// filterPredicates gives a pushed-down filter the form the same filter has above the scan.
func filterPredicates(f bound.Filter, column string) ([]string, error) {
	if f.FilterType == "EXPRESSION_FILTER" {
		return canon{cols: []string{column}}.predicates(f.Expr)
	}
	if f.FilterType == "STRUCT_EXTRACT" && f.ChildFilter != nil && f.ChildName != "" {
		return filterPredicates(*f.ChildFilter, bound.Member(column, f.ChildName))
	}
	if f.FilterType == "CONJUNCTION_AND" {
		var out []string
		for _, c := range f.ChildFilters {
			preds, err := filterPredicates(c, column)
			if err != nil {
				return nil, err
			}
			out = append(out, preds...)
		}
		return out, nil
	}
	if f.FilterType == "CONSTANT_COMPARISON" && f.Constant != nil {
		e := &bound.Expr{Class: "BOUND_COMPARISON", Type: f.ComparisonType,
			Left: &bound.Expr{Class: "BOUND_REF"}, Right: &bound.Expr{Class: "BOUND_CONSTANT", Value: f.Constant}}
		return canon{cols: []string{column}}.predicates(e)
	}
	text, err := f.SQL(column)
	return []string{text}, err
}

func canonicalFilter(op *bound.Op, in canon) (canon, error) {
	out := canon{base: in.base, arms: in.arms, preds: slices.Clone(in.preds), cols: in.cols}
	for _, e := range op.Expressions {
		preds, err := in.predicates(e)
		if err != nil {
			return canon{}, err
		}
		out.preds = append(out.preds, preds...)
	}
	if len(op.ProjectionMap) > 0 {
		out.cols = nil
		for _, k := range op.ProjectionMap {
			out.cols = append(out.cols, in.cols[k])
		}
	}
	return out, nil
}

// predicates splits a condition at its ANDs.
func (c canon) predicates(e *bound.Expr) ([]string, error) {
	if e.Class == "BOUND_CONJUNCTION" && e.Type == "CONJUNCTION_AND" {
		var out []string
		for _, child := range e.Children {
			preds, err := c.predicates(child)
			if err != nil {
				return nil, err
			}
			out = append(out, preds...)
		}
		return out, nil
	}
	if e.Class == "BOUND_BETWEEN" {
		lower, upper := "COMPARE_GREATERTHAN", "COMPARE_LESSTHAN"
		if e.LowerIncluded {
			lower += "OREQUALTO"
		}
		if e.UpperIncluded {
			upper += "OREQUALTO"
		}
		return c.predicates(&bound.Expr{Class: "BOUND_CONJUNCTION", Type: "CONJUNCTION_AND", Children: []*bound.Expr{
			{Class: "BOUND_COMPARISON", Type: lower, Left: e.Input, Right: e.Lower}, {Class: "BOUND_COMPARISON", Type: upper, Left: e.Input, Right: e.Upper}}})
	}
	text, err := c.expr(e)
	return []string{text}, err
}

func canonicalUnnest(op *bound.Op, in canon) (canon, error) {
	var parts []string
	for _, e := range op.Expressions {
		if e.Child == nil {
			return canon{}, bound.Unsupportedf(bound.ByForm, "an UNNEST of an unknown form")
		}
		text, err := in.expr(e.Child)
		if err != nil {
			return canon{}, err
		}
		parts = append(parts, text)
	}
	base := Digest(append([]string{"unnest", in.seal()}, parts...)...)
	return canon{base: base, cols: append(slices.Clone(in.cols), tagged("unnest", base, parts)...)}, nil
}

func (z *canonizer) setOperation(op *bound.Op) (canon, error) {
	if op.Type == "LOGICAL_UNION" && !op.SetOpAll {
		return canon{}, bound.Unsupportedf(bound.ByForm, "UNION without ALL")
	}
	var arms, cols []string
	for _, child := range op.Children {
		c, err := z.canon(child)
		if err != nil {
			return canon{}, err
		}
		arms = append(arms, c.arm())
		cols = c.cols
	}
	if op.Type != "LOGICAL_EXCEPT" {
		slices.Sort(arms)
	}
	base := Digest(append([]string{op.Type, fmt.Sprint(op.SetOpAll)}, arms...)...)
	out := canon{base: base}
	if op.Type == "LOGICAL_UNION" {
		out.arms = arms
	}
	for i := range cols {
		out.cols = append(out.cols, opaque("u", column(i), base))
	}
	return out, nil
}

func canonicalAggregate(op *bound.Op, in canon) (canon, error) {
	groups, err := in.exprs(op.Groups)
	if err != nil {
		return canon{}, err
	}
	sorted := slices.Clone(groups)
	slices.Sort(sorted)
	base := Digest(append([]string{"aggregate", in.seal(), fmt.Sprint(op.GroupingSets)}, sorted...)...)
	if len(op.GroupingSets) <= 1 {
		base = Digest(append([]string{"aggregate", in.seal()}, sorted...)...)
	}
	out := canon{base: base, cols: tagged("group", base, groups)}
	for _, e := range op.Expressions {
		text, err := in.aggregate(e)
		if err != nil {
			return canon{}, err
		}
		out.cols = append(out.cols, opaque(text, base))
	}
	for _, g := range op.GroupingFunctions {
		out.cols = append(out.cols, opaque(fmt.Sprint("grouping", g), base))
	}
	return out, nil
}

func (c canon) aggregate(e *bound.Expr) (string, error) {
	args, err := c.exprs(e.Children)
	if err != nil {
		return "", err
	}
	text := e.Name + "(" + e.AggregateType + " " + strings.Join(args, ",") + ")"
	if e.Filter != nil {
		f, err := c.expr(e.Filter)
		if err != nil {
			return "", err
		}
		text += " FILTER " + f
	}
	orders, err := bound.DecodeOrders(e.OrderBys)
	if err != nil {
		return "", err
	}
	by, err := c.orders(orders)
	if err != nil {
		return "", err
	}
	return text + by + data(e.FunctionData), nil
}

func (c canon) exprs(es []*bound.Expr) ([]string, error) {
	out := make([]string, len(es))
	for i, e := range es {
		text, err := c.expr(e)
		if err != nil {
			return nil, err
		}
		out[i] = text
	}
	return out, nil
}

// longest is where expressions are cut short. Below it, a filter above a projection and the same filter pushed
// through it have one text.
const longest = 4096

// expr renders an expression with its commutative parts in a fixed order.
func (c canon) expr(e *bound.Expr) (string, error) {
	sorted, err := c.ordered(e)
	if err != nil {
		return "", err
	}
	text, err := bound.Scope(c.cols).SQL(sorted)
	if len(text) > longest {
		text = opaque(text)
	}
	return text, err
}
