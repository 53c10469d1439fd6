package table

import (
	"context"
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
)

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
	if _, d.Gained, err = s.Encode(ctx, is, c); err != nil {
		return d, true, err
	}
	if _, d.Lost, err = s.Encode(ctx, was, c); err != nil {
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
	d.Inserted, d.Deleted = s.Pick(is, gained), s.Pick(was, lost)
	return d, true, nil
}

// Kept reports whether a table is held as vectors, so that Pick can choose rows of it.
func (s *Set) Kept(table string) bool { return s.kept[table] != nil }

// Pick makes a table of some rows of one that is Kept. rows are their numbers, ascending.
func (s *Set) Pick(table string, rows []int) string {
	s.slot++
	t := s.Conn.Pick(s.slot, s.kept[table], rows)
	s.kept[t.Name()] = t
	return t.Name()
}

// Without is what stands after FROM to read rows without those taken back, which are the same and not only equal. DuckDB 1.5 sorts for
// EXCEPT ALL, after which every zero of a column it sorts by is 0.0.
func Without(held, gone string, names, types []string) string {
	told, list := Told(names, types), strings.Join(names, ", ")
	if told == "" {
		return fmt.Sprintf("(FROM %s EXCEPT ALL FROM %s)", held, gone)
	}
	net := fmt.Sprintf("SELECT %[1]s, CAST(sum(sf$w) AS BIGINT) AS sf$n%[2]s FROM (SELECT %[1]s, 1 AS sf$w FROM %[3]s UNION ALL SELECT %[1]s, -1 FROM %[4]s) GROUP BY ALL HAVING sum(sf$w) > 0",
		list, told, held, gone)
	return fmt.Sprintf("(SELECT %[1]s FROM (SELECT %[1]s, unnest(range(sf$n)) AS sf$r FROM (%[2]s)))", list, net)
}

// WithoutEqual is Without for rows that are taken back by any that SQL takes as equal.
func WithoutEqual(held, gone string, names []string) string {
	on := make([]string, len(names))
	for i, n := range names {
		on[i] = fmt.Sprintf("h.%[1]s IS NOT DISTINCT FROM g.%[1]s", n)
	}
	list, match := strings.Join(names, ", "), strings.Join(on, " AND ")
	net := fmt.Sprintf("SELECT %[1]s, CAST(sum(sf$w) AS BIGINT) AS sf$n FROM (SELECT %[1]s, 1 AS sf$w FROM (FROM %[2]s h SEMI JOIN %[3]s g ON %[4]s) UNION ALL SELECT %[1]s, -1 FROM %[3]s) GROUP BY ALL HAVING sum(sf$w) > 0",
		list, held, gone, match)
	return fmt.Sprintf("(FROM (FROM %[2]s h ANTI JOIN %[3]s g ON %[4]s) UNION ALL SELECT %[1]s FROM (SELECT %[1]s, unnest(range(sf$n)) AS sf$r FROM (%[5]s)))", list, held, gone, match, net)
}

// Told are further columns sf$s0, … for a select list, each behind a comma, that tell rows apart which SQL takes as equal.
func Told(names, types []string) string {
	var out strings.Builder
	for i, n := range names {
		if tell := bound.Telling(n, types[i]); tell != "" {
			fmt.Fprintf(&out, ", %s AS sf$s%d", tell, i)
		}
	}
	return out.String()
}

// Canonical makes a table again, with the values of its key as keys are remembered: 0.0 for every zero, one NaN.
func (s *Set) Canonical(ctx context.Context, table string, c Columns) (string, error) {
	keys, values, err := s.Encode(ctx, table, c)
	if err != nil {
		return "", err
	}
	l, err := s.Loader(c.Names, c.Types)
	if err != nil {
		return "", err
	}
	defer l.Release()
	for i, k := range keys {
		if err := l.Append(ctx, k, values[i]); err != nil {
			return "", err
		}
	}
	return l.Table(ctx)
}

// Net is Differ by a statement. It counts the rows of both sides.
func (s *Set) Net(ctx context.Context, is, was string, c Columns) (d Difference, inserted, deleted int64, err error) {
	list := strings.Join(c.Names, ", ")
	net, err := s.Make(ctx, fmt.Sprintf("SELECT %[1]s, CAST(sum(sf$w) AS BIGINT) AS sf$n%[2]s FROM (SELECT *, 1 AS sf$w FROM %[3]s UNION ALL SELECT *, -1 FROM %[4]s) GROUP BY ALL HAVING sum(sf$w) <> 0",
		list, Told(c.Names, c.Types), is, was))
	if err != nil {
		return d, 0, 0, err
	}
	most := int64(0)
	err = s.Integers(ctx, net, "sf$n", len(c.Names), func(n int64) {
		inserted += max(n, 0)
		deleted += max(-n, 0)
		most = max(most, n, -n)
	})
	d.Inserted, d.Deleted = repeated(list, net, "sf$n", most), repeated(list, net, "-sf$n", most)
	return d, inserted, deleted, err
}

// repeated reads the rows of one sign, each as often as it counts.
func repeated(list, net, weight string, most int64) string {
	if most <= 1 {
		return fmt.Sprintf("(SELECT %s FROM %s WHERE %s > 0)", list, net, weight)
	}
	return fmt.Sprintf("(SELECT %s FROM (SELECT *, unnest(range(%s)) AS sf$r FROM %s WHERE %s > 0))", list, weight, net, weight)
}
