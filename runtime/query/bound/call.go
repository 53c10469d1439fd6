package bound

import (
	"encoding/json"
	"strings"
)

// AggregateCall renders any aggregate as the user could have written it.
func (s Scope) AggregateCall(e *Expr) (string, error) {
	if e.Class != "BOUND_AGGREGATE" {
		return "", Unsupportedf(ByAggregate, "an aggregate of class %s", e.Class)
	}
	args, err := s.All(e.Children)
	if err != nil {
		return "", err
	}
	extra, err := aggregateData(e)
	if err != nil {
		return "", err
	}
	text := strings.Join(append(args, extra...), ", ")
	if e.Name == "count_star" {
		text = "*"
	}
	if e.AggregateType == "DISTINCT" {
		text = "DISTINCT " + text
	}
	orders, err := DecodeOrders(e.OrderBys)
	if err != nil {
		return "", err
	}
	if len(orders) > 0 {
		by, err := s.OrderBy(orders)
		if err != nil {
			return "", err
		}
		text += " " + by
	}
	name := Ident(e.Name)
	if e.Name == "count_star" {
		name = "count"
	}
	text = name + "(" + text + ")"
	if e.Filter != nil {
		f, err := s.SQL(e.Filter)
		if err != nil {
			return "", err
		}
		text += " FILTER (WHERE " + f + ")"
	}
	return text, nil
}

// aggregateData renders constant arguments that the plan keeps outside the children.
func aggregateData(e *Expr) ([]string, error) {
	if IsNull(e.FunctionData) {
		return nil, nil
	}
	switch e.Name {
	case "string_agg", "group_concat", "listagg":
		var data struct {
			Sep       *string `json:"sep"`
			Separator *string `json:"separator"`
		}
		if json.Unmarshal(e.FunctionData, &data) == nil {
			if data.Sep != nil {
				return []string{Text(*data.Sep)}, nil
			}
			if data.Separator != nil {
				return []string{Text(*data.Separator)}, nil
			}
		}
	case "quantile_cont", "quantile_disc", "quantile", "approx_quantile", "reservoir_quantile":
		return quantiles(e)
	case "median", "mad", "sum", "avg", "min", "max", "count", "list", "mode", "first", "last", "any_value", "arg_min", "arg_max", "arbitrary":
		return nil, nil
	}
	if e.HasSerialize {
		return nil, Unsupportedf(ByAggregate, "the aggregate %s", e.Name)
	}
	return nil, nil
}

// listAggregateData is aggregateData for an aggregate that runs over the elements of a list.
func listAggregateData(e *Expr) ([]string, error) {
	var data struct {
		Bind struct {
			Aggregate *Expr `json:"aggr_expr"`
		} `json:"bind_data"`
	}
	if err := json.Unmarshal(e.FunctionData, &data); err != nil || data.Bind.Aggregate == nil {
		return nil, Unsupportedf(ByFunction, "the function %s", e.Name)
	}
	return aggregateData(data.Bind.Aggregate)
}

func quantiles(e *Expr) ([]string, error) {
	var data struct {
		Raw       []Value `json:"raw"`
		Quantiles []Value `json:"quantiles"`
		Desc      bool    `json:"desc"`
	}
	if err := json.Unmarshal(e.FunctionData, &data); err != nil || data.Desc {
		return nil, Unsupportedf(ByAggregate, "the aggregate %s", e.Name)
	}
	values := data.Raw
	if len(values) == 0 {
		values = data.Quantiles
	}
	parts := make([]string, len(values))
	for i, v := range values {
		text, err := v.SQL()
		if err != nil {
			return nil, err
		}
		parts[i] = text
	}
	switch {
	case len(parts) == 0:
		return nil, Unsupportedf(ByAggregate, "the aggregate %s", e.Name)
	case len(parts) == 1 && e.Return.ID != "LIST":
		return parts, nil
	}
	return []string{"[" + strings.Join(parts, ", ") + "]"}, nil
}
