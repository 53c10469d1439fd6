package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/logical"
)

// KeyColumns are the columns that are the key's parts just as they are; fewer where a part is something else.
func (k Keyed) KeyColumns(keyExprs, types []string) []int {
	var out []int
	for j, key := range keyExprs {
		i := slices.Index(Numbered("c", len(types)), key)
		if i < 0 || types[i] != k.KeyTypes[j] {
			return nil
		}
		out = append(out, i)
	}
	return out
}

// Fill puts tables in the place of the operator's inputs.
func (k Keyed) Fill(sql string, tables ...string) (string, error) {
	return logical.Replace(sql, func(name string) (string, error) {
		for i, t := range tables {
			if name == logical.InputLeaf(i) {
				return t, nil
			}
		}
		return "", fmt.Errorf("nothing is known of %s", name)
	})
}

// Typed gives the output its declared types and names.
func (k Keyed) Typed(sql string) string {
	list := make([]string, len(k.OutputTypes))
	for i, t := range k.OutputTypes {
		list[i] = fmt.Sprintf("CAST(c%d AS %s) AS c%d", i, t, i)
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM (" + sql + ")"
}

// Rows reads a table of keys and output rows without the keys.
func (k Keyed) Rows(table string) string {
	return "(SELECT " + strings.Join(Numbered("c", len(k.OutputTypes)), ", ") + " FROM " + table + ")"
}

// InputRows reads a table of keys and an input's rows without the keys.
func (k Keyed) InputRows(i int, table string) string {
	return "(SELECT " + strings.Join(Numbered("c", len(k.InputTypes[i])), ", ") + " FROM " + table + ")"
}

// Term is SQL that joins a table of keys and rows of input i with rows of the other input.
func (k Keyed) Term(i int, table, other string) (string, error) {
	tables := []string{k.InputRows(i, table), other}
	if i == 1 {
		slices.Reverse(tables)
	}
	return k.Fill(k.Body, tables...)
}

// Alike is how many of the output's first columns tell its rows apart and have values that are equal and not the same, where a row is given for many.
func (k Keyed) Alike() int {
	n := len(k.KeyTypes)
	switch {
	case k.Groups > 0:
		n = k.Groups
	case k.Kind != "aggregate" && k.Kind != "set" || n > len(k.OutputTypes) || !slices.Equal(k.KeyTypes, k.OutputTypes[:n]):
		return 0
	}
	if !slices.ContainsFunc(k.OutputTypes[:n], bound.Alike) {
		return 0
	}
	return n
}
