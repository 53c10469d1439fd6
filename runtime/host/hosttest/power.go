package hosttest

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/store"
	"github.com/streamform/streamform/runtime/store/crashing"
)

// Moment is what a power cut at one write of the store leaves: what the store had synced, and the lake as it was.
type Moment struct {
	store crashing.Remains
	lake  string
}

// Camera takes a moment before each write of the store, while it is on.
type Camera struct {
	t       *testing.T
	mu      sync.Mutex
	on      bool
	disk    *crashing.Disk
	lake    string
	moments []Moment
	inside  []Moment // of publishing
}

// take takes a moment.
func (c *Camera) take() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.on {
		return nil
	}
	m := Moment{store: c.disk.Cut(), lake: c.t.TempDir()}
	if _, err := os.Stat(c.lake); err == nil {
		if err := os.CopyFS(m.lake, os.DirFS(c.lake)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	c.moments = append(c.moments, m)
	return nil
}

// Shoot runs act with the camera on and returns a selection of the moments, the last always among them.
func (c *Camera) Shoot(act func(), most int) []Moment {
	c.mu.Lock()
	c.on, c.moments = true, nil
	c.mu.Unlock()
	act()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on = false
	n := len(c.moments)
	require.Positive(c.t, n)
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	var some []Moment
	for _, i := range rng.Perm(n - 1)[:min(most, n)-1] {
		some = append(some, c.moments[i])
	}
	return append(some, c.moments[n-1])
}

// Crashable is a world whose store is photographed.
func Crashable(t *testing.T) (*World, *Camera) {
	w := NewWorld(t)
	require.NoError(t, w.Host.Close())
	c := &Camera{t: t, disk: crashing.New(), lake: w.Path("lake")}
	w.Store = store.Options{Dir: "store", FS: c.disk.Before(c.take)}
	w.Open()
	return w, c
}

// Cut is a restart after a power cut at a moment.
func (w *World) Cut(m Moment) {
	w.T.Helper()
	require.NoError(w.T, w.Host.Close())
	require.NoError(w.T, os.RemoveAll(w.Path("lake")))
	require.NoError(w.T, os.CopyFS(w.Path("lake"), os.DirFS(m.lake)))
	w.Store = store.Options{Dir: "store", FS: m.store.Disk()}
	w.Open()
}

// Fault is which deliveries of Delta sinks fail, and how.
type Fault struct {
	Times     int  // that deliveries will fail
	Published bool // what fails took effect all the same
	Staging   int  // times that staging will fail for the sink At
	At        string
}

type shaky struct {
	connector.Sink
	fault *Fault
}

// ErrUnreachable is what a delivery that was shaken fails with.
var ErrUnreachable = errors.New("the lake is out of reach")

func (s shaky) Stage(ctx context.Context, d connector.Delivery, st connector.Stager) (connector.Staged, error) {
	staged, err := s.Sink.Stage(ctx, d, st)
	if s.fault.Staging > 0 && d.Sink == s.fault.At && err == nil {
		s.fault.Staging--
		return staged, ErrUnreachable
	}
	return staged, err
}

func (s shaky) Publish(ctx context.Context, st connector.Staged) (connector.Receipt, error) {
	if s.fault.Times == 0 {
		return s.Sink.Publish(ctx, st)
	}
	s.fault.Times--
	if s.fault.Published {
		if _, err := s.Sink.Publish(ctx, st); err != nil {
			return nil, err
		}
	}
	return nil, ErrUnreachable
}

// Shake has Delta sinks fail from now on.
func (w *World) Shake(fault *Fault) {
	for i, d := range w.Kinds {
		if d.Kind.Name() != "sink.delta" {
			continue
		}
		open := d.Sink
		w.Kinds[i].Sink = func(ctx context.Context, cfg schema.Config, env connector.Env) (connector.Sink, error) {
			s, err := open(ctx, cfg, env)
			return shaky{Sink: s, fault: fault}, err
		}
	}
	w.Reopen()
}
