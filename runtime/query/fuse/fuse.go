// Package fuse makes one operator of windows and of what is computed of their rows alone: what is between them is neither remembered nor compared
package fuse

import (
	"slices"
	"strconv"
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/logical"
)

// Windows lets an operator take the place of a window that it alone reads, through expressions and filters, where its keys tell the window's
// partitions: then its output for a partition depends on the window's input for that partition only. It reports whether it
// put any together: then they are to be identified again.
func Windows(cut *logical.Split) bool {
	n := len(cut.Operators)
	for i := 0; i < len(cut.Operators); i++ {
		k := cut.Operators[i].Keyed
		if k == nil || k.First != nil || len(k.Inputs) != 1 || k.Kind != "window" && k.Kind != "aggregate" {
			continue
		}
		at := slices.IndexFunc(cut.Operators, func(o logical.Operator) bool { return window(o) && reads(k, o.Keyed.ID) })
		if at < 0 || readers(cut, cut.Operators[at].Keyed.ID) > 1 {
			continue
		}
		if join(k, cut.Operators[at].Keyed) {
			cut.Operators = slices.Delete(cut.Operators, at, at+1)
			i--
		}
	}
	return len(cut.Operators) < n
}

func window(o logical.Operator) bool {
	return o.Keyed != nil && o.Keyed.Kind == "window" && o.Keyed.First == nil && !o.Keyed.Global()
}

func reads(k *logical.Keyed, id string) bool {
	return slices.Contains(logical.Leaves(k.Inputs[0].SQL), id)
}

// readers is how often an operator's output is read.
func readers(cut *logical.Split, id string) int {
	texts := []string{cut.Final.SQL}
	for _, o := range cut.Operators {
		switch {
		case o.Keyed != nil:
			for _, in := range o.Keyed.Inputs {
				texts = append(texts, in.SQL)
			}
		case o.Temporal != nil:
			texts = append(texts, o.Temporal.Input.SQL)
		default:
			texts = append(texts, o.Aggregate.Input)
		}
	}
	n := 0
	for _, text := range texts {
		n += strings.Count(text, logical.Leaf(id))
	}
	return n
}

// join puts window w into k, if k's keys tell the partitions of w apart.
func join(k, w *logical.Keyed) bool {
	in := k.Inputs[0]
	columns := trace(in.Tree)
	var keys []string // w's, over the output of k
	for _, key := range w.ShownKeys() {
		at := slices.IndexFunc(in.Keys, func(mine string) bool {
			i := number(mine)
			return i >= 0 && i < len(columns) && columns[i] >= 0 && column(columns[i]) == key
		})
		if at < 0 {
			return false
		}
		if keys = append(keys, in.Keys[at]); k.Kind == "aggregate" {
			keys[len(keys)-1] = column(at)
		}
	}
	between := replace(in.SQL, w.ID, "("+w.Body+")")
	k.Body = replace(k.Body, logical.InputLeaf(0), "("+between+")")
	k.Tree = over(k.Tree, logical.InputLeaf(0), over(in.Tree, w.ID, w.Tree))
	if k.Kind == "aggregate" {
		k.Groups = len(in.Keys)
	}
	k.Inputs, k.Shown, k.Detail = w.Inputs, keys, w.Detail+", then "+k.Detail
	// The groups of a partition are few beside its rows: to remember them costs less than to compute them twice.
	k.Unstable = k.Unstable || w.Unstable || k.Kind == "aggregate"
	return true
}

func column(i int) string { return "c" + strconv.Itoa(i) }

// number is the position of a column named by it; -1 for any other expression.
func number(name string) int {
	if len(name) < 2 || name[0] != 'c' {
		return -1
	}
	i, err := strconv.Atoi(name[1:])
	if err != nil {
		return -1
	}
	return i
}

func replace(sql, leaf, text string) string {
	out, _ := logical.Replace(sql, func(name string) (string, error) {
		if name == leaf {
			return text, nil
		}
		return logical.Leaf(name), nil
	})
	return out
}

// over is a plan in which another one stands in the place of a leaf.
func over(op *bound.Op, leaf string, below *bound.Op) *bound.Op {
	if op.Stored == leaf {
		return below
	}
	out := *op
	out.Children = make([]*bound.Op, len(op.Children))
	for i, c := range op.Children {
		out.Children[i] = over(c, leaf, below)
	}
	return &out
}

// trace finds the column of the one leaf below that each column is; -1 for anything else, and nothing where rows are not those of a leaf.
func trace(op *bound.Op) []int {
	if op.Stored != "" {
		return bound.Upto(op.StoredColumns)
	}
	if len(op.Children) != 1 {
		return nil
	}
	in := trace(op.Children[0])
	at := func(i int) int {
		if i < len(in) {
			return in[i]
		}
		return -1
	}
	var out []int
	switch {
	case op.Type == "LOGICAL_FILTER" && len(op.ProjectionMap) == 0:
		return in
	case op.Type == "LOGICAL_FILTER":
		for _, i := range op.ProjectionMap {
			out = append(out, at(int(i)))
		}
	case op.Type == "LOGICAL_PROJECTION":
		for _, e := range op.Expressions {
			if out = append(out, -1); e.Class == "BOUND_REF" {
				out[len(out)-1] = at(e.Index)
			}
		}
	}
	return out
}
