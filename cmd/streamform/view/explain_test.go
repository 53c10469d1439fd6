package view_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/cmd/streamform/view"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
)

func number(n int64) *int64 { return &n }

// explained is a source, and a view that joins an aggregate of it with itself.
func explained() []project.Explanation {
	linear := project.ExplainedCost{Words: "the changed rows", Formula: "d"}
	return []project.Explanation{
		{Address: addr.Resource{Block: addr.Source, Type: "files", Name: "Sales"}, Columns: batch.Schema{{Name: "shop", Type: "VARCHAR"}, {Name: "id", Type: "BIGINT"}}, AppendOnly: true,
			Incremental: true, Scans: []project.ExplainedScan{{Relation: "Sales", AppendOnly: true, Columns: []string{"shop"}, Of: 2}}},
		{Address: addr.Resource{Block: addr.View, Name: "pairs"}, Columns: batch.Schema{{Name: "shop", Type: "VARCHAR"}}, Incremental: true, Rows: number(1200),
			Scans: []project.ExplainedScan{{Relation: "Sales", AppendOnly: true, Columns: []string{"shop"}, Of: 2}},
			Operators: []project.ExplainedStep{
				{ID: "sf$op1", Kind: "aggregate", Detail: `distinct "shop"`, Inputs: []string{"Sales"}, AppendOnly: true, Holds: "one entry per key", Keys: number(3), Bytes: number(41_000),
					Cost: project.ExplainedCost{Words: "one merge for each touched key", Formula: "d + k"}},
				{ID: "sf$op2", Kind: "join", Detail: "cross join", Inputs: []string{"sf$op1", "sf$op1"}, Holds: "rows of both sides", Cost: project.ExplainedCost{Words: "all rows", Formula: "d · n"},
					Reason: "no key", Rewrite: "Add an equality."},
				{ID: "result", Kind: "linear", Detail: "filters and expressions", Inputs: []string{"sf$op2"}, Holds: "nothing", Cost: linear},
			}},
	}
}

func TestExplained(t *testing.T) {
	var out bytes.Buffer
	view.Explained(view.Terminal{Writer: &out}, project.Explained{Relations: explained()})
	require.Equal(t, `source.files.Sales (read from its source)
  columns: shop VARCHAR, id BIGINT
  reads of its files: 1 of 2 columns: shop

view.pairs (incremental)
  columns: shop VARCHAR
  rows now: 1,200
  linear: filters and expressions
  │  remembers nothing
  │  each epoch: the changed rows (d)
  └─± join op2: cross join
     │  remembers rows of both sides
     │  each epoch: all rows (d · n)
     │  why: no key
     │  instead: Add an equality.
     ├─+ aggregate op1: distinct "shop"
     │  │  remembers one entry per key: now 3 keys, 41.0 kB
     │  │  each epoch: one merge for each touched key (d + k)
     │  └─+ Sales: 1 of 2 columns: shop
     └─+ aggregate op1, as above

+ rows are only added; ± rows are also taken back
d rows that changed in the epoch
k keys that these rows touch
n all rows remembered
`, out.String())
}

// TestExplainedFits: on a narrow terminal text is broken, and keeps its place in the tree.
func TestExplainedFits(t *testing.T) {
	var out bytes.Buffer
	e := explained()[1]
	e.Operators[1].Rewrite = "Add an equality between columns of both sides to the condition of the join."
	view.Explained(view.Terminal{Writer: &out, Width: 50}, project.Explained{Relations: []project.Explanation{e}})
	require.Contains(t, out.String(), "     │  instead: Add an equality between columns\n     │    of both sides to the condition of the\n     │    join.\n")
}

func TestExplainedDOT(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, view.ExplainedDOT(&out, explained()))
	require.Equal(t, `digraph {
  rankdir = "LR";
  node [shape = "box"];
  "source.files.Sales" [shape = "cylinder"];
  subgraph cluster_1 {
    label = "view.pairs";
    "view.pairs/sf$op1" [label = "aggregate\ndistinct \"shop\"\nremembers one entry per key: now 3 keys, 41.0 kB\neach epoch d + k"];
    "view.pairs/sf$op2" [label = "join\ncross join\nremembers rows of both sides\neach epoch d · n", color = "orange"];
    "view.pairs/result" [label = "linear\nfilters and expressions\nremembers nothing\neach epoch d"];
  }
  "source.files.Sales" -> "view.pairs/sf$op1" [style = "solid"];
  "view.pairs/sf$op1" -> "view.pairs/sf$op2" [style = "solid"];
  "view.pairs/sf$op1" -> "view.pairs/sf$op2" [style = "solid"];
  "view.pairs/sf$op2" -> "view.pairs/result" [style = "dashed"];
}
`, out.String())
}

func TestExplainedAnalysis(t *testing.T) {
	list := explained()
	list[0].Measured = &project.Measurement{RowsOut: 1200, Bytes: 34_000, Milliseconds: 2.5}
	list[1].Operators[0].Measured = &project.Measurement{RowsIn: 1200, RowsOut: 1, Keys: 3, Bytes: 120, Milliseconds: 1234}
	var out bytes.Buffer
	view.Explained(view.Terminal{Writer: &out}, project.Explained{Relations: list, Analysis: &project.Analysis{Epochs: 2, Rows: 1200, Milliseconds: 1240}})
	for _, line := range []string{"  measured: 1,200 rows, 34.0 kB of files; 2.50ms\n", "     │  │  measured: 1,200 rows in, 1 out; 3 keys, 120 B remembered; 1.23s\n",
		"\nMeasured over 2 epochs, which read 1,200 rows in 1.24s. What was read is committed.\n"} {
		require.Contains(t, out.String(), line)
	}
	out.Reset()
	view.Explained(view.Terminal{Writer: &out}, project.Explained{Analysis: &project.Analysis{}})
	require.Equal(t, "\nNothing was pending: no epoch ran, and nothing was measured.\n", out.String())
}
