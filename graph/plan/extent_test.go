package plan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/graph/plan"
)

func TestExtentPlus(t *testing.T) {
	read := plan.Extent{Files: 4, Bytes: 100, Rows: 40}
	require.Equal(t, plan.Extent{Files: 8, Bytes: 200, Rows: 80}, read.Plus(read))
	require.Equal(t, read, read.Plus(plan.Extent{}), "nothing has no unknown rows")
	require.Equal(t, read, plan.Extent{}.Plus(read))
	backlog := plan.Extent{Files: 2, Bytes: 50}
	require.Equal(t, plan.Extent{Files: 6, Bytes: 150}, read.Plus(backlog), "the rows of files that were not read are not known")
	require.Equal(t, plan.Extent{Files: 6, Bytes: 150}, backlog.Plus(read))
}
