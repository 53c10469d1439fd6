package temporal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/streamform/streamform/runtime/query/memory"
)

// Tree keeps keys in order, each with a number above 0, in keyed data, which has no order of its own: a B-tree, each of whose nodes is
// one entry. The entry prefix, node number (a varint) → kind (0: leaf, 1: branch), next free node number, then the items one after the other: key behind its
// length, and a varint: a leaf's is the key's number, a branch's the number of the node in which the keys from this one on are. Numbers of nodes count
// from 0, the root; only the root's next free number means anything. A branch's first item stands for all keys before the second, too.
type Tree struct {
	mem     memory.Reader
	prefix  byte
	nodes   map[uint64]*node
	changed map[uint64]bool
}

// nodeBytes is the size above which a node is divided.
const nodeBytes = 4096

type node struct {
	branch bool
	free   uint64 // root: the number of the next new node
	items  []item
}

type item struct {
	key []byte
	n   uint64
}

// NewTree is the tree kept under a prefix.
func NewTree(mem memory.Reader, prefix byte) *Tree {
	return &Tree{mem: mem, prefix: prefix, nodes: map[uint64]*node{}, changed: map[uint64]bool{}}
}

func (t *Tree) entry(id uint64) []byte { return binary.AppendUvarint([]byte{t.prefix}, id) }

var errDamaged = errors.New("reading keyed data: a damaged tree")

// node reads a node. A root that is not there is an empty leaf.
func (t *Tree) node(id uint64) (*node, error) {
	if n, ok := t.nodes[id]; ok {
		return n, nil
	}
	values, err := memory.Get(t.mem, [][]byte{t.entry(id)})
	if err != nil {
		return nil, fmt.Errorf("reading keyed data: %w", err)
	}
	n := &node{free: 1}
	switch {
	case values[0] != nil:
		if n, err = decodeNode(values[0]); err != nil {
			return nil, err
		}
	case id != 0:
		return nil, errDamaged
	}
	t.nodes[id] = n
	return n, nil
}

func decodeNode(v []byte) (*node, error) {
	if len(v) == 0 {
		return nil, errDamaged
	}
	n := &node{branch: v[0] == 1}
	rest := v[1:]
	number := func() uint64 {
		u, used := binary.Uvarint(rest)
		if used <= 0 {
			rest = nil
			return 0
		}
		rest = rest[used:]
		return u
	}
	n.free = number()
	for len(rest) > 0 {
		size := number()
		if uint64(len(rest)) <= size {
			return nil, errDamaged
		}
		key := rest[:size:size]
		rest = rest[size:]
		n.items = append(n.items, item{key: key, n: number()})
	}
	return n, nil
}

func (n *node) encode() []byte {
	out := []byte{0}
	if n.branch {
		out[0] = 1
	}
	out = binary.AppendUvarint(out, n.free)
	for _, it := range n.items {
		out = binary.AppendUvarint(out, uint64(len(it.key)))
		out = binary.AppendUvarint(append(out, it.key...), it.n)
	}
	return out
}

func (n *node) size() int {
	sum := 0
	for _, it := range n.items {
		sum += len(it.key) + 4
	}
	return sum
}

// place is where a key stands, or would stand, among the items.
func (n *node) place(key []byte) (int, bool) {
	return slices.BinarySearchFunc(n.items, key, func(it item, key []byte) int { return bytes.Compare(it.key, key) })
}

// child is the index of the item of a branch under which a key is.
func (n *node) child(key []byte) int {
	at, found := n.place(key)
	if !found && at > 0 {
		at--
	}
	return at
}

// Add moves a key's number by n; a key whose number becomes 0 is gone.
func (t *Tree) Add(key []byte, n int64) error {
	if n == 0 {
		return nil
	}
	path, err := t.path(key)
	if err != nil {
		return err
	}
	id := path[len(path)-1]
	leaf := t.nodes[id]
	at, found := leaf.place(key)
	switch {
	case !found && n > 0:
		leaf.items = slices.Insert(leaf.items, at, item{key: bytes.Clone(key), n: uint64(n)})
	case !found || int64(leaf.items[at].n)+n < 0:
		return errors.New("a row that is not held was taken back")
	case int64(leaf.items[at].n)+n == 0:
		leaf.items = slices.Delete(leaf.items, at, at+1)
	default:
		leaf.items[at].n = uint64(int64(leaf.items[at].n) + n)
	}
	t.changed[id] = true
	if len(leaf.items) == 0 {
		t.drop(path, key)
		return nil
	}
	return t.divide(path)
}

