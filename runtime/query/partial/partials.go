// Package partial knows which aggregates are kept as partials, how these are merged, and which results do not depend on the order of rows.
package partial

import (
	"fmt"
	"github.com/streamform/streamform/runtime/query/bound"
	"strings"
)

// Partial is one remembered column of an aggregate.
type Partial struct {
	Expr string // aggregate over the input's columns
	Zero string // its value over no rows
	// Merge combines the remembered value $o with the epoch's $n, in SQL.
	Merge string
	Kind  string // count, count_if, sum, variance, rows, or the name of the aggregate whose value it is
	Form  string // what it is, without its type; empty until canonical forms are made
	Arm   int    // of the input, which alone it is computed from
	// Grows: the rows it is about are never taken back, though others of the input may be.
	Grows bool

	Of *bound.Expr // the call it was made for; nil: it counts all rows
}

// Builder collects the partials of one aggregate; equal ones are kept once.
type Builder struct {
	Partials []Partial
	Finals   []string // expressions over partials, by call
	Types    []string // of the finals
	retracts bool     // rows may be taken back
	grows    bool     // but none that the call at hand is about
	index    map[string]int
}

// NewBuilder starts with nothing.
func NewBuilder(retracts bool) *Builder {
	return &Builder{retracts: retracts, index: map[string]int{}}
}

// Partial adds what one call needs; equal ones are kept once.
func (b *Builder) Partial(p Partial) int {
	if i, ok := b.index[p.Expr]; ok {
		return i
	}
	b.index[p.Expr] = len(b.Partials)
	p.Grows = b.grows
	b.Partials = append(b.Partials, p)
	return len(b.Partials) - 1
}

// Number counts rows or values: nothing is 0.
func Number(kind, expr, typ string, of *bound.Expr) Partial {
	return Partial{Kind: kind, Expr: expr, Zero: "0", Merge: sumMerge(typ), Of: of}
}

// total adds values up: the sum of none is NULL.
func total(expr, typ string, of *bound.Expr) Partial {
	return Partial{Kind: "sum", Expr: expr, Zero: "NULL", Merge: sumMerge(typ), Of: of}
}

// Name is the i-th partial as SQL has it.
func Name(i int) string { return fmt.Sprintf("p%d", i) }

// sumMerge adds two values of which either may be NULL (no rows yet).
func sumMerge(typ string) string {
	return "CAST(CASE WHEN $o IS NULL THEN $n WHEN $n IS NULL THEN $o ELSE $o + $n END AS " + typ + ")"
}

func pickMerge(better string) string {
	return "CASE WHEN $o IS NULL THEN $n WHEN $n IS NULL THEN $o WHEN $n " + better + " $o THEN $n ELSE $o END"
}

func opMerge(op string) string {
	return "CASE WHEN $o IS NULL THEN $n WHEN $n IS NULL THEN $o ELSE $o " + op + " $n END"
}

// call is one aggregate call with its rendered parts.
type call struct {
	expr   *bound.Expr
	args   string
	filter string // " FILTER (WHERE …)" or empty
	typ    string // result type
	arg    string // type of the first argument, empty when there is none
}

// Growing is Add for a call about rows that are never taken back, though others of the input may be.
func (b *Builder) Growing(e *bound.Expr, in bound.Scope) error {
	retracts := b.retracts
	b.retracts, b.grows = false, retracts
	defer func() { b.retracts, b.grows = retracts, false }()
	return b.Add(e, in)
}

// Add takes a call of an aggregate; *bound.Unsupported says why its rows are needed.
func (b *Builder) Add(e *bound.Expr, in bound.Scope) error {
	c, err := newCall(e, in)
	if err != nil {
		return err
	}
	var final string
	switch {
	case e.Name == "count_star" || e.Name == "count" || e.Name == "count_if":
		final, err = b.count(c)
	case e.Name == "sum" || e.Name == "sum_no_overflow":
		final, err = b.sum(c)
	case e.Name == "avg":
		final, err = b.avg(c)
	case b.retracts:
		return bound.Unsupportedf(bound.ByRetraction, "%s over rows that may be taken back", e.Name)
	default:
		final, err = b.appendOnly(c)
	}
	if err != nil {
		return err
	}
	b.Finals, b.Types = append(b.Finals, "CAST("+final+" AS "+c.typ+")"), append(b.Types, c.typ)
	return nil
}

