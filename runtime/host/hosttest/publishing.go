package hosttest

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/connector"
)

// Film has the camera look into what Delta sinks do when they publish: Inside then tells the moments.
func (w *World) Film(c *Camera) {
	for i, d := range w.Kinds {
		if d.Kind.Name() != "sink.delta" {
			continue
		}
		open := d.Sink
		w.Kinds[i].Sink = func(ctx context.Context, cfg schema.Config, env connector.Env) (connector.Sink, error) {
			s, err := open(ctx, cfg, env)
			return filmed{Sink: s, camera: c}, err
		}
	}
	w.Reopen()
}

type filmed struct {
	connector.Sink
	camera *Camera
}

// Publish notes what a power cut would leave before each file that publishing writes, and after the last one.
func (f filmed) Publish(ctx context.Context, st connector.Staged) (connector.Receipt, error) {
	c := f.camera
	c.mu.Lock()
	on := c.on
	c.mu.Unlock()
	if !on {
		return f.Sink.Publish(ctx, st)
	}
	before := Moment{store: c.disk.Cut(), lake: c.t.TempDir()}
	require.NoError(c.t, os.CopyFS(before.lake, os.DirFS(c.lake)))
	receipt, err := f.Sink.Publish(ctx, st)
	moments := []Moment{before}
	for _, name := range c.written(before.lake) {
		last := moments[len(moments)-1]
		next := Moment{store: before.store, lake: c.t.TempDir()}
		require.NoError(c.t, os.CopyFS(next.lake, os.DirFS(last.lake)))
		data, err := os.ReadFile(filepath.Join(c.lake, name))
		require.NoError(c.t, err)
		require.NoError(c.t, os.MkdirAll(filepath.Dir(filepath.Join(next.lake, name)), 0o755))
		require.NoError(c.t, os.WriteFile(filepath.Join(next.lake, name), data, 0o644))
		moments = append(moments, next)
	}
	c.mu.Lock()
	c.inside = append(c.inside, moments...)
	c.mu.Unlock()
	return receipt, err
}

// written lists the files that are not as they were in another folder, in the order in which they were written.
func (c *Camera) written(before string) []string {
	times := map[string]int64{}
	var names []string
	require.NoError(c.t, filepath.WalkDir(c.lake, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(c.lake, path)
		if err != nil {
			return err
		}
		now, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if was, err := os.ReadFile(filepath.Join(before, name)); err == nil && slices.Equal(was, now) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		times[name] = info.ModTime().UnixNano()
		names = append(names, name)
		return nil
	}))
	slices.SortFunc(names, func(a, b string) int { return int(times[a] - times[b]) })
	return names
}

// Inside runs act and returns the moments inside of publishing.
func (c *Camera) Inside(act func()) []Moment {
	c.inside = nil
	c.Shoot(act, 1)
	return c.inside
}
