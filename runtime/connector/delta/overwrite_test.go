package delta_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An overwrite changes the files that hold what is to go, and counts what differs.
func TestOverwriteGivesTheDifference(t *testing.T) {
	for name, c := range map[string]struct {
		rows       []string
		more, less int64
		kept       int // files that stay, of three
	}{
		"one row is another": {[]string{"1 a", "2 b", "3 c", "4 D", "5 e", "5 e"}, 1, 1, 2},
		"one of two equals":  {[]string{"1 a", "2 b", "3 c", "4 d", "5 e"}, 0, 1, 2},
		"one more":           {[]string{"1 a", "2 b", "3 c", "4 d", "5 e", "5 e", "6 f"}, 1, 0, 3},
		"most are others":    {[]string{"1 A", "2 B", "3 C", "4 D", "5 e"}, 4, 5, 0},
		"none":               {nil, 0, 6, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "stream.x", "append")
			b.deliver([]string{"1 a", "2 b"}, nil)
			b.deliver([]string{"3 c", "4 d"}, nil)
			b.deliver([]string{"5 e", "5 e"}, nil)
			before := b.live()
			require.Len(t, before, 3)
			b.next.Generation, b.next.Overwrite, b.next.Previous = 2, true, nil
			st, err := b.stage(c.rows, nil)
			require.NoError(t, err)
			require.Equal(t, [2]int64{c.more, c.less}, [2]int64{st.Rows.Inserted, st.Rows.Deleted})
			_, err = b.sink.Publish(t.Context(), st)
			require.NoError(t, err)
			want := c.rows
			if want == nil {
				want = []string{}
			}
			require.ElementsMatch(t, want, b.rows())
			kept := 0
			for _, f := range b.live() {
				for _, was := range before {
					if f == was {
						kept++
					}
				}
			}
			require.Equal(t, c.kept, kept)
		})
	}
}
