package bound

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// overLambda are functions whose second argument is a lambda of one parameter.
func overLambda(name string) bool {
	switch name {
	case "list_transform", "array_transform", "list_apply", "array_apply", "apply", "list_filter", "array_filter", "filter":
		return true
	}
	return false
}

// lambda renders a function over a list and a lambda. The plan keeps the lambda's body apart: its columns
// are the parameter, then the children behind the list, which are what the lambda captures.
func (s Scope) lambda(e *Expr) (string, error) {
	var data struct {
		Body       *Expr `json:"lambda_expr"`
		HasIndex   bool  `json:"has_index"`
		HasInitial bool  `json:"has_initial"`
	}
	if err := json.Unmarshal(e.FunctionData, &data); err != nil || data.Body == nil || data.HasIndex || data.HasInitial || len(e.Children) == 0 {
		return "", Unsupportedf(ByFunction, "the function %s", e.Name)
	}
	parts, err := s.All(e.Children)
	if err != nil {
		return "", err
	}
	parameter := ""
	for n := 0; parameter == "" || slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(p, parameter) }); n++ {
		parameter = fmt.Sprintf("sf$x%d", n)
	}
	body, err := append(Scope{parameter}, parts[1:]...).SQL(data.Body)
	if err != nil {
		return "", err
	}
	return Ident(e.Name) + "(" + parts[0] + ", lambda " + parameter + ": " + body + ")", nil
}
