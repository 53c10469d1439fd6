package temporal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// shelf is keyed data in a map.
type shelf map[string][]byte

func (s shelf) Read(n int, key func(int) []byte, fn func(int, []byte)) error {
	for i := range n {
		fn(i, s[string(key(i))])
	}
	return nil
}

func (s shelf) take(keys, values [][]byte) {
	for i, k := range keys {
		if values[i] == nil {
			delete(s, string(k))
		} else {
			s[string(k)] = values[i]
		}
	}
}

func walk(t *testing.T, tree *Tree, low, high []byte) (keys []string, numbers []int64) {
	t.Helper()
	require.NoError(t, tree.Range(low, high, func(key []byte, n int64) bool {
		keys, numbers = append(keys, string(key)), append(numbers, n)
		return true
	}))
	return keys, numbers
}

// A tree is a map in order, over many commits, whatever goes in and out.
func TestTreeIsAMapInOrder(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 7))
		mem, model := shelf{}, map[string]int64{}
		size := []int{8, 100, 3000}[seed%3]
		key := func() []byte {
			k := make([]byte, 2+rng.IntN(size))
			binary.BigEndian.PutUint16(k, uint16(rng.IntN(2000)))
			return k
		}
		for epoch := range 30 {
			tree := NewTree(mem, 3)
			for range rng.IntN(200) {
				k, n := key(), 1+rng.Int64N(3)
				require.NoError(t, tree.Add(k, n))
				model[string(k)] += n
			}
			gone := rng.IntN(3) * len(model) / 4
			if epoch%10 == 9 {
				gone = len(model)
			}
			for _, k := range slices.Sorted(maps.Keys(model))[:gone] {
				require.NoError(t, tree.Add([]byte(k), -model[k]))
				delete(model, k)
			}
			mem.take(tree.Changes())
			tree = NewTree(mem, 3)
			low, high := key(), key()
			var want []string
			for _, k := range slices.Sorted(maps.Keys(model)) {
				if k >= string(low) && k < string(high) {
					want = append(want, k)
				}
			}
			got, numbers := walk(t, tree, low, high)
			require.Equal(t, want, got)
			for i, k := range got {
				require.Equal(t, model[k], numbers[i])
			}
			last, err := tree.Before(high)
			require.NoError(t, err)
			var before []byte
			for k := range model {
				if k < string(high) && k > string(before) {
					before = []byte(k)
				}
			}
			require.Equal(t, before, last)
			if len(model) == 0 {
				require.Empty(t, mem, "nothing is left of an empty tree")
			}
		}
	}
}

func TestTreeRefusesWhatIsNotThere(t *testing.T) {
	tree := NewTree(shelf{}, 0)
	require.Error(t, tree.Add([]byte("a"), -1))
	require.NoError(t, tree.Add([]byte("a"), 1))
	require.Error(t, tree.Add([]byte("a"), -2))
	require.NoError(t, tree.Add([]byte("b"), 0))
	_, n := walk(t, tree, nil, []byte("z"))
	require.Equal(t, []int64{1}, n)
}

func FuzzDamagedNodes(f *testing.F) {
	f.Add([]byte{0, 1, 1, 'a', 1})
	f.Add([]byte{1, 1, 0, 5})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := decodeNode(data)
		if err != nil {
			return
		}
		again, err := decodeNode(n.encode())
		require.NoError(t, err)
		require.Equal(t, len(n.items), len(again.items))
	})
}

// A sweep reads the nodes of what it visits, and no others.
func TestRangeReadsWhatItVisits(t *testing.T) {
	mem := shelf{}
	tree := NewTree(mem, 0)
	for i := range 20_000 {
		require.NoError(t, tree.Add(fmt.Appendf(nil, "%08d and some more bytes of a row", i), 1))
	}
	mem.take(tree.Changes())
	tree = NewTree(mem, 0)
	keys, _ := walk(t, tree, []byte("00010000"), []byte("00010010"))
	require.Len(t, keys, 10)
	require.Less(t, len(tree.nodes), 8)
	for i := range 10_000 {
		require.NoError(t, tree.Add(fmt.Appendf(nil, "%08d and some more bytes of a row", i), -1))
	}
	mem.take(tree.Changes())
	require.Less(t, len(mem), 350)
	for _, v := range mem {
		require.LessOrEqual(t, len(v), nodeBytes+1000)
	}
}

