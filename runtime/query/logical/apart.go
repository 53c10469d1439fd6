package logical

import (
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
)

// comparisons are the comparisons that a condition on the time comes down to: BETWEEN is two, and the difference of the time and a value of the
// row, compared with a constant, is the value compared with the time less the constant.
func comparisons(e *bound.Expr) []*bound.Expr {
	if e.Class != "BOUND_BETWEEN" {
		return []*bound.Expr{apart(e)}
	}
	lower, upper := "COMPARE_GREATERTHAN", "COMPARE_LESSTHAN"
	if e.LowerIncluded {
		lower += "OREQUALTO"
	}
	if e.UpperIncluded {
		upper += "OREQUALTO"
	}
	return []*bound.Expr{apart(&bound.Expr{Class: "BOUND_COMPARISON", Type: lower, Left: e.Input, Right: e.Lower}),
		apart(&bound.Expr{Class: "BOUND_COMPARISON", Type: upper, Left: e.Input, Right: e.Upper})}
}

func turned(comparison string) string {
	return strings.NewReplacer("LESS", "GREATER", "GREATER", "LESS").Replace(comparison)
}

// apart brings the time and the row's columns to different sides: now() - ts < c is ts > now() - c. Intervals compare with months of 30 days, and
// the difference of two timestamps has no months.
func apart(e *bound.Expr) *bound.Expr {
	if e.Class != "BOUND_COMPARISON" {
		return e
	}
	difference, constant, typ := e.Left, e.Right, e.Type
	if len(difference.Clocks()) == 0 {
		difference, constant, typ = constant, difference, turned(typ)
	}
	difference, constant = plainInterval(difference), plainInterval(constant)
	if difference.Class != "BOUND_FUNCTION" || difference.Name != "-" || len(difference.Children) != 2 || len(constant.Clocks())+len(constant.Refs()) > 0 {
		return e
	}
	a, b := difference.Children[0], difference.Children[1]
	if (len(a.Clocks()) == 0) == (len(b.Clocks()) == 0) || a.Return.ID != b.Return.ID {
		return e
	}
	switch {
	case a.Return.ID == "DATE":
		constant = &bound.Expr{Class: "BOUND_CAST", Child: constant, Return: bound.Type{ID: "INTEGER"}}
	case strings.HasPrefix(a.Return.ID, "TIMESTAMP"):
		constant = allMicroseconds(constant)
	default:
		return e
	}
	if len(a.Clocks()) > 0 {
		return &bound.Expr{Class: "BOUND_COMPARISON", Type: turned(typ), Left: b, Right: call("-", a.Return, a, constant)}
	}
	return &bound.Expr{Class: "BOUND_COMPARISON", Type: typ, Left: a, Right: call("+", b.Return, b, constant)}
}

// allMicroseconds is an interval in its smallest part, with days of 24 hours and months of 30 days.
func allMicroseconds(e *bound.Expr) *bound.Expr {
	return call("to_microseconds", bound.Type{ID: "INTERVAL"}, call("epoch_us", bound.Type{ID: "BIGINT"}, e))
}

// comparedInterval is what allMicroseconds was made of; nil for anything else. DuckDB compares intervals by months, then days, then the
// rest, which is their length only as long as the parts have one sign.
func comparedInterval(e *bound.Expr) *bound.Expr {
	if e.Name != "to_microseconds" || len(e.Children) != 1 || e.Children[0].Name != "epoch_us" || len(e.Children[0].Children) != 1 {
		return nil
	}
	return e.Children[0].Children[0]
}

func call(name string, typ bound.Type, args ...*bound.Expr) *bound.Expr {
	return &bound.Expr{Class: "BOUND_FUNCTION", Name: name, Return: typ, Children: args}
}

// plainInterval is an interval before it is brought into the form in which intervals compare.
func plainInterval(e *bound.Expr) *bound.Expr {
	if e.Class == "BOUND_FUNCTION" && e.Name == "normalized_interval" && len(e.Children) == 1 {
		return e.Children[0]
	}
	return e
}
