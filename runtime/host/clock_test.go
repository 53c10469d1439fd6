package host_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"

	. "github.com/streamform/streamform/runtime/host/hosttest"
	"github.com/streamform/streamform/runtime/job"
)

func visit(user, ts string) string { return fmt.Sprintf(`{"user":%q,"ts":%q}`, user, ts) }

// visits is a source, a view of its last hour, a count of that, and a Delta table of the count.
func (w *world) visits() {
	w.T.Helper()
	w.Put("source.files.visits", 1, Attributes{"path": Text("landing"), "format": Text("json"),
		"columns": cty.MapVal(map[string]cty.Value{"user": Text("VARCHAR"), "ts": Text("TIMESTAMP")})})
	w.Put("view.recent", 1, Attributes{"sql": Text("SELECT user, ts FROM visits WHERE ts > now() - INTERVAL 1 HOUR AND ts <= now()")})
	w.Put("view.counts", 1, Attributes{"sql": Text("SELECT user, count(*) AS n FROM recent GROUP BY user")})
	w.Put("sink.delta.counts", 1, Attributes{"from": Text("view.counts"), "path": Text("lake/counts")})
}

// clocked is a world whose clock stands at a time of 1 May 2026 until it is set.
func clocked(t *testing.T, at string) (w *world, set func(at string)) {
	var now time.Time
	set = func(at string) {
		var err error
		now, err = time.Parse("2006-01-02 15:04:05", "2026-05-01 "+at)
		require.NoError(t, err)
	}
	set(at)
	w = newWorld(t)
	w.Now = func() time.Time { return now }
	w.Wait = func(ctx context.Context, d time.Duration) error {
		now = now.Add(d)
		return ctx.Err()
	}
	w.Reopen()
	return w, set
}

func TestRowsGoInAndOutByTheClock(t *testing.T) {
	w, set := clocked(t, "12:00:00")
	w.Land("a.json", visit("ann", "2026-05-01 11:05:00"), visit("bob", "2026-05-01 11:50:00"), visit("ann", "2026-05-01 12:30:00"), visit("cy", "2026-05-01 10:00:00"))
	w.visits()
	w.Backfill()
	require.Equal(t, Want("ann|1", "bob|1"), w.Query("FROM counts"))
	_, first := w.Table("lake/counts")

	set("12:04:59")
	w.Once()
	_, version := w.Table("lake/counts")
	require.Equal(t, first, version, "nothing is due: no epoch")

	set("12:05:00")
	require.Equal(t, Want("ann|1", "bob|1"), w.Query("FROM counts"), "as of the last commit")
	w.Once()
	require.Equal(t, Want("bob|1"), w.Query("FROM counts"))
	rows, version := w.Table("lake/counts")
	require.Equal(t, Want("bob|1"), rows)
	require.Equal(t, first+1, version)

	w.Reopen()
	set("12:50:00")
	w.Land("b.json", visit("cy", "2026-05-01 12:50:00"))
	w.Once()
	rows, _ = w.Table("lake/counts")
	require.Equal(t, Want("ann|1", "cy|1"), rows)

	set("11:10:00")
	w.Land("c.json", visit("dan", "2026-05-01 12:40:00"))
	w.Once()
	require.Equal(t, Want("ann|1", "cy|1", "dan|1"), w.Query("FROM counts"), "the clock does not go back")
}

func TestRunWakesUpByTheClock(t *testing.T) {
	w, _ := clocked(t, "12:00:00")
	w.Land("a.json", visit("ann", "2026-05-01 11:00:00"), visit("bob", "2026-05-01 11:00:00.4"), visit("cy", "2026-05-01 12:00:03"))
	w.visits()
	w.Backfill()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen []string
	require.NoError(t, w.Host.Run(ctx, false, func(p job.Progress) {
		if p.Streamform.WaitReason != nil {
			return
		}
		at, err := time.Parse(time.RFC3339, p.Timestamp)
		require.NoError(t, err)
		for _, r := range p.Streamform.Relations {
			if r.Address == "view.recent" {
				seen = append(seen, fmt.Sprintf("%s +%d -%d", at.Format("05.000"), r.RowsOut, r.RowsRemoved))
			}
		}
		if len(seen) == 2 {
			cancel()
		}
	}))
	require.Equal(t, []string{"00.400 +0 -1", "03.000 +1 -0"}, seen)
	require.Equal(t, Want("cy|1"), w.Query("FROM counts"))
}

func TestEditOfAFilterByTheTime(t *testing.T) {
	w, set := clocked(t, "12:00:00")
	w.Land("a.json", visit("ann", "2026-05-01 11:05:00"), visit("bob", "2026-05-01 10:30:00"))
	w.visits()
	w.Backfill()
	require.Equal(t, Want("ann|1"), w.Query("FROM counts"))
	set("12:20:00")
	w.Put("view.recent", 2, Attributes{"sql": Text("SELECT user, ts FROM visits WHERE ts > now() - INTERVAL 2 HOUR AND ts <= now()")})
	w.Put("view.counts", 2, Attributes{"sql": Text("SELECT user, count(*) AS n FROM recent GROUP BY user")})
	w.Put("sink.delta.counts", 2, Attributes{"from": Text("view.counts"), "path": Text("lake/counts")})
	w.Backfill()
	require.Equal(t, Want("ann|1", "bob|1"), w.Query("FROM counts"))
	set("12:30:00")
	w.Once()
	require.Equal(t, Want("ann|1"), w.Query("FROM counts"))
}
