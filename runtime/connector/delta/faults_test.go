package delta_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/connector/conformance"
)

// Another process that commits under this sink's name, or changes the table between decision and delivery.
func TestOtherWriters(t *testing.T) {
	b := newBench(t, "view.x", "upsert")
	b.deliver([]string{"1 a"}, nil)
	st, err := b.stage([]string{"1 b"}, []string{"1 a"})
	require.NoError(t, err)
	other, err := b.stage([]string{"1 c"}, []string{"1 a"})
	require.NoError(t, err)
	_, err = b.sink.Publish(context.Background(), other)
	require.NoError(t, err)
	_, err = b.sink.Publish(context.Background(), st)
	var user *connector.UserError
	require.ErrorAs(t, err, &user)
	require.Contains(t, user.Summary, "under this sink's name")
	require.Equal(t, []string{"1 c"}, b.rows())

	b = newBench(t, "view.x", "upsert")
	b.deliver([]string{"1 a"}, nil)
	st, err = b.stage([]string{"1 b"}, []string{"1 a"})
	require.NoError(t, err)
	stranger, err := openSink(t, b.dir, "stream.y", "append")
	require.NoError(t, err)
	b.next.Origin, b.next.Previous = "sink.delta.y", nil
	b.sink, stranger = stranger, b.sink
	b.deliver([]string{"8 h"}, nil)
	_, err = stranger.Publish(context.Background(), st)
	require.ErrorAs(t, err, &user)
	require.Contains(t, user.Summary, "changed by another writer")
}

// A table commit that fails stays in the outbox: made again, it has effect once.
func TestCommitFails(t *testing.T) {
	b := newBench(t, "view.x", "upsert")
	b.deliver([]string{"1 a"}, nil)
	st, err := b.stage([]string{"1 b"}, []string{"1 a"})
	require.NoError(t, err)
	inTheWay := filepath.Join(b.dir, "table", "_delta_log", "00000000000000000001.json")
	require.NoError(t, os.Mkdir(inTheWay, 0o777))
	_, err = b.sink.Publish(context.Background(), st)
	require.Error(t, err)
	var user *connector.UserError
	require.False(t, errors.As(err, &user), "it is tried again: %v", err)
	require.NoError(t, os.Remove(inTheWay))
	require.Equal(t, []string{"1 a"}, b.rows())
	for range 2 {
		receipt, err := b.sink.Publish(context.Background(), st)
		require.NoError(t, err)
		require.Equal(t, connector.Receipt{"version": int64(1)}, receipt)
	}
	require.Equal(t, []string{"1 b"}, b.rows())
}

// A stager that fails at any of its calls leaves the table as it was, and the epoch can be staged again.
func TestStagerFailsAtEveryCall(t *testing.T) {
	for _, mode := range []string{"upsert", "replace"} {
		t.Run(mode, func(t *testing.T) {
			b := newBench(t, "view.x", mode)
			b.deliver([]string{"1 a", "2 b"}, nil)
			for i := 0; ; i++ {
				failing := &failingStager{Stager: b.stager, left: i}
				b.next.Counts = batch.Counts{Inserted: -1}
				b.next.Change.Inserted, b.next.Change.Deleted = values([]string{"1 c"}), values([]string{"1 a"})
				st, err := b.sink.Stage(context.Background(), b.next, failing)
				if err == nil {
					_, err = b.sink.Publish(context.Background(), st)
					require.NoError(t, err)
					require.Equal(t, []string{"1 c", "2 b"}, b.rows())
					require.GreaterOrEqual(t, i, 3)
					return
				}
				require.ErrorIs(t, err, errStager)
				require.Equal(t, []string{"1 a", "2 b"}, b.rows())
			}
		})
	}
}

var errStager = errors.New("the engine failed")

// failingStager fails after a number of calls.
type failingStager struct {
	*conformance.Stager
	left int
}

func (f *failingStager) fail() error {
	if f.left--; f.left < 0 {
		return errStager
	}
	return nil
}

func (f *failingStager) Copy(ctx context.Context, query, path string, format batch.Format) (connector.Written, error) {
	if err := f.fail(); err != nil {
		return connector.Written{}, err
	}
	return f.Stager.Copy(ctx, query, path, format)
}

func (f *failingStager) Query(ctx context.Context, query string) ([][]*string, error) {
	if err := f.fail(); err != nil {
		return nil, err
	}
	return f.Stager.Query(ctx, query)
}

func (f *failingStager) Hold(ctx context.Context, query string) (string, error) {
	if err := f.fail(); err != nil {
		return "", err
	}
	return f.Stager.Hold(ctx, query)
}

func (f *failingStager) HoldFiles(ctx context.Context, query string, _ []string, _ batch.Schema) (string, error) {
	return f.Hold(ctx, query)
}
