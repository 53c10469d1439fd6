package bind_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/graph/bind"
	"github.com/streamform/streamform/graph/graphtest"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/state"
)

const shop = `source "test" "s" {
  path = "in"
}
source "test" "d" {
  path    = "in"
  columns = { b = "VARCHAR", a = "BIGINT" }
}
stream "valid" {
  sql = "SELECT * FROM s"
}
view "v" {
  sql  = "SELECT id FROM valid GROUP BY id"
  keys = ["id"]
}
view "bad" {
  sql = "SELECT raw FROM s.malformed JOIN S GROUP BY raw"
}
sink "test" "k" {
  from = view.v
  path = "lake"
}
`

// bindWorld binds a configuration against a record.
func bindWorld(t *testing.T, w *graphtest.World, d *state.Document) (bind.Result, diag.Diagnostics, error) {
	t.Helper()
	cfg, ds := w.Load(graphtest.Options{})
	require.Empty(t, ds)
	g, ds := graph.Build(cfg, graphtest.Analyze)
	require.Empty(t, ds)
	w.Compiler.Compiled.Store(0)
	w.Compiler.Sampled.Store(0)
	return bind.Bind(t.Context(), bind.Input{Config: cfg, Graph: g, State: d, Compiler: w.Compiler})
}

func world(t *testing.T, text string) *graphtest.World {
	w := graphtest.New(t)
	w.Files["main.sf.hcl"] = text
	return w
}

func address(t *testing.T, s string) addr.Resource { return graphtest.Addresses(t, []string{s})[0] }

func TestRelations(t *testing.T) {
	w := world(t, shop)
	r, ds, err := bindWorld(t, w, nil)
	require.NoError(t, err)
	require.Empty(t, ds)
	require.Len(t, r.Relations, 5, "a sink is no relation")
	require.EqualValues(t, 3, w.Compiler.Compiled.Load())

	s := r.Relations[address(t, "source.test.s")]
	require.True(t, s.AppendOnly)
	require.Equal(t, "source.test.s", s.Identity)
	require.Equal(t, "raw", s.Sides["malformed"][0].Name)
	require.Equal(t, map[addr.Resource]bind.Inferred{address(t, "source.test.s"): {Columns: s.Columns, Sides: s.Sides, Sampled: true, Files: 12, Bytes: 3_400_000}}, r.Inferred)
	require.Len(t, r.Relations[address(t, "source.test.d")].Columns, 2)

	valid := r.Relations[address(t, "stream.valid")]
	require.Equal(t, s.Columns, valid.Columns)
	require.Equal(t, []string{"s"}, valid.Reads)
	v := r.Relations[address(t, "view.v")]
	require.False(t, v.AppendOnly)
	require.Equal(t, []string{"id"}, v.Key)
	require.Contains(t, v.Identity, "stream.valid", "its query is over the ID of what it reads")
	require.NotContains(t, v.Identity, valid.Identity)
	require.Equal(t, "stream.valid", r.IDs[address(t, "stream.valid")])
	require.Empty(t, r.Evolutions)
	require.Equal(t, []string{"s.malformed", "s"}, r.Relations[address(t, "view.bad")].Reads)
}

// applied records what was bound, as apply would.
func applied(t *testing.T, w *graphtest.World) *state.Document {
	w.MustApply()
	d, err := w.Store.Load(t.Context())
	require.NoError(t, err)
	return d
}

func TestWhatIsRecordedIsNotAskedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		old, new          string
		compiled, sampled int64
	}{
		"nothing":                      {"", "", 0, 0},
		"a description":                {`path = "in"`, "path = \"in\"\n  description = \"x\"", 0, 0},
		"where the source is":          {`path = "in"`, `path = "elsewhere"`, 0, 1},
		"columns declared as found":    {"path = \"in\"\n}", "path = \"in\"\n  columns = { id = \"BIGINT\", amount = \"DECIMAL(10,2)\" }\n}", 2, 0},
		"other columns declared":       {"path = \"in\"\n}", "path = \"in\"\n  columns = { id = \"BIGINT\" }\n}", 3, 0},
		"text of a stream, same words": {`sql = "SELECT * FROM s"`, `sql = "select  * from S"`, 1, 0},
		"meaning of a stream":          {`sql = "SELECT * FROM s"`, `sql = "SELECT * FROM s WHERE id > 1"`, 1, 0},
		"declared keys":                {`keys = ["id"]`, `keys = ["ID"]`, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := world(t, shop)
			d := applied(t, w)
			if c.old != "" {
				w.Files["main.sf.hcl"] = replaceOnce(t, shop, c.old, c.new)
			}
			r, ds, err := bindWorld(t, w, d)
			require.NoError(t, err)
			require.Empty(t, ds)
			require.Len(t, r.Relations, 5)
			require.Equal(t, c.sampled, w.Compiler.Sampled.Load(), "samples")
			if name != "columns declared as found" { // a map's order is that of its keys, so this depends on the compiler
				require.Equal(t, c.compiled, w.Compiler.Compiled.Load(), "compilations")
			}
		})
	}
}