// Rows that wait come and go at every clock as the conditions say, looked at one by one.
func TestWaitingRows(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var f Filter
		values := 1 + rng.IntN(2)
		for range 1 + rng.IntN(3) {
			f = append(f, Condition{Value: rng.IntN(values), Sign: []string{"<", "<=", ">", ">="}[rng.IntN(4)], Function: randomFunction(rng)})
		}
		f[0].Value = values - 1
		mem, rows := shelf{}, []Row{}
		in := map[string]bool{}
		clock := at("2024-01-20 00:00:00")
		for range 25 {
			w, err := Open(mem, f)
			require.NoError(t, err)
			was := clock
			if !w.Fresh {
				require.Equal(t, clock, w.Clock)
				switch rng.IntN(3) {
				case 0:
					if w.Due != Never {
						clock = w.Due - int64(rng.IntN(2))
					}
				case 1:
					clock += rng.Int64N(3 * day)
				default:
					clock += rng.Int64N(30 * day)
				}
				if clock < w.Due {
					for _, r := range rows {
						require.Equal(t, in[string(r.Bytes)], f.Passes(r.Values, boundsOf(f, clock)), "changed before it was due")
					}
				}
			}
			to := boundsOf(f, clock)
			require.NoError(t, w.Advance(boundsOf(f, was), to, func(r Row, n int64) {
				require.EqualValues(t, 1, n*n)
				require.Equal(t, n < 0, in[string(r.Bytes)])
				in[string(r.Bytes)] = n > 0
			}))
			rows = (&stand{f, in, clock}).change(t, rng, w, rows)
			for _, r := range rows {
				require.Equal(t, f.Passes(r.Values, to), in[string(r.Bytes)], "%+v at %d", f, clock)
			}
			require.NoError(t, w.Settle(clock, to))
			mem.take(w.Changes())
		}
	}
}

func boundsOf(f Filter, clock int64) Bounds {
	values := make([]int64, len(f))
	for i, c := range f {
		values[i] = c.Function.At(clock)
	}
	return f.Bounds(clock, values)
}

// stand is where a filter is, looked at from outside.
type stand struct {
	filter Filter
	in     map[string]bool // by the row's bytes
	clock  int64
}

// change adds rows, and takes some back.
func (s *stand) change(t *testing.T, rng *rand.Rand, w *Waiting, rows []Row) []Row {
	f, in, clock := s.filter, s.in, s.clock
	to := boundsOf(f, clock)
	for range rng.IntN(8) {
		r := Row{Bytes: fmt.Appendf(nil, "row %d", rng.Int64())}
		for range f.Values() {
			v := f[0].Function.At(clock) + rng.Int64N(60*day) - 30*day
			if rng.IntN(10) == 0 {
				v = []int64{math.MaxInt64, math.MinInt64}[rng.IntN(2)]
			}
			r.Values = append(r.Values, v)
		}
		require.NoError(t, w.Add(r, 1, to))
		rows, in[string(r.Bytes)] = append(rows, r), f.Passes(r.Values, to)
	}
	return slices.DeleteFunc(rows, func(r Row) bool {
		gone := rng.IntN(10) == 0
		if gone {
			require.NoError(t, w.Add(r, -1, to))
		}
		return gone
	})
}

func TestNumbersSortAsBytes(t *testing.T) {
	numbers := []int64{math.MinInt64, -5, -1, 0, 1, 7, math.MaxInt64}
	for i, n := range numbers {
		require.Equal(t, n, number(appendNumber(nil, n)))
		if i > 0 {
			require.Negative(t, bytes.Compare(appendNumber(nil, numbers[i-1]), appendNumber(nil, n)))
		}
	}
}
