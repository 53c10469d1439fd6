package nexmark

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// small is the data set that is used for correctness: 80 s of event time across midnight.
func small() Options {
	return Options{Rate: 2500, Base: time.UnixMilli(1_700_006_353_000)}
}

// TestDataSet: 200,000 events are, byte for byte, what the data set's checksums say.
func TestDataSet(t *testing.T) {
	g := New(small())
	out := map[string][]byte{}
	for e := range int64(200_000) {
		out[Table(e)] = g.Append(out[Table(e)], e)
	}
	for table, want := range map[string]struct {
		bytes int
		hash  string
	}{
		"person":  {1_265_533, "42bd7f16b48d1914"},
		"auction": {7_725_373, "c542a8c953a1ee83"},
		"bid":     {47_086_228, "10bba60be478a3f1"},
	} {
		hash := sha256.Sum256(out[table])
		require.Equal(t, want.bytes, len(out[table]), table)
		require.Equal(t, want.hash, hex.EncodeToString(hash[:8]), table)
	}
	require.True(t, strings.HasPrefix(string(out["person"]), `{"id":1000,"name":"Paul Shultz","emailAddress":"rxl sd@rero.com"`), string(out["person"][:200]))
}

// TestSlices: an event does not depend on what was made before it, and seeds tell data sets apart.
func TestSlices(t *testing.T) {
	g, other := New(small()), small()
	other.Seed = 1
	h := New(other)
	for _, e := range []int64{0, 1, 4, 49, 50, 12_345, 1 << 40} {
		want := string(New(small()).Append(nil, e))
		require.Equal(t, want, string(g.Append(nil, e)))
		require.NotEqual(t, want, string(h.Append(nil, e)))
		require.NotNil(t, Columns(Table(e)))
	}
	require.Nil(t, Columns("side_input"))
}
