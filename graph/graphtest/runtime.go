package graphtest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/graph/apply"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// Store keeps the state in memory. It shows in Saves what was ever saved.
type Store struct {
	mu     sync.Mutex
	data   []byte
	head   *state.Document // what CheckSave needs of it
	Saves  int
	Broken error // what Save fails with
}

// Load decodes what was saved.
func (s *Store) Load(context.Context) (*state.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.data == nil {
		return nil, nil
	}
	return state.Decode(s.data)
}

// Save encodes the document, so that nothing is shared with the caller.
func (s *Store) Save(_ context.Context, d *state.Document) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Broken != nil {
		return s.Broken
	}
	if err := state.CheckSave(s.head, d); err != nil {
		return err
	}
	data, err := state.Encode(d)
	if err != nil {
		return err
	}
	s.data, s.head = data, &state.Document{Lineage: d.Lineage, Serial: d.Serial}
	s.Saves++
	return nil
}

// Lock does nothing: these tests have one writer.
func (s *Store) Lock(context.Context, state.LockInfo) error { return nil }

// Unlock does nothing.
func (s *Store) Unlock(context.Context, string) error { return nil }

// ErrTarget is what a Runtime fails with when it is told to.
var ErrTarget = errors.New("the runtime does not answer")

// Runtime is a target that remembers what it was told. Every call is written to Calls.
type Runtime struct {
	ID       string
	Live     map[addr.Resource]int64 // generation that serves; of what carries rows also 0
	Building map[addr.Resource]int64
	Values   map[addr.Resource]string // attributes as last put
	Calls    []string
	Panic    bool // a call that is to fail panics instead, as a crash does
	calls    int
	failAt   int
}

// Fail makes the n-th call from now on fail; 0 makes none fail.
func (r *Runtime) Fail(n int) { r.calls, r.failAt = 0, n }

// NewRuntime is an empty runtime.
func NewRuntime(id string) *Runtime {
	return &Runtime{ID: id, Live: map[addr.Resource]int64{}, Building: map[addr.Resource]int64{}, Values: map[addr.Resource]string{}}
}

// RuntimeID is the ID.
func (r *Runtime) RuntimeID() string { return r.ID }

func (r *Runtime) call(format string, args ...any) error {
	r.calls++
	r.Calls = append(r.Calls, fmt.Sprintf(format, args...))
	if r.calls != r.failAt {
		return nil
	}
	if r.Panic {
		panic(ErrTarget)
	}
	return ErrTarget
}

// Put notes the value; a new generation waits for Backfill.
func (r *Runtime) Put(_ context.Context, c plan.Change) error {
	if err := r.call("put %s %d", c.Addr, c.Desired.Generation); err != nil {
		return err
	}
	if c.PreviousAddr != nil {
		r.rename(*c.PreviousAddr, c.Addr)
	}
	r.Values[c.Addr] = string(c.Desired.Attributes)
	if !graph.Carries(c.Addr) {
		return nil
	}
	if live, ok := r.Live[c.Addr]; !ok || live != c.Desired.Generation {
		r.Live[c.Addr] = live
		r.Building[c.Addr] = c.Desired.Generation
	}
	return nil
}

// rename gives what is held another address; what is not there was renamed before.
func (r *Runtime) rename(from, to addr.Resource) {
	if live, ok := r.Live[from]; ok {
		r.Live[to] = live
		delete(r.Live, from)
	}
	delete(r.Values, from)
}

// Delete forgets a resource.
func (r *Runtime) Delete(_ context.Context, a addr.Resource) error {
	if err := r.call("delete %s", a); err != nil {
		return err
	}
	delete(r.Live, a)
	delete(r.Building, a)
	delete(r.Values, a)
	return nil
}

// Backfill makes everything live.
func (r *Runtime) Backfill(_ context.Context, progress func(apply.Progress)) (apply.Summary, error) {
	progress(apply.Progress{Rows: 1, TotalBytes: 2})
	if err := r.call("backfill"); err != nil {
		return apply.Summary{}, err
	}
	out := apply.Summary{}
	for a, g := range r.Building {
		r.Live[a] = g
		out.Relations = append(out.Relations, apply.RelationSummary{Addr: a, Rows: 1})
	}
	clear(r.Building)
	return out, nil
}
