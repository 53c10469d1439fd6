package bound

import (
	"bytes"
	"encoding/json"
)

// Describe names a step of a plan in the words SQL users know.
func Describe(op *Op) string {
	switch op.Type {
	case "LOGICAL_GET":
		return "a scan"
	case "LOGICAL_WINDOW":
		return "window functions"
	case "LOGICAL_COMPARISON_JOIN", "LOGICAL_ANY_JOIN", "LOGICAL_JOIN":
		return "a join"
	case "LOGICAL_ASOF_JOIN":
		return "an ASOF join"
	case "LOGICAL_CROSS_PRODUCT":
		return "a cross join"
	case "LOGICAL_POSITIONAL_JOIN":
		return "a positional join"
	case "LOGICAL_DELIM_JOIN", "LOGICAL_DELIM_GET", "LOGICAL_DEPENDENT_JOIN":
		return "a correlated subquery"
	case "LOGICAL_DISTINCT":
		return "DISTINCT ON"
	case "LOGICAL_LIMIT", "LOGICAL_TOP_N":
		return "LIMIT"
	case "LOGICAL_EXCEPT":
		return "EXCEPT"
	case "LOGICAL_INTERSECT":
		return "INTERSECT"
	case "LOGICAL_UNION":
		return "UNION"
	case "LOGICAL_RECURSIVE_CTE":
		return "a recursive CTE"
	case "LOGICAL_PIVOT":
		return "PIVOT"
	case "LOGICAL_SAMPLE":
		return "SAMPLE"
	case "LOGICAL_EXPRESSION_GET", "LOGICAL_DUMMY_SCAN", "LOGICAL_EMPTY_RESULT":
		return "rows that come from no relation"
	case "LOGICAL_AGGREGATE_AND_GROUP_BY":
		return "an aggregate"
	}
	return op.Type
}

// StripOrder removes an ORDER BY at the top: relations have no order.
func StripOrder(op *Op) *Op {
	for op.Type == "LOGICAL_ORDER_BY" && len(op.Children) == 1 && len(op.Projections) == 0 {
		op = op.Children[0]
	}
	return op
}

// IsNull reports whether a part of the plan is absent.
func IsNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}
