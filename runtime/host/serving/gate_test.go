package serving_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/host/serving"
)

// world is what is to run, and what does.
type world struct {
	serving.Gate
	mu      sync.Mutex
	wanted  map[string]string // shapes by ID
	running map[string]string
	starts  int
	told    []string
}

func newWorld(shapes map[string]string) *world {
	return &world{wanted: shapes, running: map[string]string{}}
}

// settle starts what is wanted. One of shape "fails" or "ends" does so at once, "broken" cannot be opened.
func (w *world) settle() {
	if !w.Keeps() {
		return
	}
	w.StopOthers(w.wanted)
	for id, shape := range w.wanted {
		p := serving.Pipeline{ID: id, Name: id, Shape: shape}
		w.Start(p, true, func() (serving.Pipeline, error) {
			if shape == "broken" {
				return p, errors.New("broken")
			}
			p.Follow = func(ctx context.Context) error { return w.follow(ctx, id, shape) }
			return p, nil
		})
	}
}

func (w *world) follow(ctx context.Context, id, shape string) error {
	w.mu.Lock()
	w.running[id] = shape
	w.starts++
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		delete(w.running, id)
		w.mu.Unlock()
	}()
	switch shape {
	case "fails":
		return fmt.Errorf("%s failed", id)
	case "ends":
		return nil
	}
	<-ctx.Done()
	return nil
}

func (w *world) keep(ctx context.Context) chan error {
	over := make(chan error, 1)
	go func() {
		over <- w.Keep(ctx, func(p string, err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.told = append(w.told, p+": "+err.Error())
		}, w.settle)
	}()
	return over
}

func (w *world) has(t *testing.T, want map[string]string) {
	t.Helper()
	require.Eventually(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return fmt.Sprint(w.running) == fmt.Sprint(want)
	}, 10*time.Second, time.Millisecond, "%v", want)
}

func TestChangesStopWhatTheyConcern(t *testing.T) {
	w := newWorld(map[string]string{"a": "1", "b": "1", "c": "1"})
	ctx, stop := context.WithCancel(t.Context())
	over := w.keep(ctx)
	w.has(t, map[string]string{"a": "1", "b": "1", "c": "1"})

	w.Enter()
	w.Stop("a")
	w.has(t, map[string]string{"b": "1", "c": "1"})
	_, runs := w.Running("a")
	require.False(t, runs)
	p, runs := w.Running("b")
	require.True(t, runs)
	require.Equal(t, "b", p.Name)
	delete(w.wanted, "b")
	w.wanted["d"] = "1"
	w.wanted["c"] = "2"
	w.Unlock()
	w.has(t, map[string]string{"a": "1", "c": "2", "d": "1"})
	require.Equal(t, 6, w.starts, "what a change does not concern goes on")

	w.Lock()
	w.has(t, map[string]string{})
	w.Unlock()
	w.has(t, map[string]string{"a": "1", "c": "2", "d": "1"})
	stop()
	require.NoError(t, <-over)
	w.has(t, map[string]string{})
	w.Lock() // and nothing is started any more
	w.Unlock()
	w.has(t, map[string]string{})
}

func TestAGroupIsOneChange(t *testing.T) {
	w := newWorld(map[string]string{"a": "1"})
	ctx, stop := context.WithCancel(t.Context())
	end := w.Group()
	over := w.keep(ctx)
	w.Enter()
	w.Unlock()
	w.has(t, map[string]string{})
	end()
	w.has(t, map[string]string{"a": "1"})

	end = w.Group()
	w.Lock()
	w.Unlock()
	w.has(t, map[string]string{})
	w.Enter()
	w.settle()
	w.Unlock()
	w.has(t, map[string]string{"a": "1"})
	w.Lock()
	w.Unlock()
	select {
	case err := <-over:
		t.Fatalf("it ended in the middle of a change: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	stop()
	end()
	require.NoError(t, <-over)
}

func TestWhatEndsByItself(t *testing.T) {
	w := newWorld(map[string]string{"a": "fails", "b": "1", "c": "broken", "d": "ends"})
	over := w.keep(t.Context())
	w.has(t, map[string]string{"b": "1"})
	w.Enter()
	w.Unlock()
	w.has(t, map[string]string{"b": "1"})
	w.mu.Lock()
	require.Equal(t, 3, w.starts, "what has ended is not started again")
	slices.Sort(w.told)
	require.Equal(t, []string{"a: a failed", "c: broken"}, w.told)
	w.mu.Unlock()

	w.Enter()
	w.wanted = map[string]string{"a": "mended", "b": "1", "c": "fails", "d": "ends"}
	w.Unlock()
	w.has(t, map[string]string{"a": "mended", "b": "1"})
	w.Enter()
	w.wanted = map[string]string{"c": "fails"}
	w.Unlock()
	require.EqualError(t, <-over, "c failed")
}
