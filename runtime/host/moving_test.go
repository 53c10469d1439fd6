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
	. "github.com/streamform/streamform/runtime/host/hosttest"
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
	for i, d := range w.Kinds {
		if d.Kind.Name() != "source.files" {
			continue
		}
		open := d.Source
		w.Kinds[i].Source = func(ctx context.Context, cfg schema.Config, env connector.Env) (connector.Source, error) {
			s, err := open(ctx, cfg, env)
			return meddled{Source: s, meddle: fn}, err
		}
	}
	w.Reopen()
}

func TestFileThatChangesWhileItIsRead(t *testing.T) {
	for _, times := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			w := newWorld(t)
			w.Purchases(1, nil)
			w.Put("view.totals", 1, Attributes{"sql": Text(totals)})
			w.Put("sink.delta.totals", 1, Attributes{"from": Text("view.totals"), "path": Text("lake")})
			w.Backfill()
			left := times
			w.meddle(func(path string) {
				if left > 0 && filepath.Base(path) == "a.json" {
					left--
					w.Land("a.json", Purchase("ann", 10+left))
				}
			})
			w.Land("a.json", Purchase("ann", 1))
			w.Land("b.json", Purchase("bob", 2))
			w.Once()
			require.Equal(t, Want("ann|10|1", "bob|2|1"), w.Query("FROM totals"))
			rows, version := w.Table("lake")
			require.Equal(t, Want("ann|10|1", "bob|2|1"), rows)
			require.EqualValues(t, 0, version, "what was staged for former content is thrown away")
			require.Equal(t, Want("read|1", "read|1"), w.Query("SELECT status, rows FROM purchases.files"))
		})
	}
}

func TestFileThatNeverStopsChanging(t *testing.T) {
	w := newWorld(t)
	w.Purchases(1, nil)
	w.Backfill()
	n := 0
	w.meddle(func(string) {
		n++
		w.Land("a.json", Purchase("ann", n))
	})
	w.Land("a.json", Purchase("ann", 0))
	err := w.Host.Run(t.Context(), true, nil)
	require.ErrorContains(t, err, "a.json changed while it was being read")
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, w.Waited)
	require.Equal(t, Want("0"), w.Query("SELECT count(*) FROM purchases"))
}

func TestFileThatVanishesWhileItIsRead(t *testing.T) {
	w := newWorld(t)
	w.Purchases(1, nil)
	w.Put("view.totals", 1, Attributes{"sql": Text(totals)})
	w.Backfill()
	w.meddle(func(path string) {
		if filepath.Base(path) == "a.json" {
			require.NoError(t, os.RemoveAll(path))
		}
	})
	w.Land("a.json", Purchase("ann", 1))
	w.Land("b.json", Purchase("bob", 2))
	w.Once()
	require.Equal(t, Want("bob|2|1"), w.Query("FROM totals"))
	require.Equal(t, Want("1|vanished|0", "2|read|1"), w.Query("SELECT ordinal, status, rows FROM purchases.files"))
}

// Run without once follows the sources until it is told to stop, and finishes the epoch in hand.
func TestRunFollowsTheSource(t *testing.T) {
	w := newWorld(t)
	w.Purchases(1, nil)
	w.Put("view.totals", 1, Attributes{"sql": Text(totals)})
	w.Put("sink.delta.totals", 1, Attributes{"from": Text("view.totals"), "path": Text("lake")})
	w.Backfill()
	require.NoError(t, w.Host.Close())
	var clock atomic.Int64 // nanoseconds
	clock.Store(time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC).UnixNano())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var begun []string
	landed := 0
	w.Now = func() time.Time { return time.Unix(0, clock.Load()).UTC() }
	w.Wait = func(ctx context.Context, d time.Duration) error {
		clock.Add(int64(d))
		if landed < 3 {
			landed++
			w.Land(fmt.Sprintf("%d.json", landed), Purchase("ann", landed))
		} else {
			cancel()
		}
		return ctx.Err()
	}
	w.Open()
	require.NoError(t, w.Host.Run(ctx, false, func(p job.Progress) {
		if p.NumInputRows > 0 {
			begun = append(begun, p.Timestamp)
		}
	}))
	require.Equal(t, []string{"2026-05-01T10:00:01.000Z", "2026-05-01T10:00:02.000Z", "2026-05-01T10:00:03.000Z"}, begun, "a listing each second, an epoch when there is data")
	rows, version := w.Table("lake")
	require.Equal(t, Want("ann|6|3"), rows)
	require.EqualValues(t, 2, version)
}

func TestPausedPipelineDoesNothing(t *testing.T) {
	w := newWorld(t)
	w.Land("a.json", Purchase("ann", 1))
	w.Put("trigger.processing_time.live", 1, Attributes{"interval": Text("10s"), "paused": cty.True})
	w.Purchases(1, Attributes{"trigger": Text("trigger.processing_time.live")})
	w.Put("view.totals", 1, Attributes{"sql": Text(totals)})
	w.Backfill()
	w.Once()
	require.Empty(t, w.Query("FROM totals"))
	w.Put("trigger.processing_time.live", 1, Attributes{"interval": Text("10s")})
	w.Once()
	require.Equal(t, Want("ann|1|1"), w.Query("FROM totals"))
}

// A view equals its query over what was read, be it nothing: an aggregate without groups has a row then, and so has what reads it.
func TestViewsOverNothing(t *testing.T) {
	for name, more := range map[string]Attributes{"paused": {"trigger": Text("trigger.processing_time.live")}, "failing": {"on_malformed": Text("fail")}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Land("a.json", Purchase("ann", 1), `{"customer"`)
			w.Put("trigger.processing_time.live", 1, Attributes{"interval": Text("10s"), "paused": cty.True})
			w.Purchases(1, more)
			w.Put("view.overall", 1, Attributes{"sql": Text("SELECT count(*) AS n, sum(v) AS v FROM purchases")})
			w.Put("view.above", 1, Attributes{"sql": Text("SELECT n + 1 AS m FROM overall")})
			w.Put("sink.delta.overall", 1, Attributes{"from": Text("view.overall"), "path": Text("lake/overall")})
			_, err := w.Host.Backfill(t.Context(), nil)
			require.Equal(t, name == "failing", err != nil)
			require.Equal(t, Want("0|NULL"), w.Query("FROM overall"))
			require.Equal(t, Want("1"), w.Query("FROM above"))
			rows, version := w.Table("lake/overall")
			require.Equal(t, Want("0|NULL"), rows)
			w.Put("view.again", 1, Attributes{"sql": Text("SELECT count(*) AS n FROM purchases WHERE v > 0")})
			_, _ = w.Host.Backfill(t.Context(), nil)
			require.Equal(t, Want("0"), w.Query("FROM again"))
			require.Equal(t, name == "failing", w.Host.Run(t.Context(), true, nil) != nil)
			_, same := w.Table("lake/overall")
			require.Equal(t, version, same, "once is enough")
		})
	}
}