func newCall(e *bound.Expr, in bound.Scope) (call, error) {
	if e.Class != "BOUND_AGGREGATE" {
		return call{}, bound.Unsupportedf(bound.ByAggregate, "an aggregate of class %s", e.Class)
	}
	args, err := in.All(e.Children)
	if err != nil {
		return call{}, err
	}
	c := call{expr: e, args: strings.Join(args, ", ")}
	if e.AggregateType == "DISTINCT" && !indifferent(e.Name) {
		return call{}, bound.Unsupportedf(bound.ByAggregate, "%s(DISTINCT …)", e.Name)
	}
	if len(e.Children) > 1 {
		return call{}, bound.Unsupportedf(bound.ByAggregate, "%s with %d arguments", e.Name, len(e.Children))
	}
	if e.Filter != nil {
		f, err := in.SQL(e.Filter)
		if err != nil {
			return call{}, err
		}
		c.filter = " FILTER (WHERE " + f + ")"
	}
	if c.typ, err = e.Return.SQL(); err != nil {
		return call{}, err
	}
	if len(e.Arguments) > 0 && e.Arguments[0].ID != "ANY" {
		if c.arg, err = e.Arguments[0].SQL(); err != nil {
			return call{}, err
		}
	}
	return c, nil
}

// indifferent aggregates give the same result for distinct values and for all.
func indifferent(name string) bool {
	switch name {
	case "min", "max", "bool_and", "bool_or", "bit_and", "bit_or":
		return true
	}
	return false
}

func (b *Builder) count(c call) (string, error) {
	text := "count(*)"
	switch c.expr.Name {
	case "count":
		text = "count(" + c.args + ")"
	case "count_if":
		text = "CAST(count_if(" + c.args + ")" + c.filter + " AS " + c.typ + ")"
		return b.countIf(c, text), nil
	}
	return Name(b.Partial(Number("count", text+c.filter, "BIGINT", c.expr))), nil
}

// countIf is NULL where there is no value, as a sum is.
func (b *Builder) countIf(c call, text string) string {
	n := Name(b.Partial(Partial{Kind: "count_if", Expr: text, Zero: "NULL", Merge: sumMerge(c.typ), Of: c.expr}))
	if !b.retracts {
		return n
	}
	return "CASE WHEN " + Name(b.nonNull(c)) + " > 0 THEN " + n + " END"
}

func exact(typ string) bool {
	switch typ {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "BOOLEAN":
		return true
	}
	return strings.HasPrefix(typ, "DECIMAL(")
}

// nonNull counts the values behind a sum; a sum over none is NULL.
func (b *Builder) nonNull(c call) int {
	return b.Partial(Number("count", "count("+c.args+")"+c.filter, "BIGINT", c.expr))
}

// sum keeps the count of values too: so that avg follows from it, and a sum over no values is told from one of 0.
func (b *Builder) sum(c call) (string, error) {
	if !exact(c.arg) && c.typ != "DOUBLE" {
		return "", bound.Unsupportedf(bound.ByAggregate, "sum of %s", c.arg)
	}
	if b.retracts && !exact(c.arg) {
		return "", bound.Unsupportedf(bound.ByRetraction, "sum of %s over rows that may be taken back", c.arg)
	}
	s := b.Partial(total("CAST(sum("+c.args+")"+c.filter+" AS "+c.typ+")", c.typ, c.expr))
	return "CASE WHEN " + Name(b.nonNull(c)) + " > 0 THEN " + Name(s) + " END", nil
}

