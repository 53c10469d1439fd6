package bound

import (
	"bytes"
	"strings"
)

// Scope gives the SQL for each column position of an expression's input. An
// empty text marks a column that cannot be named, such as a row id.
type Scope []string

// safeSerialized are functions whose children say everything, although the plan
// also writes private function data for them.
func safeSerialized(name string) bool {
	switch name {
	case "struct_pack", "row", "strftime", "strptime", "try_strptime", "date_part", "list_value",
		"concat", "concat_ws", "regexp_matches", "regexp_full_match", "regexp_extract", "regexp_replace",
		"json_extract", "json_extract_string", "->", "->>", "json_value", "json_exists", "json_type", "json_array_length",
		"round", "list_concat", "list_aggr", "to_json", "+", "-", "*":
		return true
	}
	return false
}

// SQL renders an expression over the given input columns.
func (s Scope) SQL(e *Expr) (string, error) {
	switch e.Class {
	case "BOUND_REF":
		if e.Index < 0 || e.Index >= len(s) || s[e.Index] == "" {
			return "", Unsupportedf(ByForm, "the row identifier of a relation")
		}
		return s[e.Index], nil
	case "BOUND_CONSTANT":
		return e.Value.SQL()
	case "BOUND_CAST":
		return s.cast(e)
	case "BOUND_COMPARISON":
		return s.comparison(e)
	case "BOUND_CONJUNCTION":
		word := " AND "
		if e.Type == "CONJUNCTION_OR" {
			word = " OR "
		}
		return s.Joined(e.Children, "(", word, ")")
	case "BOUND_OPERATOR":
		return s.operator(e)
	case "BOUND_BETWEEN":
		return s.between(e)
	case "BOUND_CASE":
		return s.caseWhen(e)
	case "BOUND_FUNCTION":
		return s.function(e)
	case "BOUND_PARAMETER":
		if _, ok := e.Clock(); ok {
			return ClockSQL, nil
		}
	}
	return "", Unsupportedf(ByForm, "an expression of class %s", e.Class)
}

// All renders expressions.
func (s Scope) All(es []*Expr) ([]string, error) {
	out := make([]string, len(es))
	for i, e := range es {
		text, err := s.SQL(e)
		if err != nil {
			return nil, err
		}
		out[i] = text
	}
	return out, nil
}

// Joined renders expressions with sep between them.
func (s Scope) Joined(es []*Expr, open, sep, end string) (string, error) {
	parts, err := s.All(es)
	if err != nil {
		return "", err
	}
	return open + strings.Join(parts, sep) + end, nil
}

func (s Scope) cast(e *Expr) (string, error) {
	child, err := s.castable(e)
	if err != nil {
		return "", err
	}
	typ, err := e.Return.SQL()
	if err != nil {
		return "", err
	}
	word := "CAST("
	if e.TryCast {
		word = "TRY_CAST("
	}
	return word + child + " AS " + typ + ")", nil
}

// ComparisonSign is a comparison's SQL sign; ok is false for an unknown one.
func ComparisonSign(t string) (string, bool) {
	switch t {
	case "COMPARE_EQUAL":
		return "=", true
	case "COMPARE_NOTEQUAL":
		return "<>", true
	case "COMPARE_LESSTHAN":
		return "<", true
	case "COMPARE_GREATERTHAN":
		return ">", true
	case "COMPARE_LESSTHANOREQUALTO":
		return "<=", true
	case "COMPARE_GREATERTHANOREQUALTO":
		return ">=", true
	case "COMPARE_DISTINCT_FROM":
		return "IS DISTINCT FROM", true
	case "COMPARE_NOT_DISTINCT_FROM":
		return "IS NOT DISTINCT FROM", true
	}
	return "", false
}

func (s Scope) comparison(e *Expr) (string, error) {
	sign, ok := ComparisonSign(e.Type)
	if !ok {
		return "", Unsupportedf(ByForm, "a comparison of type %s", e.Type)
	}
	return s.Joined([]*Expr{compared(e.Left), compared(e.Right)}, "(", " "+sign+" ", ")")
}

func (s Scope) operator(e *Expr) (string, error) {
	parts, err := s.All(e.Children)
	if err != nil {
		return "", err
	}
	switch {
	case e.Type == "OPERATOR_NOT" && len(parts) == 1:
		return "(NOT " + parts[0] + ")", nil
	case e.Type == "OPERATOR_IS_NULL" && len(parts) == 1:
		return "(" + parts[0] + " IS NULL)", nil
	case e.Type == "OPERATOR_IS_NOT_NULL" && len(parts) == 1:
		return "(" + parts[0] + " IS NOT NULL)", nil
	case e.Type == "OPERATOR_COALESCE":
		return "COALESCE(" + strings.Join(parts, ", ") + ")", nil
	case e.Type == "OPERATOR_TRY" && len(parts) == 1:
		return "TRY(" + parts[0] + ")", nil
	case e.Type == "COMPARE_IN" && len(parts) > 1:
		return "(" + parts[0] + " IN (" + strings.Join(parts[1:], ", ") + "))", nil
	case e.Type == "COMPARE_NOT_IN" && len(parts) > 1:
		return "(" + parts[0] + " NOT IN (" + strings.Join(parts[1:], ", ") + "))", nil
	}
	return "", Unsupportedf(ByForm, "the operator %s", e.Type)
}

