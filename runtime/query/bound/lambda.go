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
	return reduces(name)
}

// reduces are functions whose lambda has what was made so far as its first parameter.
func reduces(name string) bool {
	return name == "list_reduce" || name == "array_reduce" || name == "reduce"
}

// lambda renders a function over a list and a lambda. The plan keeps the lambda's body apart: its columns are the
// parameters, the last one first, then the children behind the list, which are what the lambda captures.
func (s Scope) lambda(e *Expr) (string, error) {
	var data struct {
		Body       *Expr `json:"lambda_expr"`
		HasIndex   bool  `json:"has_index"`
		HasInitial bool  `json:"has_initial"`
	}
	if err := json.Unmarshal(e.FunctionData, &data); err != nil || data.Body == nil || data.HasInitial || len(e.Children) == 0 {
		return "", Unsupportedf(ByFunction, "the function %s", e.Name)
	}
	parts, err := s.All(e.Children)
	if err != nil {
		return "", err
	}
	n := 1
	for _, more := range []bool{data.HasIndex, reduces(e.Name)} {
		if more {
			n++
		}
	}
	names := parameters(n, parts)
	columns := slices.Clone(names)
	slices.Reverse(columns)
	body, err := append(Scope(columns), parts[1:]...).SQL(data.Body)
	if err != nil {
		return "", err
	}
	return Ident(e.Name) + "(" + parts[0] + ", lambda " + strings.Join(names, ", ") + ": " + body + ")", nil
}

// parameters are n names that none of the texts has.
func parameters(n int, texts []string) []string {
	var out []string
	for i := 0; len(out) < n; i++ {
		name := fmt.Sprintf("sf$x%d", i)
		if !slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, name) }) {
			out = append(out, name)
		}
	}
	return out
}
