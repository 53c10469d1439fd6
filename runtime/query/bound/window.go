package bound

import (
	"encoding/json"
	"strings"
)

// Window renders a window function over the columns of its input.
func (s Scope) Window(e *Expr) (string, error) {
	name, err := windowName(e)
	if err != nil {
		return "", err
	}
	args, err := s.windowArguments(e)
	if err != nil {
		return "", err
	}
	call := name + "(" + args
	if e.IgnoreNulls {
		call += " IGNORE NULLS"
	}
	call += ")"
	if e.Filters != nil {
		f, err := s.SQL(e.Filters)
		if err != nil {
			return "", err
		}
		call += " FILTER (WHERE " + f + ")"
	}
	over, err := s.over(e)
	return call + " OVER (" + over + ")", err
}

func windowName(e *Expr) (string, error) {
	switch e.Type {
	case "WINDOW_ROW_NUMBER":
		return "row_number", nil
	case "WINDOW_RANK":
		return "rank", nil
	case "WINDOW_RANK_DENSE":
		return "dense_rank", nil
	case "WINDOW_PERCENT_RANK":
		return "percent_rank", nil
	case "WINDOW_CUME_DIST":
		return "cume_dist", nil
	case "WINDOW_NTILE":
		return "ntile", nil
	case "WINDOW_LEAD":
		return "lead", nil
	case "WINDOW_LAG":
		return "lag", nil
	case "WINDOW_FIRST_VALUE":
		return "first_value", nil
	case "WINDOW_LAST_VALUE":
		return "last_value", nil
	case "WINDOW_NTH_VALUE":
		return "nth_value", nil
	case "WINDOW_AGGREGATE":
		if e.Name == "count_star" {
			return "count", nil
		}
		return Ident(e.Name), nil
	}
	return "", Unsupportedf(ByWindow, "the window function %s", e.Type)
}

func (s Scope) windowArguments(e *Expr) (string, error) {
	if orders, err := DecodeOrders(e.ArgOrders); err != nil || len(orders) > 0 {
		return "", Unsupportedf(ByWindow, "ORDER BY inside a window function")
	}
	if e.Name == "count_star" {
		return "*", nil
	}
	args, err := s.All(e.Children)
	if err != nil {
		return "", err
	}
	for _, extra := range []*Expr{e.OffsetExpr, e.DefaultExpr} {
		if extra == nil {
			continue
		}
		text, err := s.SQL(extra)
		if err != nil {
			return "", err
		}
		args = append(args, text)
	}
	if e.Type == "WINDOW_AGGREGATE" {
		extra, err := aggregateData(e)
		if err != nil {
			return "", err
		}
		args = append(args, extra...)
	}
	text := strings.Join(args, ", ")
	if e.Distinct {
		text = "DISTINCT " + text
	}
	return text, nil
}

func (s Scope) over(e *Expr) (string, error) {
	var parts []string
	if len(e.Partitions) > 0 {
		keys, err := s.All(e.Partitions)
		if err != nil {
			return "", err
		}
		parts = append(parts, "PARTITION BY "+strings.Join(keys, ", "))
	}
	if len(e.Orders) > 0 {
		text, err := s.OrderBy(e.Orders)
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	frame, err := s.frame(e)
	if err != nil {
		return "", err
	}
	return strings.Join(append(parts, frame), " "), nil
}

// OrderBy renders an ORDER BY clause.
func (s Scope) OrderBy(orders []Order) (string, error) {
	parts := make([]string, len(orders))
	for i, o := range orders {
		text, err := s.SQL(compared(o.Expression))
		if err != nil {
			return "", err
		}
		direction := " ASC"
		if o.Type == "DESCENDING" {
			direction = " DESC"
		}
		parts[i] = text + direction + " " + o.NullOrder
	}
	return "ORDER BY " + strings.Join(parts, ", "), nil
}

// frame renders the frame; ranking functions have none of their own.
func (s Scope) frame(e *Expr) (string, error) {
	switch e.Type {
	case "WINDOW_ROW_NUMBER", "WINDOW_RANK", "WINDOW_RANK_DENSE", "WINDOW_PERCENT_RANK", "WINDOW_CUME_DIST", "WINDOW_NTILE", "WINDOW_LEAD", "WINDOW_LAG":
		return "", nil
	}
	mode := "RANGE"
	for _, m := range []string{"ROWS", "GROUPS"} {
		if strings.HasSuffix(e.Start, m) || strings.HasSuffix(e.End, m) {
			mode = m
		}
	}
	from, to := e.StartExpr, e.EndExpr
	if mode == "RANGE" {
		var err error
		if from, err = s.distance(e, from); err != nil {
			return "", err
		}
		if to, err = s.distance(e, to); err != nil {
			return "", err
		}
	}
	start, err := s.frameBound(e.Start, from)
	if err != nil {
		return "", err
	}
	end, err := s.frameBound(e.End, to)
	if err != nil {
		return "", err
	}
	text := mode + " BETWEEN " + start + " AND " + end
	switch e.Exclude {
	case "CURRENT_ROW":
		text += " EXCLUDE CURRENT ROW"
	case "GROUP":
		text += " EXCLUDE GROUP"
	case "TIES":
		text += " EXCLUDE TIES"
	}
	return text, nil
}

// distance is what the user wrote as the bound of a RANGE frame: the plan holds the value it leads to,
// the order expression plus or minus it.
func (s Scope) distance(e, to *Expr) (*Expr, error) {
	if to == nil {
		return nil, nil
	}
	unknown := Unsupportedf(ByWindow, "a window over a range of values")
	if len(e.Orders) != 1 || to.Class != "BOUND_FUNCTION" || to.Name != "+" && to.Name != "-" || len(to.Children) != 2 {
		return nil, unknown
	}
	by, err := s.SQL(e.Orders[0].Expression)
	if err != nil {
		return nil, err
	}
	if from, err := s.SQL(to.Children[0]); err != nil || from != by {
		return nil, unknown
	}
	return to.Children[1], nil
}

func (s Scope) frameBound(kind string, e *Expr) (string, error) {
	switch {
	case kind == "UNBOUNDED_PRECEDING":
		return "UNBOUNDED PRECEDING", nil
	case kind == "UNBOUNDED_FOLLOWING":
		return "UNBOUNDED FOLLOWING", nil
	case strings.HasPrefix(kind, "CURRENT_ROW"):
		return "CURRENT ROW", nil
	}
	word := ""
	if strings.HasPrefix(kind, "EXPR_PRECEDING") {
		word = " PRECEDING"
	} else if strings.HasPrefix(kind, "EXPR_FOLLOWING") {
		word = " FOLLOWING"
	}
	if e == nil || word == "" {
		return "", Unsupportedf(ByWindow, "a window frame of an unknown form")
	}
	text, err := s.SQL(e)
	return text + word, err
}

// DecodeOrders reads an ORDER BY in either form the plan has for it.
func DecodeOrders(raw json.RawMessage) ([]Order, error) {
	if IsNull(raw) {
		return nil, nil
	}
	var list []Order
	if json.Unmarshal(raw, &list) == nil {
		return list, nil
	}
	var modifier struct {
		Orders []Order `json:"orders"`
	}
	if err := json.Unmarshal(raw, &modifier); err != nil {
		return nil, Unsupportedf(ByForm, "an ORDER BY of an unknown form")
	}
	return modifier.Orders, nil
}
