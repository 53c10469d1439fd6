package plain

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFingerprintsTellRowsApart(t *testing.T) {
	d, err := Open(t.Context(), 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	of := func(values string) string {
		require.NoError(t, d.Exec(t.Context(), "CREATE OR REPLACE TABLE r AS SELECT a, CAST(x AS DOUBLE) AS x FROM (VALUES "+values+") r(a, x)"))
		text, err := d.Fingerprint(t.Context(), "r")
		require.NoError(t, err)
		return text
	}
	base := of("(1, 0.1), (2, 0.2), (2, 0.2)")
	for _, c := range []struct {
		values string
		same   bool
	}{
		{"(2, 0.2), (1, 0.1), (2, 0.2)", true},
		{"(2, 0.2), (1, 0.1000000000001), (2, 0.2)", true},
		{"(2, 0.2), (1, 0.1)", false},
		{"(1, 0.1), (1, 0.2), (2, 0.2)", false},
		{"(1, 0.1), (2, 0.2), (2, 0.3)", false},
		{"(1, 0.1), (2, 0.2), (NULL, 0.2)", false},
	} {
		require.Equal(t, c.same, Same(base, of(c.values)), c.values)
	}
	require.False(t, Same(base, "1|2"))
}
