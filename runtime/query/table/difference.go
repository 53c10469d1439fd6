package table

import "context"

// Difference is what two tables of the same columns do not have in common, rows compared by the bytes they are remembered as.
type Difference struct {
	Inserted, Deleted string   // what stands after FROM to read the rows that one has more often than the other
	Gained, Lost      [][]byte // the same rows as they are remembered, in order
}

// Differ finds the difference between what is and what was; ok is false for tables that are not held as vectors.
func (s *Set) Differ(ctx context.Context, is, was string, c Columns) (d Difference, ok bool, err error) {
	if s.kept[is] == nil || s.kept[was] == nil {
		return d, false, nil
	}
	if d.Gained, _, err = s.Encode(ctx, is, c); err != nil {
		return d, true, err
	}
	if d.Lost, _, err = s.Encode(ctx, was, c); err != nil {
		return d, true, err
	}
	d.Inserted, d.Deleted = is, was
	left := make(map[string]int, len(d.Lost))
	for _, row := range d.Lost {
		left[string(row)]++
	}
	take := func(rows [][]byte, goes func(row []byte) bool) (numbers []int, out [][]byte) {
		for i, row := range rows {
			if goes(row) {
				numbers, out = append(numbers, i), append(out, row)
			}
		}
		return numbers, out
	}
	gained, rows := take(d.Gained, func(row []byte) bool { left[string(row)]--; return left[string(row)] < 0 })
	if len(rows) == len(d.Gained) {
		return d, true, nil
	}
	d.Gained = rows
	lost, rows := take(d.Lost, func(row []byte) bool { left[string(row)]--; return left[string(row)] >= 0 })
	d.Lost = rows
	d.Inserted, d.Deleted = s.pick(is, gained), s.pick(was, lost)
	return d, true, nil
}

func (s *Set) pick(table string, rows []int) string {
	s.slot++
	t := s.Conn.Pick(s.slot, s.kept[table], rows)
	s.kept[t.Name()] = t
	return t.Name()
}
