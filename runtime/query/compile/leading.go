package compile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
)

// mostLeading bounds how many rows of each key Leading looks for.
const mostLeading = 100

// leads are the types by whose values rows are told in one order by ORDER BY, by comparisons and by max.
var leads = []string{"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "DATE", "TIMESTAMP"}

// Leading is what stands after FROM to read those rows that the first column of the order alone lets be among the first of their key: in an
// operator that shows these, a cheap look that spares most rows the whole order. For any other operator, or order, it is all rows.
func (k Keyed) Leading(rows string) string {
	order, most := k.leading()
	if most == 0 {
		return rows
	}
	column, best, worst, reaches := fmt.Sprintf("c%d", order.Expression.Index), "max", "list_min", ">="
	if order.Type != "DESCENDING" {
		best, worst, reaches = "min", "list_max", "<="
	}
	var list, on []string
	for i, key := range k.Inputs[0].Keys {
		list = append(list, fmt.Sprintf("%s AS sf$k%d", key, i))
		on = append(on, fmt.Sprintf("%s IS NOT DISTINCT FROM sf$k%d", key, i))
	}
	if most == 1 {
		list, on = append(list, best+"("+column+") AS sf$m"), append(on, column+" IS NOT DISTINCT FROM sf$m")
	} else {
		list = append(list, fmt.Sprintf("CASE WHEN count(%[1]s) >= %[2]d THEN %[3]s(%[4]s(%[1]s, %[2]d)) END AS sf$m", column, most, worst, best))
		on = append(on, fmt.Sprintf("(sf$m IS NULL OR %s %s sf$m)", column, reaches))
	}
	return fmt.Sprintf("(SELECT sf$b.* FROM %[1]s AS sf$b JOIN (SELECT %[2]s FROM %[1]s GROUP BY ALL) ON %[3]s)", rows, strings.Join(list, ", "), strings.Join(on, " AND "))
}

// leading is what an operator orders by first, and how many rows of each key it shows; 0 where the one does not tell the other.
func (k Keyed) leading() (order bound.Order, most int) {
	var orders []bound.Order
	switch t := k.Tree; {
	case !k.Best || k.Global():
	case t.Type == "LOGICAL_DISTINCT":
		orders, _ = bound.DecodeOrders(t.OrderBy)
		most = 1
	case t.Type == "LOGICAL_FILTER" && t.Children[0].Type == "LOGICAL_WINDOW" && t.Children[0].Expressions[0].Type != "WINDOW_RANK_DENSE":
		orders = t.Children[0].Expressions[0].Orders
		if limit := t.Expressions[0].Right; limit == nil || limit.Value == nil || json.Unmarshal(limit.Value.Data, &most) != nil {
			most = 0
		}
	}
	for len(orders) > 0 && slices.Contains(k.Inputs[0].Keys, fmt.Sprintf("c%d", orders[0].Expression.Index)) && orders[0].Expression.Class == "BOUND_REF" {
		orders = orders[1:] // the same in all rows of a key
	}
	if len(orders) == 0 || most > mostLeading {
		return order, 0
	}
	order = orders[0]
	if e := order.Expression; e.Class != "BOUND_REF" || order.NullOrder != "NULLS LAST" || !slices.Contains(leads, k.InputTypes[0][e.Index]) {
		return order, 0
	}
	return order, most
}
