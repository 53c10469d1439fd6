package store

import "sync"

// recycled is memory that reads and commits use again, as long as the garbage collector leaves it: fresh memory costs more than what is written into it.
type recycled[T any] struct{ pool sync.Pool }

// take returns an empty slice with room for n.
func (r *recycled[T]) take(n int) []T {
	if s, _ := r.pool.Get().(*[]T); s != nil && cap(*s) >= n {
		return (*s)[:0]
	}
	return make([]T, 0, n)
}

// give takes back a slice that nobody reads any more.
func (r *recycled[T]) give(s []T) {
	if cap(s) > 0 {
		r.pool.Put(&s)
	}
}
