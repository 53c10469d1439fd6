package store

import (
	"errors"
	"fmt"
	"sync"
)

// waiting counts the changes that wait to be folded, and lets commits wait when
// folding cannot keep up.
type waiting struct {
	mu     sync.Mutex
	folded *sync.Cond // signalled when changes were folded, or folding failed
	keys   int64
	bytes  int64
	err    error // of the last fold
	closed bool
	wakeup chan struct{}
}

// enough changes for a fold, times patience, are where commits begin to wait.
const patience = 4

func (w *waiting) init() {
	w.folded = sync.NewCond(&w.mu)
	w.wakeup = make(chan struct{}, 1)
}

func (w *waiting) add(keys, size int64) {
	w.mu.Lock()
	w.keys += keys
	w.bytes += size
	w.mu.Unlock()
}

// due says whether n times as much waits as makes a fold worth its while.
func (w *waiting) due(o *Options, n int64) bool {
	return w.keys >= n*o.foldKeys || w.bytes >= n*o.foldBytes
}

func (w *waiting) wake() {
	select {
	case w.wakeup <- struct{}{}:
	default: // it is awake
	}
}

func (w *waiting) wakeWhenDue(o *Options) {
	w.mu.Lock()
	due := w.due(o, 1)
	w.mu.Unlock()
	if due {
		w.wake()
	}
}

// half says whether so much waits that memory which is short can be helped by a fold. Less is not worth one: every fold brings
// about compactions that cost by the size of the table, and a budget too small for what is in use would fold after every commit.
func (w *waiting) half(o *Options) bool { return w.keys*2 >= o.foldKeys || w.bytes*2 >= o.foldBytes }

// wakeForMemory asks for a fold before it is due by itself.
func (w *waiting) wakeForMemory(o *Options) {
	w.mu.Lock()
	due := w.half(o)
	w.mu.Unlock()
	if due {
		w.wake()
	}
}

// forRoom waits while far more changes wait than a fold takes.
func (w *waiting) forRoom(s *Store) error {
	if s.options.manual {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.due(&s.options, patience) {
		if w.closed {
			return errors.New("the store is closed")
		}
		if err := s.failure(); err != nil {
			return err
		}
		if w.err != nil {
			w.wake() // to try again
			return fmt.Errorf("earlier changes cannot be folded: %w", w.err)
		}
		w.wake()
		w.folded.Wait()
	}
	return nil
}

// done takes folded changes off the account, or notes why they could not be folded.
func (w *waiting) done(keys, size int64, err error) {
	w.mu.Lock()
	w.keys -= keys
	w.bytes -= size
	w.err = err
	w.mu.Unlock()
	w.folded.Broadcast()
}

func (w *waiting) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.folded.Broadcast()
}