func replaceOnce(t *testing.T, text, old, new string) string {
	t.Helper()
	require.Contains(t, text, old)
	for i := 0; i+len(old) <= len(text); i++ {
		if text[i:i+len(old)] == old {
			return text[:i] + new + text[i+len(old):]
		}
	}
	return text
}

// TestRecordIsIndependentOfFormatting makes sure that a state which went through a file is as good as one that did not.
func TestRecordIsIndependentOfFormatting(t *testing.T) {
	w := world(t, shop)
	d := applied(t, w)
	for i := range d.Resources {
		var v any
		require.NoError(t, json.Unmarshal(d.Resources[i].Attributes, &v))
		indented, err := json.MarshalIndent(v, "   ", "\t")
		require.NoError(t, err)
		d.Resources[i].Attributes = indented
	}
	_, _, err := bindWorld(t, w, d)
	require.NoError(t, err)
	require.Zero(t, w.Compiler.Compiled.Load())
	require.Zero(t, w.Compiler.Sampled.Load())
}

func TestMistakesStopTheirReadersOnly(t *testing.T) {
	w := world(t, shop+`view "m" {
  sql = "SELECT missing FROM d"
}
view "n" {
  sql = "SELECT * FROM m"
}
sink "test" "n" {
  from = view.n
  path = "n"
}
sink "test" "append" {
  from = view.v
  path = "n"
  mode = "append"
}
`)
	r, ds, err := bindWorld(t, w, nil)
	require.NoError(t, err)
	require.Len(t, ds, 2, "what reads a relation that failed is not complained about: %v", ds)
	require.Equal(t, "sink.test.append", ds[0].Address)
	require.Equal(t, 35, ds[0].Subject.Start.Line, "at the mode that was written")
	require.Equal(t, "view.m", ds[1].Address)
	require.Equal(t, `view "m"`, ds[1].Context)
	require.Equal(t, 23, ds[1].Subject.Start.Line)
	require.Equal(t, 17, ds[1].Subject.Start.Column, "at the column inside the SQL")
	require.Equal(t, 24, ds[1].Subject.End.Column)
	require.Len(t, r.Relations, 5)
}

func TestMachineFailureIsAnError(t *testing.T) {
	_, _, err := bindWorld(t, world(t, "view \"m\" {\n  sql = \"SELECT MACHINE\"\n}\n"), nil)
	require.EqualError(t, err, "compiling view.m: the compiler's process died")
}

func TestDamagedRecordIsBoundAgain(t *testing.T) {
	w := world(t, shop)
	d := applied(t, w)
	for i := range d.Resources {
		d.Resources[i].Attributes = json.RawMessage(`{"path":{"a":[1]},"columns":7}`)
	}
	_, ds, err := bindWorld(t, w, d)
	require.NoError(t, err)
	require.Empty(t, ds)
	require.EqualValues(t, 1, w.Compiler.Sampled.Load())
}

// Columns stand as they were written when the source was created; writing them in another order later is no change.
func TestOrderOfColumns(t *testing.T) {
	const text = "source \"test\" \"d\" {\n  path = \"in\"\n  columns = COLUMNS\n}\n"
	w := world(t, "")
	d := address(t, "source.test.d")
	bound := func(columns string, recorded *state.Document, replace ...addr.Resource) batch.Schema {
		w.Files["main.sf.hcl"] = strings.Replace(text, "COLUMNS", columns, 1)
		cfg, ds := w.Load(graphtest.Options{})
		require.Empty(t, ds)
		g, ds := graph.Build(cfg, graphtest.Analyze)
		require.Empty(t, ds)
		r, ds, err := bind.Bind(t.Context(), bind.Input{Config: cfg, Graph: g, State: recorded, Replace: replace, Compiler: w.Compiler})
		require.NoError(t, err)
		require.Empty(t, ds)
		return r.Relations[d].Columns
	}
	first := batch.Schema{{Name: "b", Type: "VARCHAR"}, {Name: "a", Type: "BIGINT"}}
	require.Equal(t, first, bound(`{ b = "VARCHAR", a = "BIGINT" }`, nil))

	recorded := &state.Document{Resources: []state.Resource{{Addr: d, Relation: &state.Relation{Columns: first},
		Attributes: json.RawMessage(`{"path": "in", "columns": {"a": "BIGINT", "b": "VARCHAR"}}`)}}}
	const other = `{ a = "BIGINT", b = "VARCHAR" }`
	require.Equal(t, first, bound(other, recorded))
	require.Equal(t, batch.Schema{{Name: "a", Type: "BIGINT"}, {Name: "b", Type: "VARCHAR"}}, bound(other, recorded, d), "replaced")
	require.Equal(t, batch.Schema{{Name: "a", Type: "BIGINT"}, {Name: "c", Type: "DATE"}, {Name: "b", Type: "VARCHAR"}},
		bound(`{ a = "BIGINT", c = "DATE", b = "VARCHAR" }`, recorded), "another set of columns is read again")
}

