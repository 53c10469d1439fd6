package logical

import (
	"fmt"

	"github.com/streamform/streamform/runtime/query/bound"
)

// Merge leaves one of operators that do the same over the same rows, as a CTE is read in several places and each of these was planned by
// itself. What read the others reads that one. Identify comes first.
func (s *Split) Merge() {
	first, other := map[string]string{}, map[string]string{}
	var kept []Operator
	for _, o := range s.Operators {
		if was, known := first[o.identity()]; known {
			other[o.ID()] = was
			continue
		}
		first[o.identity()] = o.ID()
		kept = append(kept, o)
	}
	if len(other) == 0 {
		return
	}
	s.Operators = kept
	m := merging{other: other, seen: map[*bound.Op]bool{}}
	for _, o := range kept {
		m.operator(o)
	}
	m.text(&s.Final.SQL)
	m.tree(s.FinalTree)
}

// identity is what operators of one query are told apart by.
func (o Operator) identity() string {
	switch {
	case o.Keyed != nil:
		return o.Keyed.Identity + fmt.Sprint(len(o.Keyed.Inputs), o.Keyed.Columns)
	case o.Temporal != nil:
		return o.Temporal.Identity
	}
	return o.Aggregate.Identity
}

// merging renames the outputs of operators that are left out.
type merging struct {
	other map[string]string // → the one that stays
	seen  map[*bound.Op]bool
}

func (m merging) operator(o Operator) {
	switch {
	case o.Keyed != nil:
		for i := range o.Keyed.Inputs {
			m.text(&o.Keyed.Inputs[i].SQL)
			m.tree(o.Keyed.Inputs[i].Tree)
		}
	case o.Temporal != nil:
		m.text(&o.Temporal.Input.SQL)
		m.tree(o.Temporal.Input.Tree)
	default:
		m.text(&o.Aggregate.Input)
		m.tree(o.Aggregate.Tree)
		for _, arm := range o.Aggregate.Arms {
			for i, leaf := range arm.Leaves {
				arm.Leaves[i] = m.name(leaf)
			}
		}
	}
}

func (m merging) name(leaf string) string {
	if stays, merged := m.other[leaf]; merged {
		return stays
	}
	return leaf
}

func (m merging) text(sql *string) {
	*sql, _ = Replace(*sql, func(leaf string) (string, error) { return Leaf(m.name(leaf)), nil })
}

func (m merging) tree(op *bound.Op) {
	if op == nil || m.seen[op] {
		return
	}
	m.seen[op] = true
	op.Stored = m.name(op.Stored)
	for _, c := range op.Children {
		m.tree(c)
	}
}
