package console_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/connector/conformance"
	"github.com/streamform/streamform/runtime/connector/console"
)

// printed is what a delivery prints, after its payload has been through the outbox.
func printed(t *testing.T, attributes map[string]cty.Value, d connector.Delivery, rows int64) string {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	definition := console.Definition()
	attributes["from"] = cty.StringVal("view.x")
	value, errs := definition.Kind.Complete(cty.ObjectVal(attributes))
	require.Empty(t, errs)
	cfg, err := definition.Kind.Bind(value)
	require.NoError(t, err)
	var lines []string
	s, err := definition.Sink(context.Background(), cfg, connector.Env{Out: func(line string) { lines = append(lines, line) }})
	require.NoError(t, err)
	require.Empty(t, s.Dirs())
	staged, err := s.Stage(context.Background(), d, &conformance.Stager{DB: db})
	require.NoError(t, err)
	require.Empty(t, lines, "nothing is printed before the commit")
	text, err := json.Marshal(staged)
	require.NoError(t, err)
	var again connector.Staged
	require.NoError(t, json.Unmarshal(text, &again))
	receipt, err := s.Publish(context.Background(), again)
	require.NoError(t, err)
	require.Equal(t, connector.Receipt{"rows": rows}, receipt)
	require.NoError(t, s.Close())
	return strings.Join(lines, "\n") + "\n"
}

func TestPrint(t *testing.T) {
	columns := batch.Schema{{Name: "hour", Type: "VARCHAR"}, {Name: "n", Type: "BIGINT"}}
	for _, c := range []struct {
		name       string
		attributes map[string]cty.Value
		delivery   connector.Delivery
		want       string
	}{
		{"a view by key, old before new", map[string]cty.Value{}, connector.Delivery{Key: []string{"HOUR"}, Counts: batch.Counts{Inserted: 2, Deleted: 1},
			Change: batch.Change{Columns: columns, Inserted: "(VALUES ('10:00', 20), ('09:00', 3))", Deleted: "(VALUES ('10:00', 100))"}}, `
sink.console.x, epoch 3: +2 -1
   hour     n
+  09:00    3
-  10:00  100
+  10:00   20
`},
		{"a stream in its order", map[string]cty.Value{}, connector.Delivery{AppendOnly: true, Counts: batch.Counts{Inserted: 3},
			Change: batch.Change{Columns: columns, Inserted: "(VALUES ('b', 2), (NULL, 1), ('größe', NULL))"}}, `
sink.console.x, epoch 3: +3
   hour      n
+  b         2
+  NULL      1
+  größe  NULL
`},
		{"no more than asked for", map[string]cty.Value{"rows": cty.NumberIntVal(2)}, connector.Delivery{Overwrite: true, Counts: batch.Counts{Inserted: 5},
			Change: batch.Change{Columns: columns, Inserted: "(SELECT 'x' || i, i FROM range(5) t(i))"}}, `
sink.console.x, epoch 3: +5, replacing all rows before
   hour  n
+  x0    0
+  x1    1
  … and 3 more
`},
		{"control characters and long values", map[string]cty.Value{}, connector.Delivery{Counts: batch.Counts{Inserted: 1},
			Change: batch.Change{Columns: batch.Schema{{Name: "a\tb", Type: "VARCHAR"}}, Inserted: `(SELECT e'1\n\x1b[31m' || repeat('x', 100))`}}, `
sink.console.x, epoch 3: +1
   a\tb
+  1\n\x1b[31mxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.delivery.Sink, c.delivery.Epoch = "sink.console.x", 3
			rows := c.delivery.Counts.Inserted + c.delivery.Counts.Deleted
			require.Equal(t, c.want[1:], printed(t, c.attributes, c.delivery, rows))
			c.delivery.Counts = batch.Counts{Inserted: -1}
			require.Equal(t, c.want[1:], printed(t, c.attributes, c.delivery, rows), "where the engine has not counted")
		})
	}
}

func TestKind(t *testing.T) { require.NoError(t, schema.CheckKind(console.Definition().Kind)) }
