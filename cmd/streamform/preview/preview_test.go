package preview

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
)

func tallied(columns batch.Schema, rows ...[]string) Rows {
	t := Rows{columns: columns, rows: map[string]*counted{}}
	for _, r := range rows {
		cells := make([]query.Cell, len(r))
		for i, text := range r {
			cells[i] = query.Cell{Text: text, Null: text == "NULL"}
		}
		t.total++
		key := t.key(cells)
		if c := t.rows[key]; c != nil {
			c.n++
			continue
		}
		t.rows[key] = &counted{cells: cells, n: 1}
	}
	return t
}

// shown writes differences as lines: sign, then cells.
func shown(p Preview) []string {
	out := []string{}
	for _, r := range p.Differences {
		line := r.Sign
		for _, c := range r.Cells {
			if c == nil {
				line += " NULL"
			} else {
				line += " " + *c
			}
		}
		out = append(out, line)
	}
	return out
}

func TestPreviewCompares(t *testing.T) {
	two := batch.Schema{{Name: "k", Type: "BIGINT"}, {Name: "v", Type: "DOUBLE"}}
	cases := map[string]struct {
		before, after Rows
		key           []string
		want          []string
		same          int64
	}{
		"equal":         {before: tallied(two, []string{"1", "2"}), after: tallied(two, []string{"1", "2"}), want: []string{}, same: 1},
		"multiplicity":  {before: tallied(two, []string{"1", "2"}, []string{"1", "2"}, []string{"1", "2"}), after: tallied(two, []string{"1", "2"}), want: []string{"- 1 2", "- 1 2"}, same: 1},
		"by key":        {before: tallied(two, []string{"10", "1"}, []string{"9", "1"}), after: tallied(two, []string{"9", "2"}, []string{"10", "2"}), key: []string{"k"}, want: []string{"- 9 1", "+ 9 2", "- 10 1", "+ 10 2"}},
		"last digits":   {before: tallied(two, []string{"1", "0.30000000000000004"}), after: tallied(two, []string{"1", "0.3"}), want: []string{}, same: 1},
		"null is not N": {before: tallied(two, []string{"NULL", "1"}), after: tallied(two, []string{"N", "1"}), want: []string{"- NULL 1", "+ N 1"}},
		"columns": {before: tallied(two, []string{"1", "2"}), after: tallied(batch.Schema{{Name: "K", Type: "BIGINT"}, {Name: "w", Type: "DOUBLE"}}, []string{"1", "2"}),
			key: []string{"k"}, want: []string{"- 1 NULL 2", "+ 1 2 NULL"}},
		"new": {after: tallied(two, []string{"1", "2"}), want: []string{"+ 1 2"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := Preview{before: c.before, after: c.after, key: c.key}
			p.compare()
			require.Equal(t, c.want, shown(p))
			require.Equal(t, c.same, p.Same)
		})
	}
}

func TestPreviewIsBounded(t *testing.T) {
	one := batch.Schema{{Name: "k", Type: "BIGINT"}}
	many := tallied(one, []string{"7"})
	for _, c := range many.rows {
		c.n = 1_000_000
	}
	many.total = 1_000_000
	p := Preview{before: many}
	p.compare()
	require.Len(t, p.Differences, maxShown)
	require.EqualValues(t, 1_000_000-maxShown, p.NotShown)
}
