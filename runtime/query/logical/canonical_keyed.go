package logical

import (
	"bytes"
	"encoding/json"
	"github.com/streamform/streamform/runtime/query/bound"
	"slices"
	"strings"
)

// data is a function's private constants as part of its meaning.
func data(raw json.RawMessage) string {
	if bound.IsNull(raw) {
		return ""
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return string(raw)
	}
	text, err := json.Marshal(strip(v))
	if err != nil {
		return string(raw)
	}
	return string(text)
}

func (c canon) orders(orders []bound.Order) (string, error) {
	var b strings.Builder
	for _, o := range orders {
		text, err := c.expr(o.Expression)
		if err != nil {
			return "", err
		}
		b.WriteString(" by " + text + " " + o.Type + " " + o.NullOrder)
	}
	return b.String(), nil
}

func (c canon) windows(op *bound.Op) (canon, error) {
	texts := make([]string, len(op.Expressions))
	for i, e := range op.Expressions {
		ordered, err := c.ordered(e)
		if err != nil {
			return canon{}, err
		}
		text, err := bound.Scope(c.cols).Window(ordered)
		if err != nil {
			return canon{}, err
		}
		texts[i] = text + data(e.FunctionData)
	}
	sorted := slices.Clone(texts)
	slices.Sort(sorted)
	base := Digest(append([]string{"window", c.seal()}, slices.Compact(sorted)...)...)
	return canon{base: base, cols: append(slices.Clone(c.cols), tagged("w", base, texts)...)}, nil
}

func (c canon) top(op *bound.Op) (canon, error) {
	sorted := op.Children[0]
	if sorted.Type != "LOGICAL_ORDER_BY" {
		return canon{}, bound.Unsupportedf(bound.ByOrder, "LIMIT without ORDER BY")
	}
	by, err := c.orders(sorted.Orders)
	if err != nil {
		return canon{}, err
	}
	limit, err := limits(op)
	if err != nil {
		return canon{}, err
	}
	base := Digest("top", c.seal(), by, limit)
	return canon{base: base, cols: tagged("t", base, c.cols)}, nil
}

func (c canon) distinctOn(op *bound.Op) (canon, error) {
	targets, err := c.exprs(op.DistinctTargets)
	if err != nil {
		return canon{}, err
	}
	orders, err := bound.DecodeOrders(op.OrderBy)
	if err != nil {
		return canon{}, err
	}
	by, err := c.orders(orders)
	if err != nil {
		return canon{}, err
	}
	slices.Sort(targets)
	base := Digest(append([]string{"distinct on", c.seal(), by}, targets...)...)
	return canon{base: base, cols: tagged("o", base, c.cols)}, nil
}

// join is the canonical form of any join. Its conditions are a set, whichever way the plan writes them.
func (z *canonizer) join(op *bound.Op) (canon, error) {
	if len(op.Children) != 2 || op.DelimFlipped {
		return canon{}, bound.UnsupportedOp(op)
	}
	left, err := z.canon(op.Children[0])
	if err != nil {
		return canon{}, err
	}
	if op.Type == "LOGICAL_DELIM_JOIN" {
		cols, err := left.exprs(op.Eliminated)
		if err != nil {
			return canon{}, err
		}
		base := Digest(append([]string{"distinct", left.seal()}, cols...)...)
		z.delims = append(z.delims, canon{base: base, cols: tagged("d", base, cols)})
		defer func() { z.delims = z.delims[:len(z.delims)-1] }()
	}
	right, err := z.canon(op.Children[1])
	if err != nil {
		return canon{}, err
	}
	l := canon{cols: tagged("l", left.seal(), left.cols)}
	r := canon{cols: tagged("r", right.seal(), right.cols)}
	conditions, err := joinConditions(op, l, r)
	if err != nil {
		return canon{}, err
	}
	kind := op.JoinType
	switch {
	case op.Type == "LOGICAL_CROSS_PRODUCT":
		kind = "INNER"
	case op.Type == "LOGICAL_ASOF_JOIN":
		kind = "ASOF " + kind
	case kind == "SINGLE":
		kind = "LEFT"
	}
	base := Digest(append([]string{"join", kind, left.seal(), right.seal()}, conditions...)...)
	cols := kept(l.cols, op.LeftMap)
	switch op.JoinType {
	case "SEMI", "ANTI":
	case "MARK":
		cols = append(cols, "mark")
	default:
		cols = append(cols, kept(r.cols, op.RightMap)...)
	}
	return canon{base: base, cols: tagged("j", base, cols)}, nil
}

func joinConditions(op *bound.Op, l, r canon) ([]string, error) {
	both := canon{cols: append(slices.Clone(l.cols), r.cols...)}
	var out []string
	for _, c := range op.Conditions {
		e := &bound.Expr{Class: "BOUND_COMPARISON", Type: c.Comparison, Left: c.Left, Right: c.Right.Shifted(-len(l.cols))}
		preds, err := both.predicates(e)
		if err != nil {
			return nil, err
		}
		out = append(out, preds...)
	}
	for _, e := range []*bound.Expr{op.Condition, op.Predicate} {
		if e == nil {
			continue
		}
		preds, err := both.predicates(e)
		if err != nil {
			return nil, err
		}
		out = append(out, preds...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
