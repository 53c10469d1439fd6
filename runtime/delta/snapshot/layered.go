package snapshot

import (
	"iter"
	"maps"

	"github.com/streamform/streamform/runtime/delta/action"
)

// layered is a map by file whose clones share what has not changed: a table followed version by version must not pay for all
// its files and tombstones each time.
type layered[V any] struct {
	base map[action.FileKey]V  // shared, never changed
	over map[action.FileKey]*V // on top of base; nil: not there
}

// merging over into base costs as much as base is large, so it waits until over is a part of that.
const (
	leastOver = 1024
	overShare = 8
)

func (l *layered[V]) get(key action.FileKey) (V, bool) {
	if v, ok := l.over[key]; ok {
		if v == nil {
			var none V
			return none, false
		}
		return *v, true
	}
	v, ok := l.base[key]
	return v, ok
}

func (l *layered[V]) set(key action.FileKey, v V) {
	if l.over == nil {
		l.over = map[action.FileKey]*V{}
	}
	l.over[key] = &v
}

func (l *layered[V]) remove(key action.FileKey) {
	if _, inBase := l.base[key]; !inBase {
		delete(l.over, key)
		return
	}
	if l.over == nil {
		l.over = map[action.FileKey]*V{}
	}
	l.over[key] = nil
}

// all yields every entry, in no order.
func (l *layered[V]) all() iter.Seq2[action.FileKey, V] {
	return func(yield func(action.FileKey, V) bool) {
		for key, v := range l.base {
			if _, covered := l.over[key]; !covered && !yield(key, v) {
				return
			}
		}
		for key, v := range l.over {
			if v != nil && !yield(key, *v) {
				return
			}
		}
	}
}

// clone returns a copy that may be changed.
func (l *layered[V]) clone() layered[V] {
	if len(l.over) > leastOver+len(l.base)/overShare {
		return layered[V]{base: maps.Collect(l.all())}
	}
	return layered[V]{base: l.base, over: maps.Clone(l.over)}
}
