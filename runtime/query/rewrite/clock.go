package rewrite

import (
	"fmt"
	"slices"

	"github.com/streamform/streamform/runtime/query/bound"
)

// clockLifter puts conditions on the time into filters of their own.
type clockLifter struct {
	done  map[*bound.Op]*bound.Op
	found map[int]bool // places that stand in a filter
}

// LiftClocks puts conditions on the time that the plan has pushed into scans into filters above them, and makes sure that the time is asked for in filters
// only: otherwise a *bound.ClockError. doc is the plan as JSON.
func LiftClocks(op *bound.Op, doc []byte) (*bound.Op, error) {
	l := &clockLifter{done: map[*bound.Op]*bound.Op{}, found: map[int]bool{}}
	out, err := l.lift(op)
	if err != nil {
		return nil, err
	}
	for _, place := range bound.ClocksIn(doc) {
		if !l.found[place] {
			return nil, elsewhere(place)
		}
	}
	return out, nil
}

func elsewhere(place int) error {
	return &bound.ClockError{Place: place, Reason: "The time is asked for outside of WHERE, HAVING or QUALIFY. A column of its own would have to change in every row at every moment; compute it where the view is read (streamform query)."}
}

func (l *clockLifter) lift(op *bound.Op) (*bound.Op, error) {
	if out, ok := l.done[op]; ok {
		return out, nil
	}
	out := *op
	out.Children = slices.Clone(op.Children)
	for i, c := range op.Children {
		in, err := l.lift(c)
		if err != nil {
			return nil, err
		}
		out.Children[i] = in
	}
	result := &out
	var err error
	switch op.Type {
	case "LOGICAL_GET":
		result, err = l.scan(&out)
	case "LOGICAL_FILTER":
		for _, e := range op.Expressions {
			l.find(e)
		}
	default:
		err = misplaced(op)
	}
	l.done[op] = result
	return result, err
}

func (l *clockLifter) find(e *bound.Expr) {
	for _, place := range e.Clocks() {
		l.found[place] = true
	}
}

// misplaced is a *bound.ClockError when a step other than a filter asks for the time.
func misplaced(op *bound.Op) error {
	exprs := slices.Concat(op.Expressions, op.Groups, op.DistinctTargets, op.Eliminated)
	for _, o := range op.Orders {
		exprs = append(exprs, o.Expression)
	}
	for _, e := range exprs {
		if places := e.Clocks(); len(places) > 0 {
			return elsewhere(places[0])
		}
	}
	exprs = []*bound.Expr{op.Condition, op.Predicate}
	for _, c := range op.Conditions {
		exprs = append(exprs, c.Left, c.Right)
	}
	for _, e := range exprs {
		if e == nil {
			continue
		}
		if places := e.Clocks(); len(places) > 0 {
			return &bound.ClockError{Place: places[0], Reason: "The time is asked for in the condition of a join, which concerns the rows of both sides. Filter one side by it before the join, in a subquery: " +
				"JOIN (SELECT … WHERE ts > now() - INTERVAL 7 DAY) ON …"}
		}
	}
	return nil
}

// scan takes the conditions on the time out of a scan's filters.
func (l *clockLifter) scan(get *bound.Op) (*bound.Op, error) {
	var lifted []*bound.Expr
	filters := get.TableFilters.Filters
	get.TableFilters.Filters = nil
	for _, f := range filters {
		at := slices.IndexFunc(get.ColumnIndexes, func(c bound.ColumnIndex) bool { return c.Index.String() == fmt.Sprint(f.Key) })
		rest, clocked := f.Value.TakeClocks()
		if len(clocked) > 0 && at < 0 {
			return nil, elsewhere(clocked[0].Clocks()[0])
		}
		for _, e := range clocked {
			l.find(e)
			lifted = append(lifted, e.Shifted(-at))
		}
		if rest != nil {
			f.Value = *rest
			get.TableFilters.Filters = append(get.TableFilters.Filters, f)
		}
	}
	if len(lifted) == 0 {
		return get, nil
	}
	filter := &bound.Op{Type: "LOGICAL_FILTER", Children: []*bound.Op{get}, Expressions: lifted}
	for _, p := range get.ProjectionIDs {
		filter.ProjectionMap = append(filter.ProjectionMap, uint64(p))
	}
	get.ProjectionIDs = nil
	return filter, nil
}
