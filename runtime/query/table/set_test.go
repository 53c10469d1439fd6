package table_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/table"
)

// TestEndedDatabase: a fault of DuckDB that ends the database under a small epoch leaves a working one to the next. DuckDB 1.5
// does not stand the plan of an ASOF join being run again.
func TestEndedDatabase(t *testing.T) {
	c, err := duck.Open(t.Context(), "SET threads = 1")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	s := table.NewSet(c)
	epoch := func(sql string) error {
		require.NoError(t, s.Begin(t.Context(), true, true))
		_, err := s.Make(t.Context(), sql)
		if err != nil {
			s.Doubt()
		}
		require.NoError(t, s.Clear(t.Context()))
		return err
	}
	twice := "SELECT * FROM (SELECT range AS k, range AS v FROM range(9)) a asof JOIN (SELECT range AS k, range AS v FROM range(9)) b ON a.k = b.k AND a.v >= b.v"
	require.NoError(t, epoch(twice))
	require.ErrorContains(t, epoch(twice), "INTERNAL Error")
	require.NoError(t, epoch("SELECT 1 AS one"))
}
