package conformance

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
)

// SinkCase is one sink under test with an empty target of its own.
type SinkCase struct {
	Open func(t *testing.T) connector.Sink // opens the same target, as after a restart
	// Read is the query of a reader of the target; empty while there is nothing there.
	Read func(t *testing.T, columns batch.Schema) string
}

// SinkSuite says how a sink is tested.
type SinkSuite struct {
	DB         *sql.DB // an empty DuckDB
	AppendOnly bool    // the sink is given a stream: rows are never taken back
	Key        []string
	Flat       bool // the target holds no nested values
	Fresh      func(t *testing.T) SinkCase
}

// Run runs the suite.
func (s SinkSuite) Run(t *testing.T) {
	tests := map[string]func(*testing.T, *target){
		"publishing twice is publishing once":           publishTwice,
		"the payload is enough after a restart":         restartBeforePublish,
		"staged rows are not seen":                      stagedIsHidden,
		"an epoch staged again replaces its first try":  stagedAgain,
		"an overwrite replaces everything":              overwrite,
		"an overwrite with nothing leaves nothing":      overwriteWithNothing,
		"a failed copy leaves the target as it was":     failedCopy,
		"random epochs, crashes, restarts, generations": randomEpochs,
	}
	if !s.AppendOnly {
		tests["a row taken back that is not there is refused"] = deleteMissing
		tests["a change that cancels out"] = cancelsOut
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, s.target(t)) })
	}
}

// target is a sink's target, and what should be in it.
type target struct {
	SinkSuite
	SinkCase
	stager     *Stager
	sink       connector.Sink
	columns    batch.Schema
	content    bag
	generation int64
	epoch      int64
	previous   connector.Receipt
}

func (s SinkSuite) target(t *testing.T) *target {
	c := s.Fresh(t)
	return &target{SinkSuite: s, SinkCase: c, stager: &Stager{DB: s.DB}, sink: c.Open(t), columns: columns(s.Flat), content: bag{}, generation: 1}
}

// stage stages the next epoch. An overwrite begins a generation.
func (g *target) stage(inserted, deleted []string, overwrite bool) (connector.Staged, error) {
	generation, previous := g.generation, g.previous
	if overwrite {
		generation, previous = generation+1, nil
	}
	d := connector.Delivery{
		Pipeline: "3f1c", Sink: "sink.test.x", Origin: "sink.test.x", Generation: generation, Epoch: g.epoch + 1, Key: g.Key, AppendOnly: g.AppendOnly,
		Overwrite: overwrite, Previous: previous,
		Counts: g.counts(inserted, deleted), Change: batch.Change{Columns: g.columns, Inserted: "sf_inserted"},
	}
	if err := g.table("sf_inserted", inserted); err != nil {
		return connector.Staged{}, err
	}
	if len(deleted) > 0 {
		d.Change.Deleted = "sf_deleted"
		if err := g.table("sf_deleted", deleted); err != nil {
			return connector.Staged{}, err
		}
	}
	return g.sink.Stage(context.Background(), d, g.stager)
}

// counts are the rows of a change, which the engine has not always counted.
func (g *target) counts(inserted, deleted []string) batch.Counts {
	if g.epoch%2 == 1 {
		return batch.Counts{Inserted: -1}
	}
	return batch.Counts{Inserted: int64(len(inserted)), Deleted: int64(len(deleted))}
}

// table makes a relation of a change.
func (g *target) table(name string, rows []string) error {
	_, err := g.DB.Exec("CREATE OR REPLACE TABLE " + name + " AS " + valuesOf(g.columns, rows))
	return err
}

// publish publishes and expects what the epoch makes of the content.
func (g *target) publish(t *testing.T, st connector.Staged, after bag, overwrite bool) {
	t.Helper()
	receipt, err := g.sink.Publish(context.Background(), st)
	require.NoError(t, err)
	g.commit(t, receipt, after, overwrite)
	g.check(t)
}

// commit makes the epoch the last one.
func (g *target) commit(t *testing.T, receipt connector.Receipt, after bag, overwrite bool) {
	g.epoch++
	if overwrite {
		g.generation++
	}
	text, err := json.Marshal(receipt)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &g.previous))
	g.content = after
}

// deliver stages and publishes one epoch.
func (g *target) deliver(t *testing.T, inserted, deleted []string) {
	t.Helper()
	st, err := g.stage(inserted, deleted, false)
	require.NoError(t, err)
	g.publish(t, st, g.content.plus(inserted).minus(deleted), false)
}

// restart opens the sink again and passes the staged output through the outbox's form.
func (g *target) restart(t *testing.T, st connector.Staged) connector.Staged {
	t.Helper()
	text, err := json.Marshal(st)
	require.NoError(t, err)
	require.NoError(t, g.sink.Close())
	g.sink = g.Open(t)
	var out connector.Staged
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}

// check compares what a reader sees with the content.
func (g *target) check(t *testing.T) {
	t.Helper()
	read := g.Read(t, g.columns)
	if read == "" {
		require.Empty(t, g.content, "nothing can be read")
		return
	}
	require.NoError(t, g.table("sf_expected", g.content.rows()))
	got := castAll(g.columns, "("+read+")")
	const difference = "SELECT * FROM (FROM (%[1]s) EXCEPT ALL FROM (%[2]s)) LIMIT 5"
	extra, err := g.stager.Query(context.Background(), fmt.Sprintf(difference, got, "FROM sf_expected"))
	require.NoError(t, err)
	require.Empty(t, texts(extra), "rows that should not be there, after epoch %d", g.epoch)
	missing, err := g.stager.Query(context.Background(), fmt.Sprintf(difference, "FROM sf_expected", got))
	require.NoError(t, err)
	require.Empty(t, texts(missing), "rows that are missing, after epoch %d", g.epoch)
}