func (s Scope) between(e *Expr) (string, error) {
	parts, err := s.All([]*Expr{e.Input, e.Lower, e.Upper})
	if err != nil {
		return "", err
	}
	lower, upper := " > ", " < "
	if e.LowerIncluded {
		lower = " >= "
	}
	if e.UpperIncluded {
		upper = " <= "
	}
	return "((" + parts[0] + lower + parts[1] + ") AND (" + parts[0] + upper + parts[2] + "))", nil
}

func (s Scope) caseWhen(e *Expr) (string, error) {
	var b strings.Builder
	b.WriteString("CASE")
	for _, c := range e.CaseChecks {
		parts, err := s.All([]*Expr{c.When, c.Then})
		if err != nil {
			return "", err
		}
		b.WriteString(" WHEN " + parts[0] + " THEN " + parts[1])
	}
	otherwise, err := s.SQL(e.ElseExpr)
	if err != nil {
		return "", err
	}
	b.WriteString(" ELSE " + otherwise + " END")
	return b.String(), nil
}

func (s Scope) function(e *Expr) (string, error) {
	if overLambda(e.Name) {
		return s.lambda(e)
	}
	if e.HasSerialize && !safeSerialized(e.Name) && len(bytes.TrimSpace(e.FunctionData)) > 0 {
		return "", Unsupportedf(ByFunction, "the function %s", e.Name)
	}
	parts, err := s.All(e.Children)
	if err != nil {
		return "", err
	}
	if e.Name == "list_aggr" {
		extra, err := listAggregateData(e)
		if err != nil {
			return "", err
		}
		parts = append(parts, extra...)
	}
	switch {
	case e.Name == "struct_pack" || e.Name == "row":
		return structPack(e, parts)
	case e.ofRow():
		return e.rowMember(parts[0])
	case isSign(e.Name) && len(parts) == 2:
		return "(" + parts[0] + " " + e.Name + " " + parts[1] + ")", nil
	case e.Name == "-" && len(parts) == 1:
		return "(- " + parts[0] + ")", nil
	case e.Name == "~~" || e.Name == "!~~" || e.Name == "~~*" || e.Name == "!~~*":
		return like(e.Name, parts)
	}
	return Ident(e.Name) + "(" + strings.Join(parts, ", ") + ")", nil
}

func isSign(name string) bool {
	switch name {
	case "+", "-", "*", "/", "//", "%", "||", "&", "|", "<<", ">>", "->", "->>", "**":
		return true
	}
	return false
}

func like(name string, parts []string) (string, error) {
	if len(parts) != 2 {
		return "", Unsupportedf(ByForm, "LIKE of an unknown form")
	}
	word := map[string]string{"~~": " LIKE ", "!~~": " NOT LIKE ", "~~*": " ILIKE ", "!~~*": " NOT ILIKE "}[name]
	return "(" + parts[0] + word + parts[1] + ")", nil
}

func structPack(e *Expr, parts []string) (string, error) {
	if e.Return.Info == nil || len(e.Return.Info.Children) != len(parts) {
		return "", Unsupportedf(ByForm, "a struct of an unknown form")
	}
	for i, m := range e.Return.Info.Children {
		parts[i] = m.name(i) + " := " + parts[i]
	}
	return "struct_pack(" + strings.Join(parts, ", ") + ")", nil
}

// Member is the SQL of a struct's member.
func Member(of, name string) string {
	return Ident("struct_extract") + "(" + of + ", " + Text(name) + ")"
}

// SQL renders a filter that was pushed into a scan, over one column.
func (f Filter) SQL(column string) (string, error) {
	switch f.FilterType {
	case "CONSTANT_COMPARISON":
		sign, ok := ComparisonSign(f.ComparisonType)
		if !ok || f.Constant == nil {
			return "", Unsupportedf(ByForm, "a pushed-down comparison %s", f.ComparisonType)
		}
		c, err := f.Constant.SQL()
		return "(" + column + " " + sign + " " + c + ")", err
	case "IS_NULL":
		return "(" + column + " IS NULL)", nil
	case "IS_NOT_NULL":
		return "(" + column + " IS NOT NULL)", nil
	case "EXPRESSION_FILTER":
		return Scope{column}.SQL(f.Expr)
	case "STRUCT_EXTRACT":
		if f.ChildFilter != nil && f.ChildName != "" {
			return f.ChildFilter.SQL(Member(column, f.ChildName))
		}
	case "CONJUNCTION_AND", "CONJUNCTION_OR":
		word := " AND "
		if f.FilterType == "CONJUNCTION_OR" {
			word = " OR "
		}
		var parts []string
		for _, c := range f.ChildFilters {
			text, err := c.SQL(column)
			if err != nil {
				return "", err
			}
			parts = append(parts, text)
		}
		return "(" + strings.Join(parts, word) + ")", nil
	case "IN_FILTER":
		var parts []string
		for _, v := range f.Values {
			text, err := v.SQL()
			if err != nil {
				return "", err
			}
			parts = append(parts, text)
		}
		return "(" + column + " IN (" + strings.Join(parts, ", ") + "))", nil
	}
	return "", Unsupportedf(ByForm, "a pushed-down filter %s", f.FilterType)
}
