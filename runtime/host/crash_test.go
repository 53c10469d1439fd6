package host_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/store"
	"github.com/streamform/streamform/runtime/store/crashing"
)

// moment is what a power cut at one write of the store leaves: what the store had synced, and the lake as it was.
type moment struct {
	store *vfs.MemFS
	lake  string
}

// camera takes a moment before each write of the store, while it is on.
type camera struct {
	t       *testing.T
	mu      sync.Mutex
	on      bool
	mem     *crashing.Disk
	lake    string
	moments []moment
}

func (c *camera) MaybeError(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.on {
		return nil
	}
	m := moment{store: c.mem.Crash(vfs.CrashCloneCfg{}), lake: c.t.TempDir()}
	if _, err := os.Stat(c.lake); err == nil {
		if err := os.CopyFS(m.lake, os.DirFS(c.lake)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	c.moments = append(c.moments, m)
	return nil
}

func (c *camera) String() string { return "camera" }

// shoot runs act with the camera on and returns a selection of the moments, the last always among them.
func (c *camera) shoot(act func(), most int) []moment {
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
	var some []moment
	for _, i := range rng.Perm(n - 1)[:min(most, n)-1] {
		some = append(some, c.moments[i])
	}
	return append(some, c.moments[n-1])
}

// crashable is a world whose store is photographed.
func crashable(t *testing.T) (*world, *camera) {
	w := newWorld(t)
	require.NoError(t, w.host.Close())
	c := &camera{t: t, mem: crashing.New(), lake: w.path("lake")}
	w.store = store.Options{Dir: "store", FS: errorfs.Wrap(c.mem, c)}
	w.open()
	return w, c
}

// cut is a restart after a power cut at a moment.
func (w *world) cut(m moment) {
	w.t.Helper()
	require.NoError(w.t, w.host.Close())
	require.NoError(w.t, os.RemoveAll(w.path("lake")))
	require.NoError(w.t, os.CopyFS(w.path("lake"), os.DirFS(m.lake)))
	w.store = store.Options{Dir: "store", FS: m.store.CrashClone(vfs.CrashCloneCfg{})}
	w.open()
}

const crashes = 9

func TestPowerCutsDuringBackfill(t *testing.T) {
	w, c := crashable(t)
	w.land("a.json", purchase("ann", 1), purchase("bob", 2))
	w.land("b.json", purchase("ann", 4), `{"customer"`, purchase("cy", -1))
	w.land("c.json", purchase("bob", 8))
	w.shop()
	for i, m := range c.shoot(func() { w.backfill() }, crashes) {
		w.cut(m)
		w.backfill()
		w.once()
		valid, version := w.table("lake/valid")
		require.Equal(t, want("ann|1", "bob|2", "ann|4", "bob|8"), valid, "cut %d", i)
		require.EqualValues(t, 2, version, "cut %d: one version for each epoch", i)
		sums, _ := w.table("lake/totals")
		require.Equal(t, want("ann|5|2", "bob|10|2", "cy|-1|1"), sums, "cut %d", i)
		require.Equal(t, sums, w.query("FROM totals"))
		require.Equal(t, want("1|read|2", "2|read|2", "3|read|1"), w.query("SELECT ordinal, status, rows FROM purchases.files"))
		require.Equal(t, want("1"), w.query("SELECT count(*) FROM purchases.malformed"))
		f, err := w.host.Facts(t.Context())
		require.NoError(t, err)
		for _, s := range f.Sources {
			require.EqualValues(t, 5, s.Rows, "counters are part of the commit")
			require.Zero(t, s.BacklogFiles)
		}
	}
}

func TestPowerCutsDuringRun(t *testing.T) {
	w, c := crashable(t)
	w.land("a.json", purchase("ann", 1))
	w.shop()
	w.backfill()
	for i := range 3 {
		w.land(fmt.Sprintf("n%d.json", i), purchase("ann", 1), purchase("bob", 1))
	}
	for i, m := range c.shoot(w.once, crashes) {
		w.cut(m)
		w.once()
		w.once()
		valid, version := w.table("lake/valid")
		require.Len(t, valid, 7, "cut %d", i)
		require.EqualValues(t, 3, version, "cut %d", i)
		sums, _ := w.table("lake/totals")
		require.Equal(t, want("ann|4|4", "bob|3|3"), sums, "cut %d", i)
	}
}

// A rebuild is the old or the new generation, never a mix, and the next backfill finishes it.
func TestPowerCutsDuringRebuild(t *testing.T) {
	w, c := crashable(t)
	w.land("a.json", purchase("ann", 1), purchase("bob", 2))
	w.land("b.json", purchase("ann", 4))
	w.shop()
	w.put("view.big", 1, attributes{"sql": text("SELECT max(total) AS m FROM totals")})
	w.put("sink.delta.big", 1, attributes{"from": text("view.big"), "path": text("lake/big")})
	w.backfill()
	w.put("stream.valid", 2, attributes{"sql": text("SELECT customer, -v AS v FROM purchases")})
	w.put("sink.delta.valid", 2, attributes{"from": text("stream.valid"), "path": text("lake/valid")})
	w.put("view.totals", 2, attributes{"sql": text("SELECT customer, sum(v) * 10 AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	w.put("sink.delta.totals", 2, attributes{"from": text("view.totals"), "path": text("lake/totals")})
	w.put("view.fresh", 1, attributes{"sql": text("SELECT customer, count(*) AS n FROM valid GROUP BY ALL")})
	w.put("sink.delta.fresh", 1, attributes{"from": text("view.fresh"), "path": text("lake/fresh")})
	before, after := want("ann|5|2", "bob|2|1"), want("ann|50|2", "bob|20|1")
	for i, m := range c.shoot(func() { w.backfill() }, crashes) {
		w.cut(m)
		require.Contains(t, [][]string{before, after}, w.query("FROM totals"), "cut %d", i)
		if sums, _ := w.table("lake/totals"); len(sums) > 0 {
			require.Contains(t, [][]string{before, after}, sums, "cut %d", i)
		}
		w.land("late.json")
		w.backfill()
		w.once()
		require.Equal(t, after, w.query("FROM totals"), "cut %d", i)
		require.Equal(t, want("50"), w.query("FROM big"))
		for dir, rows := range map[string][]string{"lake/totals": after, "lake/valid": want("ann|-1", "bob|-2", "ann|-4"),
			"lake/big": want("50"), "lake/fresh": want("ann|2", "bob|1")} {
			got, _ := w.table(dir)
			require.Equal(t, rows, got, "cut %d: %s", i, dir)
		}
		require.NoError(t, os.Remove(w.path("landing", "late.json")))
	}
}

// shaky makes Publish of Delta sinks fail, before or after it took effect.
type shaky struct {
	connector.Sink
	fails *int // times it will fail
	after bool
}

var errUnreachable = errors.New("the lake is out of reach")

func (s shaky) Publish(ctx context.Context, st connector.Staged) (connector.Receipt, error) {
	if *s.fails > 0 {
		*s.fails--
		if s.after {
			if _, err := s.Sink.Publish(ctx, st); err != nil {
				return nil, err
			}
		}
		return nil, errUnreachable
	}
	return s.Sink.Publish(ctx, st)
}

// shake lets the next deliveries fail.
func (w *world) shake(fails *int, after bool) {
	for i, d := range w.kinds {
		if d.Kind.Name() != "sink.delta" {
			continue
		}
		open := d.Sink
		w.kinds[i].Sink = func(ctx context.Context, cfg schema.Config, env connector.Env) (connector.Sink, error) {
			s, err := open(ctx, cfg, env)
			return shaky{Sink: s, fails: fails, after: after}, err
		}
	}
	w.reopen()
}

func TestDeliveriesThatFail(t *testing.T) {
	for _, after := range []bool{false, true} {
		for _, times := range []int{1, 3, 4, 11} {
			t.Run(fmt.Sprintf("after %t %d times", after, times), func(t *testing.T) {
				w := newWorld(t)
				w.land("a.json", purchase("ann", 1))
				w.land("b.json", purchase("ann", 2))
				w.shop()
				fails := times
				w.shake(&fails, after)
				_, err := w.host.Backfill(t.Context(), nil)
				for fails > 0 {
					require.ErrorIs(t, err, errUnreachable, "after four attempts the command ends")
					w.reopen()
					_, err = w.host.Backfill(t.Context(), nil)
				}
				if err != nil {
					require.ErrorIs(t, err, errUnreachable)
					w.reopen()
				}
				w.once()
				w.once()
				valid, version := w.table("lake/valid")
				require.Equal(t, want("ann|1", "ann|2"), valid)
				require.EqualValues(t, 1, version)
				sums, _ := w.table("lake/totals")
				require.Equal(t, want("ann|3|2"), sums)
				for i, d := range w.waited {
					require.Equal(t, time.Second<<(i%3), d)
				}
			})
		}
	}
}

// An edit that carries keyed data over, and one that is replayed, beside readers that receive the difference: the view, its
// reader and both tables show the former or the new rows, never a mix, and the next backfill finishes.
func TestPowerCutsDuringCutOverWithDifferences(t *testing.T) {
	for name, carried := range map[string]bool{"carried": true, "replayed": false} {
		t.Run(name, func(t *testing.T) {
			w, c := crashable(t)
			w.land("a.json", purchase("ann", 1), purchase("bob", 2))
			w.land("b.json", purchase("ann", 4))
			w.shop()
			w.put("view.big", 1, attributes{"sql": text("SELECT max(total) AS m, count(*) AS n FROM totals")})
			w.put("sink.delta.big", 1, attributes{"from": text("view.big"), "path": text("lake/big")})
			w.backfill()
			sql := "SELECT customer, sum(v) * 10 AS total, count(*) AS n FROM purchases GROUP BY ALL"
			before, after := want("ann|5|2", "bob|2|1"), want("ann|50|2", "bob|20|1")
			shots := c.shoot(func() {
				if carried {
					require.NotNil(t, w.edit("view.totals", 2, sql).Carry)
				} else {
					w.put("view.totals", 2, attributes{"sql": text(sql)})
				}
				w.backfill()
			}, crashes)
			for i, m := range shots {
				w.cut(m)
				rows := w.query("FROM totals")
				require.Contains(t, [][]string{before, after}, rows, "cut %d", i)
				big := map[bool][]string{false: want("5|2"), true: want("50|2")}[rows[0] == after[0]]
				require.Equal(t, big, w.query("FROM big"), "cut %d: the reader is where the view is", i)
				for dir, states := range map[string][][]string{"totals": {before, after}, "big": {want("5|2"), want("50|2")}} {
					table, _ := w.table("lake/" + dir)
					require.Contains(t, states, table, "cut %d: %s", i, dir)
				}
				w.land("late.json", purchase("bob", 1))
				if i%2 == 0 { // what was begun finishes later: what serves goes on
					w.once()
				}
				if carried {
					require.NoError(t, w.host.Put(t.Context(), w.puts[address(t, "view.totals")]))
				} else {
					w.put("view.totals", 2, attributes{"sql": text(sql)})
				}
				w.backfill()
				w.once()
				for dir, rows := range map[string][]string{"totals": want("ann|50|2", "bob|30|2"), "big": want("50|2")} {
					table, _ := w.table("lake/" + dir)
					require.Equal(t, rows, table, "cut %d: %s", i, dir)
					require.Equal(t, rows, w.query("FROM "+dir), "cut %d", i)
				}
				require.NoError(t, os.Remove(w.path("landing", "late.json")))
			}
		})
	}
}

// A rebuild that fails leaves what serves as it is, and it goes on.
func TestFailingRebuildLeavesTheLiveOneServing(t *testing.T) {
	w := chain(t)
	w.put("view.totals", 2, attributes{"sql": text("SELECT customer, sum(CAST(CASE WHEN v = 8 THEN 'x' ELSE v::VARCHAR END AS BIGINT)) AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	_, err := w.host.Backfill(t.Context(), nil)
	require.Error(t, err)
	require.Equal(t, want("2|15"), w.query("FROM many"))
	require.EqualValues(t, 2, w.facts().Resources[address(t, "view.totals")].Building, "the next plan sees it")
	require.EqualValues(t, 1, w.facts().Resources[address(t, "view.totals")].Generation)
	w.land("d.json", purchase("ann", 100))
	w.once()
	require.Equal(t, want("2|115"), w.query("FROM many"))
	w.put("view.totals", 2, attributes{"sql": text("SELECT customer, sum(v) AS total, count(*) AS n FROM purchases WHERE v > 1 GROUP BY ALL")})
	w.backfill()
	require.Equal(t, want("2|114"), w.query("FROM many"))
}