func publishTwice(t *testing.T, g *target) {
	a, b := row(1, 1), row(2, 2)
	g.deliver(t, []string{a}, nil)
	st, err := g.stage([]string{b}, nil, false)
	require.NoError(t, err)
	first, err := g.sink.Publish(context.Background(), st)
	require.NoError(t, err)
	again, err := g.sink.Publish(context.Background(), st)
	require.NoError(t, err)
	require.Equal(t, first, again)
	g.commit(t, again, g.content.plus([]string{b}), false)
	g.check(t)
	_, err = g.Open(t).Publish(context.Background(), g.restart(t, st))
	require.NoError(t, err)
	g.check(t)
}

func restartBeforePublish(t *testing.T, g *target) {
	for i := range 3 {
		rows := []string{row(i, i)}
		st, err := g.stage(rows, nil, false)
		require.NoError(t, err)
		g.publish(t, g.restart(t, st), g.content.plus(rows), false)
	}
}

func stagedIsHidden(t *testing.T, g *target) {
	_, err := g.stage([]string{row(1, 1)}, nil, false)
	require.NoError(t, err)
	g.check(t)
	g.deliver(t, []string{row(2, 2)}, nil)
	_, err = g.stage([]string{row(3, 3)}, nil, false)
	require.NoError(t, err)
	g.check(t)
}

func stagedAgain(t *testing.T, g *target) {
	g.deliver(t, []string{row(1, 1)}, nil)
	_, err := g.stage([]string{row(2, 2), row(3, 3)}, nil, false)
	require.NoError(t, err)
	g.sink = g.Open(t) // the crash
	g.deliver(t, []string{row(4, 4)}, nil)
}

func overwrite(t *testing.T, g *target) {
	g.deliver(t, []string{row(1, 1), row(2, 2)}, nil)
	g.deliver(t, []string{row(3, 3)}, nil)
	whole := []string{row(2, 2), row(5, 5)}
	st, err := g.stage(whole, nil, true)
	require.NoError(t, err)
	g.check(t)
	st = g.restart(t, st)
	g.publish(t, st, bag{}.plus(whole), true)
	_, err = g.sink.Publish(context.Background(), st)
	require.NoError(t, err)
	g.check(t)
	g.deliver(t, []string{row(6, 6)}, nil)
}

func overwriteWithNothing(t *testing.T, g *target) {
	g.deliver(t, []string{row(1, 1), row(2, 2)}, nil)
	st, err := g.stage(nil, nil, true)
	require.NoError(t, err)
	g.publish(t, st, bag{}, true)
	g.deliver(t, []string{row(3, 3)}, nil)
}

func failedCopy(t *testing.T, g *target) {
	g.deliver(t, []string{row(1, 1)}, nil)
	full := errors.New("no space left on device")
	g.stager.BeforeCopy = func(string) error { return full }
	_, err := g.stage([]string{row(2, 2)}, nil, false)
	if err == nil {
		t.Skip("this sink copies nothing")
	}
	require.ErrorIs(t, err, full)
	var user *connector.UserError
	require.False(t, errors.As(err, &user), "a full disk is not the user's mistake: it is tried again")
	g.stager.BeforeCopy = nil
	g.check(t)
	g.deliver(t, []string{row(2, 2)}, nil)
}

func deleteMissing(t *testing.T, g *target) {
	g.deliver(t, []string{row(1, 1), row(2, 2)}, nil)
	_, err := g.stage([]string{row(3, 3)}, []string{row(9, 9)}, false)
	var user *connector.UserError
	require.ErrorAs(t, err, &user)
	require.NotEmpty(t, user.Detail)
	g.check(t)
	g.deliver(t, nil, []string{row(1, 1)})
}

func cancelsOut(t *testing.T, g *target) {
	g.deliver(t, []string{row(1, 1), row(2, 2)}, nil)
	g.deliver(t, []string{row(1, 1)}, []string{row(1, 1)})
	g.deliver(t, []string{row(1, 3)}, []string{row(1, 1)})
}

// randomEpochs delivers random changes and crashes, restarts, repeats and begins generations at random.
func randomEpochs(t *testing.T, g *target) {
	r := rand.New(rand.NewPCG(7, uint64(len(g.Key))))
	for range 20 {
		overwrite := r.IntN(12) == 0
		inserted, deleted := g.randomChange(r, overwrite)
		if len(inserted)+len(deleted) == 0 && !overwrite {
			continue
		}
		after := g.content.plus(inserted).minus(deleted)
		if overwrite {
			after = bag{}.plus(inserted)
		}
		st, err := g.stage(inserted, deleted, overwrite)
		require.NoError(t, err)
		g.check(t)
		switch r.IntN(5) {
		case 0: // killed before the commit: the epoch never happened
			g.sink = g.Open(t)
			continue
		case 1: // killed after the commit
			st = g.restart(t, st)
		case 2: // killed after publishing, before the receipt was kept
			_, err := g.sink.Publish(context.Background(), st)
			require.NoError(t, err)
			st = g.restart(t, st)
		}
		g.publish(t, st, after, overwrite)
	}
}
