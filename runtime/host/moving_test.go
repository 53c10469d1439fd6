package host_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/job"
)

// meddled calls meddle before each file is verified.
type meddled struct {
	connector.Source
	meddle func(path string)
}

func (m meddled) Verify(ctx context.Context, e connector.Entry) error {
	m.meddle(e.Path)
	return m.Source.Verify(ctx, e)
}

func (m meddled) Dirs() []string { return m.Source.(connector.Located).Dirs() }

// meddle lets something happen to files between reading and verifying.
func (w *world) meddle(fn func(path string)) {
	for i, d := range w.kinds {
		if d.Kind.Name() != "source.files" {
			continue
		}
		open := d.Source
		w.kinds[i].Source = func(ctx context.Context, cfg schema.Config, env connector.Env) (connector.Source, error) {
			s, err := open(ctx, cfg, env)
			return meddled{Source: s, meddle: fn}, err
		}
	}
	w.reopen()
}

func TestFileThatChangesWhileItIsRead(t *testing.T) {
	for _, times := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			w := newWorld(t)
			w.purchases(1, nil)
			w.put("view.totals", 1, attributes{"sql": text(totals)})
			w.put("sink.delta.totals", 1, attributes{"from": text("view.totals"), "path": text("lake")})
			w.backfill()
			left := times
			w.meddle(func(path string) {
				if left > 0 && filepath.Base(path) == "a.json" {
					left--
					w.land("a.json", purchase("ann", 10+left))
				}
			})
			w.land("a.json", purchase("ann", 1))
			w.land("b.json", purchase("bob", 2))
			w.once()
			require.Equal(t, want("ann|10|1", "bob|2|1"), w.query("FROM totals"))
			rows, version := w.table("lake")
			require.Equal(t, want("ann|10|1", "bob|2|1"), rows)
			require.EqualValues(t, 0, version, "what was staged for former content is thrown away")
			require.Equal(t, want("read|1", "read|1"), w.query("SELECT status, rows FROM purchases.files"))
		})
	}
}

func TestFileThatNeverStopsChanging(t *testing.T) {
	w := newWorld(t)
	w.purchases(1, nil)
	w.backfill()
	n := 0
	w.meddle(func(string) {
		n++
		w.land("a.json", purchase("ann", n))
	})
	w.land("a.json", purchase("ann", 0))
	err := w.host.Run(t.Context(), true, nil)
	require.ErrorContains(t, err, "a.json changed while it was being read")
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, w.waited)
	require.Equal(t, want("0"), w.query("SELECT count(*) FROM purchases"))
}

func TestFileThatVanishesWhileItIsRead(t *testing.T) {
	w := newWorld(t)
	w.purchases(1, nil)
	w.put("view.totals", 1, attributes{"sql": text(totals)})
	w.backfill()
	w.meddle(func(path string) {
		if filepath.Base(path) == "a.json" {
			require.NoError(t, os.RemoveAll(path))
		}
	})
	w.land("a.json", purchase("ann", 1))
	w.land("b.json", purchase("bob", 2))
	w.once()
	require.Equal(t, want("bob|2|1"), w.query("FROM totals"))
	require.Equal(t, want("1|vanished|0", "2|read|1"), w.query("SELECT ordinal, status, rows FROM purchases.files"))
}

// Run without once follows the sources until it is told to stop, and finishes the epoch in hand.
func TestRunFollowsTheSource(t *testing.T) {
	w := newWorld(t)
	w.purchases(1, nil)
	w.put("view.totals", 1, attributes{"sql": text(totals)})
	w.put("sink.delta.totals", 1, attributes{"from": text("view.totals"), "path": text("lake")})
	w.backfill()
	require.NoError(t, w.host.Close())
	var clock atomic.Int64 // nanoseconds
	clock.Store(time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC).UnixNano())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var begun []string
	landed := 0
	w.now = func() time.Time { return time.Unix(0, clock.Load()).UTC() }
	w.wait = func(ctx context.Context, d time.Duration) error {
		clock.Add(int64(d))
		if landed < 3 {
			landed++
			w.land(fmt.Sprintf("%d.json", landed), purchase("ann", landed))
		} else {
			cancel()
		}
		return ctx.Err()
	}
	w.open()
	require.NoError(t, w.host.Run(ctx, false, func(p job.Progress) {
		if p.NumInputRows > 0 {
			begun = append(begun, p.Timestamp)
		}
	}))
	require.Equal(t, []string{"2026-05-01T10:00:01.000Z", "2026-05-01T10:00:02.000Z", "2026-05-01T10:00:03.000Z"}, begun, "a listing each second, an epoch when there is data")
	rows, version := w.table("lake")
	require.Equal(t, want("ann|6|3"), rows)
	require.EqualValues(t, 2, version)
}

func TestPausedPipelineDoesNothing(t *testing.T) {
	w := newWorld(t)
	w.land("a.json", purchase("ann", 1))
	w.put("trigger.processing_time.live", 1, attributes{"interval": text("10s"), "paused": cty.True})
	w.purchases(1, attributes{"trigger": text("trigger.processing_time.live")})
	w.put("view.totals", 1, attributes{"sql": text(totals)})
	w.backfill()
	w.once()
	require.Empty(t, w.query("FROM totals"))
	w.put("trigger.processing_time.live", 1, attributes{"interval": text("10s")})
	w.once()
	require.Equal(t, want("ann|1|1"), w.query("FROM totals"))
}