// What is wrong with a source is shown at the attribute that is wrong, else at the likeliest.
func TestPlacesOfMistakes(t *testing.T) {
	for broken, want := range map[string]string{
		"no such type":         `columns = { a = "BIGNT" }`,
		"path: no such folder": `path    = "in"`,
	} {
		w := world(t, "source \"test\" \"d\" {\n  broken  = \""+broken+"\"\n  path    = \"in\"\n  columns = { a = \"BIGNT\" }\n}\n")
		_, ds, err := bindWorld(t, w, nil)
		require.NoError(t, err)
		require.Len(t, ds, 1)
		lines := strings.Split(w.Files["main.sf.hcl"], "\n")
		require.Equal(t, "  "+want, lines[ds[0].Subject.Start.Line-1])
		require.Equal(t, `source "test" "d"`, ds[0].Context)
	}
}

// A record of another version, whose identities and digests say nothing here, means what its query means.
func TestRecordOfAnotherVersion(t *testing.T) {
	w := world(t, shop)
	d := applied(t, w)
	for i, r := range d.Resources {
		if r.Relation != nil && r.Addr.Block != addr.Source {
			old := *r.Relation
			old.Identity, old.Compiled = "as it was written then", "another digest"
			d.Resources[i].Relation = &old
		}
	}
	r, ds, err := bindWorld(t, w, d)
	require.NoError(t, err)
	require.Empty(t, ds)
	require.Empty(t, r.Evolutions, "nothing was edited")
	require.EqualValues(t, 3, w.Compiler.Compiled.Load())
	require.NotEqual(t, "as it was written then", r.Relations[address(t, "view.v")].Identity)

	w.Files["main.sf.hcl"] = replaceOnce(t, shop, `SELECT * FROM s"`, `SELECT * FROM s WHERE id > 1"`)
	r, _, err = bindWorld(t, w, d)
	require.NoError(t, err)
	require.Len(t, r.Evolutions, 1, "and what was edited is still found")
	require.Contains(t, r.Evolutions, address(t, "stream.valid"))
}

// Readers of an edited relation are compared only where the columns they see have changed, or whether it takes rows back.
func TestEvolutionsOfReaders(t *testing.T) {
	const text = "source \"test\" \"s\" {\n  path = \"in\"\n}\nview \"v\" {\n  sql = \"SELECT id FROM s GROUP BY id\"\n}\nview \"w\" {\n  sql = \"SELECT id FROM v GROUP BY id\"\n}\nview \"all\" {\n  sql = \"SELECT * FROM v\"\n}\n"
	for edit, want := range map[string][]string{
		"SELECT id FROM s WHERE id > 1 GROUP BY id": {"view.v"},
		"SELECT id, n FROM s GROUP BY id":           {"view.all", "view.v"},
		"SELECT id FROM s":                          {"view.all", "view.v"},
	} {
		w := world(t, text)
		d := applied(t, w)
		w.Files["main.sf.hcl"] = replaceOnce(t, text, "SELECT id FROM s GROUP BY id", edit)
		r, ds, err := bindWorld(t, w, d)
		require.NoError(t, err)
		require.Empty(t, ds)
		var got []string
		for a := range r.Evolutions {
			got = append(got, a.String())
		}
		slices.Sort(got)
		require.Equal(t, want, got, edit)
	}
}

func TestIDs(t *testing.T) {
	w := world(t, shop)
	d := applied(t, w)
	for i, r := range d.Resources {
		if r.Addr == address(t, "view.v") { // as if it had been renamed
			d.Resources[i].Addr = address(t, "view.renamed")
		}
	}
	r, _, err := bindWorld(t, w, d)
	require.NoError(t, err)
	require.Equal(t, "view.v#2", r.IDs[address(t, "view.v")], "the ID view.v is taken")
	require.Equal(t, "stream.valid", r.IDs[address(t, "stream.valid")])
	require.Len(t, r.IDs, 6)
}
