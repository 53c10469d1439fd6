package memory

import (
	"bytes"
	"maps"
	"slices"
)

// Cancel forgets rows that are both taken back and added: changes of columns an operator does not read. Both are rows by key. It reports whether
// there were any.
func Cancel(added, removed map[string][][]byte) (some bool) {
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
		some = some || len(left) < len(gone)
		setRows(added, key, stay)
		setRows(removed, key, left)
	}
	return some
}

// EachRow visits rows by key, in the order of the keys.
func EachRow(rows map[string][][]byte, fn func(row []byte) error) error {
	return KeysOf(slices.Collect(maps.Keys(rows))).Each(func(key []byte) error {
		for _, row := range rows[string(key)] {
			if err := fn(row); err != nil {
				return err
			}
		}
		return nil
	})
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

// Differing compares rows as they are with those of the same keys as they were, which are numbered from 0 in the order of the keys: which of
// the ones are new, and which of the others are gone, both ascending.
func Differing(is *Rows, keys []string, was map[string][][]byte) (gained, lost []int) {
	left := make(map[string]map[string]int, len(was))
	for key, rows := range was {
		counts := make(map[string]int, len(rows))
		for _, row := range rows {
			counts[string(row)]++
		}
		left[key] = counts
	}
	for i := range is.Len() {
		if counts := left[string(is.Key(i))]; counts[string(is.Row(i))] > 0 {
			counts[string(is.Row(i))]--
		} else {
			gained = append(gained, i)
		}
	}
	n := 0
	for _, key := range keys {
		for _, row := range was[key] {
			if counts := left[key]; counts[string(row)] > 0 {
				counts[string(row)]--
				lost = append(lost, n)
			}
			n++
		}
	}
	return gained, lost
}
