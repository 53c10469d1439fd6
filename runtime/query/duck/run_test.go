package duck

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// processor is the processor time of this process so far.
func processor(t *testing.T) time.Duration {
	var r syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// TestWaitingForOtherThreadsTakesNoCore: of two tasks, one a hundred times as long as the other, the thread that has the short one
// does not take processor time until the long one is done.
func TestWaitingForOtherThreadsTakesNoCore(t *testing.T) {
	var took [2]time.Duration
	for i, threads := range []string{"SET threads = 1", "SET threads = 2"} {
		c, err := Open(t.Context(), threads)
		require.NoError(t, err)
		defer c.Close()
		before := processor(t)
		for range 20 {
			_, err := c.Keep(t.Context(), Keeping{Slot: 1, Most: 10, SQL: "SELECT count(b) FROM (SELECT md5(g::VARCHAR) AS b FROM (SELECT unnest(generate_series(1, 200000)) AS g) " +
				"UNION ALL SELECT md5(g::VARCHAR) FROM (SELECT unnest(generate_series(1, 2000)) AS g))"})
			require.NoError(t, err)
		}
		took[i] = processor(t) - before
	}
	require.Less(t, took[1], took[0]*5/4, "with one thread: %s", took[0])
}

// TestStatementsEndWithTheirContext: a long one is stopped, and one is not begun.
func TestStatementsEndWithTheirContext(t *testing.T) {
	c := open(t)
	const long = "CREATE OR REPLACE TABLE a AS SELECT count(*) AS n FROM range(100000000) a, range(100000) b WHERE a.range + b.range = 7"
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, c.Exec(ctx, long), context.DeadlineExceeded)
	require.ErrorIs(t, c.Exec(ctx, long), context.DeadlineExceeded)
	require.ErrorContains(t, c.Exec(t.Context(), "SELECT 1; SELECT nothing FROM nowhere"), "nowhere")
	require.ErrorContains(t, c.Exec(t.Context(), "SELEKT 1"), "SELEKT")
	require.ErrorContains(t, c.Exec(t.Context(), "SELECT CAST(range AS TINYINT) FROM range(1000)"), "Conversion Error")
	require.NoError(t, c.Exec(t.Context(), "CREATE TABLE b (n INTEGER); INSERT INTO b VALUES (1); SELECT 1"))
	n, err := c.Value(t.Context(), "SELECT count(*)::VARCHAR FROM b")
	require.NoError(t, err)
	require.Equal(t, "1", n)
}
