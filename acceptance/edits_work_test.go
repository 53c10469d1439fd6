package acceptance

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/acceptance/applied"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
)

// asPlanned compares what apply did with what the plan said: the class, what became of each operator, and the rows that were
// read of sources and of what the runtime holds, within a tenth.
func asPlanned(t *testing.T, p *plan.Plan, printed string) {
	t.Helper()
	did, err := applied.Read(printed)
	require.NoError(t, err)
	computes := map[string]bool{}
	for _, c := range p.Changes {
		computes[c.Addr.String()] = c.Computes()
	}
	for _, c := range p.Changes {
		a := c.Addr.String()
		w := did[a]
		if c.Addr.Block == "source" || c.Action == plan.Delete {
			continue
		}
		if !c.Computes() {
			require.Empty(t, w.Class, "%s is not computed anew", a)
			continue
		}
		require.Equal(t, string(c.Class), w.Class, a)
		if c.Evolution != nil && c.Evolution.Carry != nil {
			for _, f := range c.Evolution.Operators {
				if f.Fate != plan.Dropped {
					require.Equal(t, string(f.Fate), w.Operators[f.Name], "%s: %s", a, f.Name)
				}
			}
		}
		if c.Price == nil {
			require.Zero(t, w.HeldRows+w.ReadRows, a)
			continue
		}
		known := !slices.ContainsFunc(c.Desired.Dependencies, func(d addr.Resource) bool { return computes[d.String()] }) // how many rows it reads
		if known {
			require.InEpsilon(t, 1+c.Price.HeldRows, 1+w.HeldRows, 0.1, "%s: rows held", a)
		}
		if c.Price.Rows > 0 {
			require.InEpsilon(t, 1+c.Price.Rows, 1+w.ReadRows, 0.1, "%s: rows read", a)
		}
	}
}

// spendTable is what the Delta table of spend holds: a line of names, then rows.
func spendTable(t *testing.T, p *project) []string {
	t.Helper()
	scan, err := deltaScan(p.path("lake/spend"))
	require.NoError(t, err)
	text, err := duckCSV(p.dir, "SELECT * FROM ("+scan+")")
	require.NoError(t, err)
	return strings.Split(strings.TrimRight(text, "\n"), "\n")
}

// givenWhatDiffers compares how many rows the sink of spend was given with how many differ between its table before and after: those of
// columns that were added were NULL before. A table with other columns than that is written anew.
func givenWhatDiffers(t *testing.T, p *plan.Plan, printed string, before, after []string) {
	t.Helper()
	const sink = "sink.delta.spend"
	did, err := applied.Read(printed)
	require.NoError(t, err)
	w, was := did[sink]
	i := slices.IndexFunc(p.Changes, func(c plan.Change) bool { return c.Addr.String() == sink })
	if !was || i < 0 || len(p.Changes[i].Changed) > 0 || p.Changes[i].Action == plan.Create {
		return // nothing was done, or it writes elsewhere
	}
	added, grown := strings.CutPrefix(after[0], before[0])
	if !grown {
		require.EqualValues(t, len(before)-1+len(after)-1, w.Rows, "rows given to %s, all of which are others", sink)
		return
	}
	differ := applied.Differing(before[1:], after[1:], strings.Repeat(",", strings.Count(added, ",")))
	require.EqualValues(t, differ, w.Rows, "rows given to %s", sink)
}
