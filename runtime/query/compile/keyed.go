package compile

import (
	"fmt"
	"slices"
	"strings"

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
