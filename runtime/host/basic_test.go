package host_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/streamform/streamform/runtime/host/hosttest"
)

func TestFirstBackfillAndLaterFiles(t *testing.T) {
	w := newWorld(t)
	w.Land("a.json", Purchase("ann", 1), Purchase("bob", 2))
	w.Land("b.json", Purchase("ann", 4), Purchase("cy", -1))
	w.Shop()
	s := w.Backfill()
	require.Len(t, s.Sources, 1)
	require.EqualValues(t, 2, s.Sources[0].Files)
	require.EqualValues(t, 4, s.Sources[0].Rows)
	valid, version := w.Table("lake/valid")
	require.Equal(t, Want("ann|1", "bob|2", "ann|4"), valid)
	require.EqualValues(t, 1, version, "one commit for each epoch")
	sums, _ := w.Table("lake/totals")
	require.Equal(t, Want("ann|5|2", "bob|2|1", "cy|-1|1"), sums)
	require.Equal(t, Want("ann|5|2", "bob|2|1", "cy|-1|1"), w.Query("FROM totals"))

	w.Land("c.json", Purchase("bob", 10))
	w.Once()
	sums, version = w.Table("lake/totals")
	require.Equal(t, Want("ann|5|2", "bob|12|2", "cy|-1|1"), sums)
	w.Once()
	_, again := w.Table("lake/totals")
	require.Equal(t, version, again, "nothing new, nothing delivered")
	require.Equal(t, Want("3"), w.Query("SELECT count(*) FROM purchases.files WHERE status = 'read'"))
	require.Equal(t, Want("4"), w.Query("SELECT count(*) FROM valid"))
}
