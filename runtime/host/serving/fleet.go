// Package serving keeps pipelines running by their triggers, and stops and starts single ones while what was applied changes.
package serving

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/streamform/streamform/runtime/job"
)

// Pipeline is one to be kept running.
type Pipeline struct {
	ID, Name string
	Shape    string // what it was made of
	Sequence *job.Sequence
	Follow   func(ctx context.Context) error // runs until ctx ends, then finishes the epoch in hand
}

// fleet are the pipelines that are kept running.
type fleet struct {
	ctx      context.Context
	stopped  func(pipeline string, err error)
	mu       sync.Mutex
	changed  *sync.Cond
	running  map[string]*member // by ID
	ended    map[string]string  // shapes of those that ended by themselves, by ID
	failures map[string]failure // by ID
	changes  int                // under way; meanwhile the fleet lives on though nothing may run
}

type failure struct {
	pipeline string
	err      error
}

type member struct {
	Pipeline
	stop    context.CancelFunc
	done    chan struct{}
	stopped bool
}

func newFleet(ctx context.Context, stopped func(pipeline string, err error)) *fleet {
	f := &fleet{ctx: ctx, stopped: stopped, running: map[string]*member{}, ended: map[string]string{}, failures: map[string]failure{}}
	f.changed = sync.NewCond(&f.mu)
	return f
}

// start has a pipeline run. told says whether its failure is told at once.
func (f *fleet) start(p Pipeline, told bool) {
	ctx, cancel := context.WithCancel(f.ctx)
	m := &member{Pipeline: p, stop: cancel, done: make(chan struct{})}
	f.mu.Lock()
	f.running[p.ID] = m
	delete(f.ended, p.ID)
	delete(f.failures, p.ID)
	f.mu.Unlock()
	go func() {
		defer cancel()
		err := p.Follow(ctx)
		if err != nil && told {
			f.stopped(p.Name, err)
		}
		f.leave(m, err)
		close(m.done)
	}()
}

// fail notes that a pipeline could not be started.
func (f *fleet) fail(p Pipeline, err error, told bool) {
	if told {
		f.stopped(p.Name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures[p.ID], f.ended[p.ID] = failure{p.Name, err}, p.Shape
}

func (f *fleet) leave(m *member, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.running, m.ID)
	if !m.stopped {
		f.ended[m.ID] = m.Shape
	}
	if err != nil {
		f.failures[m.ID] = failure{m.Name, err}
	}
	f.changed.Broadcast()
}

// stop stops the pipelines for which which says so, and waits until they have.
func (f *fleet) stop(which func(Pipeline) bool) {
	f.mu.Lock()
	var all []*member
	for _, m := range f.running {
		if which(m.Pipeline) {
			m.stopped = true
			all = append(all, m)
		}
	}
	f.mu.Unlock()
	for _, m := range all {
		m.stop()
	}
	for _, m := range all {
		<-m.done
	}
}

// knows reports whether a pipeline of this shape runs, or has ended by itself.
func (f *fleet) knows(id, shape string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, runs := f.running[id]
	return runs || f.ended[id] == shape
}

// change counts changes that begin (1) and end (-1).
func (f *fleet) change(by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changes += by
	f.changed.Broadcast()
}

// rest waits until nothing runs and no change is under way.
func (f *fleet) rest() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.resting() {
		f.changed.Wait()
	}
}

func (f *fleet) resting() bool { return len(f.running) == 0 && f.changes == 0 }

// failed joins the failures of pipelines that were not started again.
func (f *fleet) failed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []error
	for _, x := range slices.SortedFunc(maps.Values(f.failures), func(a, b failure) int { return strings.Compare(a.pipeline, b.pipeline) }) {
		all = append(all, x.err)
	}
	return errors.Join(all...)
}
