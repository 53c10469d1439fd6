package meter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestQuantiles(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	require.Equal(t, 3.0, Median(values))
	require.Equal(t, 5.0, Quantile(values, 0.99))
	require.Equal(t, 1.0, Quantile(values, 0))
	require.Equal(t, []float64{5, 1, 4, 2, 3}, values, "the values keep their order")
	require.Zero(t, Median(nil))
}

func TestRatiosArePairByPair(t *testing.T) {
	r := Ratios([]float64{1, 4, 9}, []float64{1, 2, 3})
	require.Equal(t, Ratio{2, 1, 3}, r)
	require.Equal(t, "2.00 (1.00–3.00)", r.String())
}

func TestStretchesCountTheirOwnTime(t *testing.T) {
	m := Start()
	for begun := time.Now(); time.Since(begun) < 30*time.Millisecond; {
	}
	c := m.Cost()
	require.GreaterOrEqual(t, c.Wall, 30*time.Millisecond)
	require.Positive(t, c.CPU)
	require.Positive(t, c.Peak)
	m = Start()
	require.Less(t, m.Cost().CPU, c.CPU)
	both := c.Plus(Cost{Wall: time.Second, CPU: time.Second, Peak: 1})
	require.Equal(t, Cost{c.Wall + time.Second, c.CPU + time.Second, c.Peak}, both)
}

func TestCommands(t *testing.T) {
	c, out, err := Command(t.Context(), t.TempDir(), "sh", "-c", "echo seen; echo aside >&2")
	require.NoError(t, err)
	require.Equal(t, "seen\n", out)
	require.Positive(t, c.Peak)
	_, _, err = Command(t.Context(), t.TempDir(), "sh", "-c", "echo why >&2; exit 3")
	require.ErrorContains(t, err, "why")
}
