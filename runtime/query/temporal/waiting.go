package temporal

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/memory"
)

// Row is a row as it waits: the values its filter reads, and all of it as bytes.
type Row struct {
	Values []int64
	Bytes  []byte
}

// Waiting is the rows of a filter for which the clock may still change something. Keyed data holds them once for each value they wait by, in its order, in
// trees whose prefixes count from 0: the value by which they wait, all values, then the row. Numbers stand with their sign
// turned and the high byte first, so that they sort as bytes. The entry headKey → clock of the last epoch and moment of the next change, both so.
type Waiting struct {
	filter Filter
	mem    memory.Reader
	trees  []*Tree
	// Clock is the moment up to which the rows are sorted out; Due the next one at which one of them goes in or out, or Never. Fresh: there was no epoch yet.
	Clock, Due int64
	Fresh      bool
}

const headKey = "\xff"

// Open reads where the last epoch left off.
func Open(mem memory.Reader, f Filter) (*Waiting, error) {
	w := &Waiting{filter: f, mem: mem, Fresh: true, Due: Never}
	for i := range f.Values() {
		w.trees = append(w.trees, NewTree(mem, byte(i)))
	}
	head, err := memory.Get(mem, [][]byte{[]byte(headKey)})
	if err != nil {
		return nil, fmt.Errorf("reading keyed data: %w", err)
	}
	if head[0] == nil {
		return w, nil
	}
	if len(head[0]) != 16 {
		return nil, errDamaged
	}
	w.Clock, w.Due, w.Fresh = number(head[0]), number(head[0][8:]), false
	return w, nil
}

func appendNumber(dst []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(n)^(1<<63))
}

func number(b []byte) int64 { return int64(binary.BigEndian.Uint64(b) ^ (1 << 63)) }

func (r Row) key(by int) []byte {
	out := make([]byte, 0, 8*(len(r.Values)+1)+len(r.Bytes))
	out = appendNumber(out, r.Values[by])
	return r.rest(out)
}

func (r Row) rest(dst []byte) []byte {
	for _, v := range r.Values {
		dst = appendNumber(dst, v)
	}
	return append(dst, r.Bytes...)
}

func (w *Waiting) row(rest string) (Row, error) {
	n := len(w.trees)
	if len(rest) < 8*n {
		return Row{}, errDamaged
	}
	r := Row{Values: make([]int64, n), Bytes: []byte(rest[8*n:])}
	for i := range n {
		r.Values[i] = number([]byte(rest[8*i:]))
	}
	return r, nil
}

// Add moves the number of a row by n, as of the epoch's bounds.
func (w *Waiting) Add(r Row, n int64, at Bounds) error {
	for i, t := range w.trees {
		if w.filter.Waits(i, r.Values, at) {
			if err := t.Add(r.key(i), n); err != nil {
				return err
			}
		}
	}
	return nil
}

// Advance lets the clock go on: moved is told of each waiting row that goes in (n > 0) or out (n < 0) between the bounds of
// the last epoch and those of this one, n times. Rows that nothing will change any more are forgotten.
func (w *Waiting) Advance(from, to Bounds, moved func(r Row, n int64)) error {
	touched := map[string]int64{}
	for i, t := range w.trees {
		for _, s := range w.swept(i, from, to) {
			err := t.Range(s[0], s[1], func(key []byte, n int64) bool {
				touched[string(key[8:])] = n
				return true
			})
			if err != nil {
				return err
			}
		}
	}
	rests := make([]string, 0, len(touched))
	for rest := range touched {
		rests = append(rests, rest)
	}
	slices.SortFunc(rests, strings.Compare)
	for _, rest := range rests {
		r, err := w.row(rest)
		if err != nil {
			return err
		}
		n := touched[rest]
		switch was, is := w.filter.Passes(r.Values, from), w.filter.Passes(r.Values, to); {
		case is && !was:
			moved(r, n)
		case was && !is:
			moved(r, -n)
		}
		if err := w.forget(r, n, from, to); err != nil {
			return err
		}
	}
	return nil
}

// forget drops a row from the trees in which it waits no longer.
func (w *Waiting) forget(r Row, n int64, from, to Bounds) error {
	for i, t := range w.trees {
		if w.filter.Waits(i, r.Values, from) && !w.filter.Waits(i, r.Values, to) {
			if err := t.Add(r.key(i), -n); err != nil {
				return err
			}
		}
	}
	return nil
}

// swept are the ranges of the i-th value in which something may have changed.
func (w *Waiting) swept(i int, from, to Bounds) [][2][]byte {
	var out [][2][]byte
	for j, c := range w.filter {
		if c.Value != i {
			continue
		}
		for _, pair := range [][2]int64{{from.Now[j], to.Now[j]}, {from.Settled[j], to.Settled[j]}} {
			if low, high := min(pair[0], pair[1]), max(pair[0], pair[1]); low < high {
				out = append(out, [2][]byte{appendNumber(nil, low), appendNumber(nil, high)})
			}
		}
	}
	return out
}

// Settle ends an epoch: it finds when the next row is due.
func (w *Waiting) Settle(clock int64, at Bounds) error {
	w.Clock, w.Due, w.Fresh = clock, Never, false
	for j, c := range w.filter {
		t, bound := w.trees[c.Value], appendNumber(nil, at.Now[j])
		next := int64(math.MaxInt64)
		if err := t.Range(bound, []byte(headKey+headKey), func(key []byte, _ int64) bool {
			next = number(key)
			return false
		}); err != nil {
			return err
		}
		if next < math.MaxInt64 {
			w.Due = min(w.Due, c.Function.Reach(clock, next+1-c.past()))
		}
		if c.Function.rises() {
			continue
		}
		last, err := t.Before(bound)
		if err != nil {
			return err
		}
		if last != nil {
			w.Due = min(w.Due, c.Function.Fall(clock, number(last)+1-c.past()))
		}
	}
	return nil
}

// Changes are the entries of keyed data that the epoch changes; a nil value deletes one.
func (w *Waiting) Changes() (keys, values [][]byte) {
	for _, t := range w.trees {
		k, v := t.Changes()
		keys, values = append(keys, k...), append(values, v...)
	}
	head := appendNumber(appendNumber(nil, w.Clock), w.Due)
	return append(keys, []byte(headKey)), append(values, head)
}
