package host_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/connector"
	. "github.com/streamform/streamform/runtime/host/hosttest"
	"github.com/streamform/streamform/runtime/host/redelivery"
)

// rewind delivers a stream again.
func (w *world) rewind(name, to string) (redelivery.Rewind, error) {
	return w.Host.Rewind(w.T.Context(), redelivery.Request{Addr: Address(w.T, name), To: to, Duplicates: true, Decided: func(redelivery.Rewind) error { return nil }})
}

// A rewind that was cut short at any point goes on where it ended: every row is there exactly twice.
func TestPowerCutsDuringRewind(t *testing.T) {
	w, c := crashable(t)
	for i := range 4 {
		w.Land(fmt.Sprintf("%d.json", i), Purchase("ann", i+1), Purchase("bob", -i))
	}
	w.Shop()
	w.Backfill()
	for i, m := range c.Shoot(func() {
		done, err := w.rewind("stream.valid", "start")
		require.NoError(t, err)
		require.EqualValues(t, 4, done.Given[Address(t, "sink.delta.valid")])
		require.EqualValues(t, 4, done.Files)
	}, crashes) {
		w.Cut(m)
		if valid, _ := w.Table("lake/valid"); len(valid) == 8 {
			_, _ = w.rewind("stream.valid", "") // finishes what is unfinished, and is refused otherwise
			valid, _ = w.Table("lake/valid")
			require.Len(t, valid, 8, "cut %d", i)
			continue
		}
		done, err := w.rewind("stream.valid", "start")
		require.NoError(t, err, "cut %d", i)
		require.LessOrEqual(t, done.Files, int64(4))
		valid, version := w.Table("lake/valid")
		require.Equal(t, Want("ann|1", "ann|2", "ann|3", "ann|4", "ann|1", "ann|2", "ann|3", "ann|4"), valid, "cut %d", i)
		require.EqualValues(t, 7, version, "cut %d: one version for each epoch", i)
		require.Equal(t, Want("ann|10|4", "bob|-6|4"), w.Query("FROM totals"))
		w.Land("late.json", Purchase("ann", 9))
		w.Once()
		valid, _ = w.Table("lake/valid")
		require.Len(t, valid, 9, "cut %d: what serves goes on", i)
	}
}

// Only what comes after the position is delivered, by the query of then; another rewind has to wait for one that was cut short.
func TestRewindPositions(t *testing.T) {
	w := running(t)
	for to, rows := range map[string]int64{"start": 4, "2": 2, "c.json": 1, "landing/b.json": 2, "2000-01-01T00:00:00Z": 4} {
		done, err := w.rewind("stream.valid", to)
		require.NoError(t, err, to)
		require.Equal(t, rows, done.Given[Address(t, "sink.delta.valid")], to)
	}
	var user *connector.UserError
	for _, to := range []string{"4", "2100-01-01T00:00:00Z", "d.json", "on"} {
		_, err := w.rewind("stream.valid", to)
		require.ErrorAs(t, err, &user, to)
		require.Equal(t, "Nothing to deliver again", user.Summary)
	}
	r := w.Resource("stream.valid", 1, Attributes{"sql": Text("SELECT customer, v * 100 AS v FROM purchases WHERE v > 0")})
	r.Keep = true
	require.NoError(t, w.Host.Put(t.Context(), r))
	w.Land("d.json", Purchase("dee", 3))
	w.Once()
	had, _ := w.Table("lake/valid")
	_, err := w.rewind("stream.valid", "c.json")
	require.NoError(t, err)
	rows, _ := w.Table("lake/valid")
	require.Equal(t, Want("bob|8", "dee|300"), lacking(had, rows), "each by the query of then")

	fault := &Fault{Times: 4}
	w.Shake(fault)
	_, err = w.rewind("stream.valid", "start")
	require.ErrorIs(t, err, ErrUnreachable)
	_, err = w.rewind("stream.valid", "c.json")
	require.ErrorAs(t, err, &user)
	require.Equal(t, "Another rewind is under way", user.Summary)
	done, err := w.rewind("stream.valid", "")
	require.NoError(t, err)
	require.True(t, done.Resumed)
	again, _ := w.Table("lake/valid")
	require.Equal(t, Want("ann|1", "bob|2", "ann|4", "bob|8", "dee|300"), lacking(rows, again))
}
