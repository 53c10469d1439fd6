package logical

import (
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
)

// Used adds the columns that a plan's scans read, by leaf, to into: names in lower case.
func Used(op *bound.Op, into map[string]map[string]bool) {
	if schema, name, ok := op.Table(); ok && op.Stored == "" {
		leaf := RelationLeaf(schema, name)
		if into[leaf] == nil {
			into[leaf] = map[string]bool{}
		}
		names, err := op.ScanColumns()
		if err != nil {
			names = op.Names
		}
		for _, f := range op.TableFilters.Filters {
			if f.Key >= 0 && f.Key < len(op.Names) {
				names = append(names, op.Names[f.Key])
			}
		}
		for _, n := range names {
			if n != "" {
				into[leaf][strings.ToLower(n)] = true
			}
		}
	}
	for _, c := range op.Children {
		Used(c, into)
	}
}
