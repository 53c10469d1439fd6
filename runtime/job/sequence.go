package job

import "sync"

// Sequence is what jobs of one pipeline share that run at the same time: one serves, another computes what is being built. Each takes a number
// for an epoch when it begins it, so that numbers may be committed in another order, and one may be missing after a crash; those
// that one sink is given grow all the same, as one job serves it.
type Sequence struct {
	mu        sync.Mutex
	given     int64 // the last number that was taken
	committed int64 // the greatest one that was committed
	pace      Pace  // up to it
}

// next is the number of the epoch in hand: one that failed is tried again under the number it had.
func (j *Job) next() int64 {
	if j.taken == 0 {
		j.Sequence.mu.Lock()
		defer j.Sequence.mu.Unlock()
		j.Sequence.given++
		j.taken = j.Sequence.given
	}
	return j.taken
}
