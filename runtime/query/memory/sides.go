package memory

import (
	"bytes"
	"maps"
	"slices"
)

// Cancel forgets rows that are both taken back and added: changes of columns an operator does not read. Both are rows by key.
func Cancel(added, removed map[string][][]byte) {
	for key, gone := range removed {
		count := make(map[string]int, len(gone))
		for _, row := range gone {
			count[string(row)]++
		}
		stay := slices.DeleteFunc(added[key], func(row []byte) bool {
			count[string(row)]--
			return count[string(row)] >= 0
		})
		var left [][]byte
		for _, row := range gone {
			if count[string(row)] > 0 {
				count[string(row)]--
				left = append(left, row)
			}
		}
		setRows(added, key, stay)
		setRows(removed, key, left)
	}
}

func setRows(m map[string][][]byte, key string, rows [][]byte) {
	if len(rows) == 0 {
		delete(m, key)
		return
	}
	m[key] = rows
}

// DropUnchanged leaves out the keys whose rows are the same on both sides.
func DropUnchanged(added, removed map[string][][]byte) {
	for _, k := range slices.Collect(maps.Keys(added)) {
		a, b := slices.Clone(added[k]), slices.Clone(removed[k])
		slices.SortFunc(a, bytes.Compare)
		slices.SortFunc(b, bytes.Compare)
		if slices.EqualFunc(a, b, bytes.Equal) {
			delete(added, k)
			delete(removed, k)
		}
	}
}