// path is the numbers of the nodes from the root to the leaf of a key.
func (t *Tree) path(key []byte) ([]uint64, error) {
	path := []uint64{0}
	for {
		n, err := t.node(path[len(path)-1])
		if err != nil {
			return nil, err
		}
		if !n.branch {
			return path, nil
		}
		path = append(path, n.items[n.child(key)].n)
	}
}

// drop takes nodes without items out of their branches, from the leaf up.
func (t *Tree) drop(path []uint64, key []byte) {
	for i := len(path) - 1; i > 0 && len(t.nodes[path[i]].items) == 0; i-- {
		parent := t.nodes[path[i-1]]
		at := parent.child(key)
		parent.items = slices.Delete(parent.items, at, at+1)
		t.changed[path[i]], t.changed[path[i-1]] = true, true
	}
	if root := t.nodes[0]; len(root.items) == 0 {
		root.branch, root.free = false, 1
	}
}

// divide splits nodes that are too big, from the leaf up.
func (t *Tree) divide(path []uint64) error {
	for i := len(path) - 1; i >= 0; i-- {
		n := t.nodes[path[i]]
		if len(n.items) < 4 || n.size() <= nodeBytes {
			return nil
		}
		half := n.half()
		upper := &node{branch: n.branch, items: slices.Clone(n.items[half:])}
		t.changed[path[i]] = true
		if i == 0 {
			lower := &node{branch: n.branch, items: n.items[:half]}
			n.branch = true
			n.items = []item{{key: lower.items[0].key, n: t.add(lower)}, {key: upper.items[0].key, n: t.add(upper)}}
			return nil
		}
		n.items = n.items[:half]
		parent := t.nodes[path[i-1]]
		at := parent.child(upper.items[0].key)
		if bytes.Compare(n.items[0].key, parent.items[at].key) < 0 { // a first item stands for smaller keys, too
			parent.items[at].key = n.items[0].key
		}
		parent.items = slices.Insert(parent.items, at+1, item{key: upper.items[0].key, n: t.add(upper)})
		t.changed[path[i-1]] = true
	}
	return nil
}

// half is where a node is divided: in the middle of its bytes.
func (n *node) half() int {
	sum, middle := 0, n.size()/2
	for i, it := range n.items {
		if sum += len(it.key) + 4; sum >= middle {
			return min(max(i, 1), len(n.items)-1)
		}
	}
	return len(n.items) / 2
}

// add gives a new node a number.
func (t *Tree) add(n *node) uint64 {
	root := t.nodes[0]
	id := root.free
	root.free++
	t.nodes[id] = n
	t.changed[id], t.changed[0] = true, true
	return id
}

// Range visits keys from low on that are before high, in order. fn returns false to end it. The tree must not change meanwhile.
func (t *Tree) Range(low, high []byte, fn func(key []byte, n int64) bool) error {
	_, err := t.visit(0, low, high, fn)
	return err
}

func (t *Tree) visit(id uint64, low, high []byte, fn func(key []byte, n int64) bool) (bool, error) {
	n, err := t.node(id)
	if err != nil {
		return false, err
	}
	from, _ := n.place(low)
	if n.branch {
		from = n.child(low)
	}
	for i := from; i < len(n.items); i++ {
		it := n.items[i]
		if bytes.Compare(it.key, high) >= 0 && !(n.branch && i == 0) {
			return false, nil
		}
		more := true
		if n.branch {
			more, err = t.visit(it.n, low, high, fn)
		} else {
			more = fn(it.key, int64(it.n))
		}
		if !more || err != nil {
			return false, err
		}
	}
	return true, nil
}

// Before is the last key before high; nil when there is none.
func (t *Tree) Before(high []byte) ([]byte, error) { return t.before(0, high) }

func (t *Tree) before(id uint64, high []byte) ([]byte, error) {
	n, err := t.node(id)
	if err != nil {
		return nil, err
	}
	at, _ := n.place(high)
	if !n.branch {
		if at == 0 {
			return nil, nil
		}
		return n.items[at-1].key, nil
	}
	for i := min(max(at, 1), len(n.items)) - 1; i >= 0; i-- {
		if key, err := t.before(n.items[i].n, high); key != nil || err != nil {
			return key, err
		}
	}
	return nil, nil
}

// Changes are the entries that differ from what is remembered; a nil value deletes one.
func (t *Tree) Changes() (keys, values [][]byte) {
	ids := make([]uint64, 0, len(t.changed))
	for id := range t.changed {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		keys = append(keys, t.entry(id))
		if n := t.nodes[id]; len(n.items) > 0 {
			values = append(values, n.encode())
		} else {
			values = append(values, nil)
		}
	}
	return keys, values
}