// avg keeps sum and count, and divides as DuckDB does: the exact integer sum, of
// unscaled decimals, by the count times the scale, once.
func (b *Builder) avg(c call) (string, error) {
	if c.typ != "DOUBLE" {
		return "", bound.Unsupportedf(bound.ByAggregate, "avg of %s", c.arg)
	}
	sumType, n := "HUGEINT", b.nonNull(c)
	divisor := "CAST(" + Name(n) + " AS DOUBLE)"
	switch {
	case strings.HasPrefix(c.arg, "DECIMAL("):
		var width, scale int
		if _, err := fmt.Sscanf(c.arg, "DECIMAL(%d,%d)", &width, &scale); err != nil {
			return "", bound.Unsupportedf(bound.ByAggregate, "avg of %s", c.arg)
		}
		sumType = fmt.Sprintf("DECIMAL(38,%d)", scale)
		divisor = fmt.Sprintf("(%s * 1e%d)", divisor, scale)
	case c.arg == "DOUBLE" || c.arg == "FLOAT":
		if b.retracts {
			return "", bound.Unsupportedf(bound.ByRetraction, "avg of %s over rows that may be taken back", c.arg)
		}
		sumType = "DOUBLE"
	case !exact(c.arg):
		return "", bound.Unsupportedf(bound.ByAggregate, "avg of %s", c.arg)
	}
	s := Name(b.Partial(total("CAST(sum("+c.args+")"+c.filter+" AS "+sumType+")", sumType, c.expr)))
	value := "CAST(" + s + " AS DOUBLE)"
	if strings.HasPrefix(sumType, "DECIMAL(") && !strings.HasSuffix(sumType, ",0)") {
		value = "CAST(CAST(replace(CAST(" + s + " AS VARCHAR), '.', '') AS HUGEINT) AS DOUBLE)"
	}
	return "CASE WHEN " + Name(n) + " > 0 THEN " + value + " / " + divisor + " END", nil
}

// appendOnly builds the aggregates that cannot give a row back.
func (b *Builder) appendOnly(c call) (string, error) {
	text := c.expr.Name + "(" + c.args + ")" + c.filter
	merge := ""
	switch c.expr.Name {
	case "min":
		merge = pickMerge("<")
	case "max":
		merge = pickMerge(">")
	case "bool_and":
		merge = opMerge("AND")
	case "bool_or":
		merge = opMerge("OR")
	case "bit_and":
		merge = opMerge("&")
	case "bit_or":
		merge = opMerge("|")
	case "bit_xor":
		merge = "CASE WHEN $o IS NULL THEN $n WHEN $n IS NULL THEN $o ELSE xor($o, $n) END"
	case "product":
		merge = opMerge("*")
	case "var_pop", "var_samp", "variance", "stddev", "stddev_pop", "stddev_samp":
		return b.variance(c)
	default:
		return "", bound.Unsupportedf(bound.ByAggregate, "the aggregate %s", c.expr.Name)
	}
	return Name(b.Partial(Partial{Kind: c.expr.Name, Expr: "CAST(" + text + " AS " + c.typ + ")", Zero: "NULL", Merge: "CAST(" + merge + " AS " + c.typ + ")", Of: c.expr})), nil
}

// variance keeps count, mean and the sum of squared deviations in one struct and
// merges them pairwise (Chan, Golub, LeVeque 1979).
func (b *Builder) variance(c call) (string, error) {
	part := fmt.Sprintf("struct_pack(n := count(%[1]s)%[2]s, m := coalesce(avg(%[1]s)%[2]s, 0), q := coalesce(var_pop(%[1]s)%[2]s * count(%[1]s)%[2]s, 0))", c.args, c.filter)
	merge := "CASE WHEN $o.n = 0 THEN $n WHEN $n.n = 0 THEN $o ELSE struct_pack(n := $o.n + $n.n, " +
		"m := $o.m + ($n.m - $o.m) * $n.n / ($o.n + $n.n), " +
		"q := $o.q + $n.q + ($n.m - $o.m) * ($n.m - $o.m) * $o.n * $n.n / ($o.n + $n.n)) END"
	s := Name(b.Partial(Partial{Kind: "variance", Expr: part, Merge: merge, Of: c.expr,
		Zero: "struct_pack(n := CAST(0 AS BIGINT), m := CAST(0 AS DOUBLE), q := CAST(0 AS DOUBLE))"}))
	population := strings.HasSuffix(c.expr.Name, "_pop")
	least, divisor := "0", s+".n"
	if !population {
		least, divisor = "1", "("+s+".n - 1)"
	}
	value := s + ".q / " + divisor
	if strings.HasPrefix(c.expr.Name, "stddev") {
		value = "sqrt(" + value + ")"
	}
	return "CASE WHEN " + s + ".n > " + least + " THEN " + value + " END", nil
}
