package plan_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/state"
)

func TestNewColumns(t *testing.T) {
	had := batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "_from", Type: "VARCHAR"}, {Name: "_file_name", Type: "VARCHAR"}}
	cases := map[string]struct {
		found          batch.Schema
		mark, proposal string
	}{
		"nothing found":     {},
		"fewer":             {found: batch.Schema{{Name: "id", Type: "BIGINT"}}},
		"another case":      {found: batch.Schema{{Name: "ID", Type: "VARCHAR"}}},
		"one":               {found: batch.Schema{{Name: "x", Type: "DATE"}}, mark: "x DATE", proposal: "columns = {\n  id    = \"BIGINT\"\n  _from = \"VARCHAR\"\n  x     = \"DATE\"\n}"},
		"of unusual names":  {found: batch.Schema{{Name: "a b", Type: "DATE"}}, mark: "a b DATE", proposal: "columns = {\n  id    = \"BIGINT\"\n  _from = \"VARCHAR\"\n  \"a b\" = \"DATE\"\n}"},
		"and a nested type": {found: batch.Schema{{Name: "s", Type: `STRUCT("a" BIGINT)`}}, mark: `s STRUCT("a" BIGINT)`, proposal: "columns = {\n  id    = \"BIGINT\"\n  _from = \"VARCHAR\"\n  s     = \"STRUCT(\\\"a\\\" BIGINT)\"\n}"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := state.Resource{Relation: &state.Relation{Columns: had}, Attributes: json.RawMessage(`{"metadata":["_file_name"]}`)}
			got, ok := plan.NewColumns(r, c.found)
			require.Equal(t, c.mark != "", ok)
			require.Equal(t, c.mark, got.Mark)
			require.Equal(t, c.proposal, got.Proposal)
		})
	}
}
