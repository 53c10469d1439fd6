package graph_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/lang/schema"
)

// config builds a Config from lines such as
//
//	source.files.a
//	view.b sql: SELECT * FROM a
//	sink.delta.c from: view.b, trigger: trigger.processing_time.t
//
// Line n of the text is line n of the file "t"; columns are those of the line.
func config(t *testing.T, text string) *lang.Config {
	t.Helper()
	cfg := &lang.Config{}
	for i, line := range strings.Split(text, "\n") {
		head, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if head == "" {
			continue
		}
		a, err := addr.Parse(head)
		require.NoError(t, err)
		r := lang.Resource{Addr: a, Kind: schema.Kind{Block: a.Block, Type: a.Type}}
		if a.Block == addr.Source {
			r.Kind.Sides = []string{"malformed", "files"}
		}
		at := func(start, end int) diag.Range {
			place := func(n int) diag.Pos { return diag.Pos{Line: i + 1, Column: n + 1, Byte: n} }
			return diag.Range{Filename: "t", Start: place(start), End: place(end)}
		}
		if sql, ok := strings.CutPrefix(rest, "sql: "); ok {
			offset := strings.Index(line, sql)
			r.SQL = []lang.SQL{{Attr: "sql", Text: sql, Locate: func(s, e int) diag.Range { return at(offset+s, offset+e) }}}
			rest = ""
		}
		for _, ref := range strings.Split(rest, ", ") {
			attr, to, ok := strings.Cut(ref, ": ")
			if !ok {
				continue
			}
			side := ""
			if base, found := strings.CutSuffix(to, ".malformed"); found {
				to, side = base, "malformed"
			}
			target, err := addr.Parse(to)
			require.NoError(t, err)
			start := strings.Index(line, to)
			r.Refs = append(r.Refs, lang.Reference{To: target, Side: side, Attr: attr, Range: at(start, start+len(to))})
		}
		cfg.Resources = append(cfg.Resources, r)
	}
	return cfg
}

// analyze finds names behind FROM and JOIN, which is enough for these tests.
func analyze(sql string) ([]graph.Name, error) {
	if strings.Contains(sql, "BROKEN") {
		at := strings.Index(sql, "BROKEN")
		return nil, &graph.SQLError{Summary: "Syntax error in SQL", Detail: `near "BROKEN"`, Start: at, End: at + 6}
	}
	if strings.Contains(sql, "MACHINE") {
		return nil, errors.New("out of memory")
	}
	var out []graph.Name
	for _, m := range regexp.MustCompile(`(?:FROM|JOIN) (?:(\w+)\.)?(\w+)`).FindAllStringSubmatchIndex(sql, -1) {
		n := graph.Name{Relation: sql[m[4]:m[5]], Start: m[4], End: m[5]}
		if m[2] >= 0 {
			n.Schema, n.Start = sql[m[2]:m[3]], m[2]
		}
		out = append(out, n)
	}
	return out, nil
}

func build(t *testing.T, text string) *graph.Graph {
	t.Helper()
	g, ds := graph.Build(config(t, text), analyze)
	require.Empty(t, ds)
	return g
}

func texts(as []addr.Resource) string {
	var out []string
	for _, a := range as {
		out = append(out, a.String())
	}
	return strings.Join(out, " ")
}

func address(t *testing.T, s string) addr.Resource {
	t.Helper()
	a, err := addr.Parse(s)
	require.NoError(t, err)
	return a
}

const shop = `view.sales sql: SELECT * FROM Valid JOIN purchases ON true JOIN valid ON true
stream.valid sql: SELECT * FROM PURCHASES
source.files.purchases trigger: trigger.processing_time.live
sink.delta.sales from: view.sales
sink.delta.bad from: source.files.purchases.malformed
view.broken sql: SELECT count(*) FROM purchases.MALFORMED
trigger.processing_time.live
monitor.lag.m on: view.sales`

func TestEdges(t *testing.T) {
	g := build(t, shop)
	require.Equal(t, "source.files.purchases stream.valid", texts(g.Dependencies(address(t, "view.sales"))))
	require.Equal(t, "sink.delta.bad stream.valid view.broken view.sales", texts(g.Dependents(address(t, "source.files.purchases"))))
	require.Equal(t, "trigger.processing_time.live", texts(g.Dependencies(address(t, "source.files.purchases"))))
	require.Empty(t, g.Inputs(address(t, "source.files.purchases")))
	require.Equal(t, "monitor.lag.m sink.delta.sales", texts(g.Dependents(address(t, "view.sales"))))
	require.Equal(t, "sink.delta.sales", texts(g.Readers(address(t, "view.sales"))))
	require.Empty(t, g.Inputs(address(t, "monitor.lag.m")))
	require.Equal(t, "trigger.processing_time.live source.files.purchases sink.delta.bad stream.valid view.broken view.sales monitor.lag.m sink.delta.sales", texts(g.Order()))

	edges := g.Edges(address(t, "view.broken"))
	require.Len(t, edges, 1)
	require.Equal(t, "malformed", edges[0].Side)
	require.True(t, edges[0].SQL)
	require.Equal(t, diag.Pos{Line: 6, Column: 39, Byte: 38}, edges[0].Range.Start)
	require.Equal(t, "malformed", g.Edges(address(t, "sink.delta.bad"))[0].Side)
}

func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct{ text, place, summary, detail string }{
		"unknown relation": {"source.files.purchases\nview.v sql: SELECT * FROM purchase", "2:27-2:35", "Unknown relation",
			`There is no source, stream or view named "purchase". Did you mean "purchases"?`},
		"nothing alike": {"source.files.purchases\nview.v sql: SELECT * FROM xyzzy", "2:27-2:32", "Unknown relation",
			`There is no source, stream or view named "xyzzy".`},
		"a sink": {"source.files.a\nsink.delta.s from: source.files.a\nview.v sql: SELECT * FROM s", "3:27-3:28", "Unknown relation",
			`There is no source, stream or view named "s". SQL cannot read sink.delta.s: it is a sink.`},
		"unknown side": {"source.files.a\nview.v sql: SELECT * FROM a.malformd", "2:27-2:37", "Unknown relation",
			`The source "a" has no side relation "malformd". Did you mean "a.malformed"?`},
		"view has no sides": {"source.files.a\nview.w sql: SELECT * FROM a\nview.v sql: SELECT * FROM w.malformed", "3:27-3:38", "Unknown relation",
			`The view "w" has no side relation "malformed".`},
		"schema is no relation": {"source.files.purchases\nview.v sql: SELECT * FROM main.purchases", "2:27-2:41", "Unknown relation",
			`There is no source, stream or view named "main".`},
		"syntax":  {"view.v sql: SELECT BROKEN", "1:20-1:26", "Syntax error in SQL", `near "BROKEN"`},
		"machine": {"view.v sql: SELECT MACHINE", "1:13-1:27", "SQL could not be analyzed", "out of memory"},
		"undeclared": {"sink.delta.s from: view.gone", "1:20-1:29", "Reference to an undeclared resource",
			"There is no view.gone in the configuration."},
		"itself": {"view.v sql: SELECT * FROM v", "1:27-1:28", "Cycle: view.v",
			"These resources depend on each other, so none of them can come first:\n  view.v reads view.v at t line 1, column 27\nRemove one of these uses."},
		"cycle of three": {"source.files.s\nview.a sql: SELECT * FROM b JOIN s\nview.b sql: SELECT * FROM s JOIN c\nview.c sql: SELECT * FROM a\nview.d sql: SELECT * FROM a", "2:27-2:28", "Cycle: view.a, view.b, view.c",
			"These resources depend on each other, so none of them can come first:\n  view.a reads view.b at t line 2, column 27\n  view.b reads view.c at t line 3, column 34\n  view.c reads view.a at t line 4, column 27\nRemove one of these uses."},
		"two triggers": {"trigger.processing_time.x\ntrigger.processing_time.y\nsource.files.a trigger: trigger.processing_time.x\nview.v sql: SELECT * FROM a\nsink.delta.s from: view.v, trigger: trigger.processing_time.y", "5:37-5:62", "Two triggers in one pipeline",
			"sink.delta.s asks for trigger.processing_time.y, but source.files.a asks for trigger.processing_time.x at t line 3, column 25. Rows flow between the two, so they are one pipeline and run by one trigger: use the same one, or name it in one place only."},
	} {
		t.Run(name, func(t *testing.T) {
			g, ds := graph.Build(config(t, c.text), analyze)
			require.Nil(t, g)
			require.Len(t, ds, 1)
			r := ds[0].Subject
			require.Equal(t, c.place, fmt.Sprintf("%d:%d-%d:%d", r.Start.Line, r.Start.Column, r.End.Line, r.End.Column))
			require.Equal(t, c.summary, ds[0].Summary)
			require.Equal(t, c.detail, ds[0].Detail)
			require.NotEmpty(t, ds[0].Address)
		})
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	_, ds := graph.Build(config(t, "view.a sql: SELECT BROKEN\nview.b sql: SELECT * FROM x JOIN y\nsink.delta.s from: view.z"), analyze)
	require.Len(t, ds, 4)
	_, ds = graph.Build(config(t, "view.a sql: SELECT * FROM a\nview.b sql: SELECT * FROM c\nview.c sql: SELECT * FROM b JOIN a"), analyze)
	require.Len(t, ds, 2, "each cycle is told once")
}

func ids(ps []graph.Pipeline) string {
	var out []string
	for _, p := range ps {
		out = append(out, fmt.Sprintf("%s[%s]", p.ID, texts(p.Members)))
	}
	return strings.Join(out, "\n")
}

func TestPipelines(t *testing.T) {
	text := `source.files.a trigger: trigger.processing_time.t
source.files.b
view.va sql: SELECT * FROM a
view.vb sql: SELECT * FROM b
view.one sql: SELECT 1
trigger.processing_time.t
monitor.lag.m on: view.va
monitor.lag.n on: view.vb`
	none := func(addr.Resource) string { return "" }
	fresh := func(first addr.Resource) string { return "new-" + first.Name }
	ps := build(t, text).Pipelines(none, fresh)
	require.Equal(t, "new-a[source.files.a view.va]\nnew-b[source.files.b view.vb]\nnew-one[view.one]", ids(ps))
	require.Equal(t, "trigger.processing_time.t", ps[0].Trigger.String())
	require.Zero(t, ps[1].Trigger)
	require.Equal(t, "source.files.b", texts(ps[1].Sources))

	record := func(ps []graph.Pipeline) func(addr.Resource) string {
		ids := map[addr.Resource]string{}
		for _, p := range ps {
			for _, a := range p.Members {
				ids[a] = p.ID
			}
		}
		return func(a addr.Resource) string { return ids[a] }
	}
	// A member with a smaller address changes nothing.
	again := build(t, text+"\nsource.files.A0\nview.w sql: SELECT * FROM A0 JOIN va").Pipelines(record(ps), fresh)
	require.Contains(t, ids(again), "new-a[source.files.A0 source.files.a view.va view.w]")
	// Two that become one keep the ID of the larger; split again, the larger part keeps it.
	merged := build(t, text+"\nview.x sql: SELECT * FROM va JOIN vb\nview.y sql: SELECT * FROM vb").Pipelines(record(again), fresh)
	require.Contains(t, ids(merged), "new-a[source.files.b source.files.a view.va view.vb view.x view.y]")
	split := build(t, text+"\nview.y sql: SELECT * FROM vb").Pipelines(record(merged), fresh)
	require.Equal(t, "new-a2[source.files.a view.va]\nnew-a[source.files.b view.vb view.y]\nnew-one[view.one]",
		strings.Replace(ids(split), "new-a[source.files.a", "new-a2[source.files.a", 1))
}

func TestDOT(t *testing.T) {
	require.Equal(t, `digraph {
  rankdir = "LR";
  node [shape = "rect"];
  "monitor.lag.m";
  "source.files.a";
  "view.v";
  "source.files.a" -> "monitor.lag.m" [style = "dashed"];
  "source.files.a" -> "view.v";
  "source.files.a" -> "view.v" [label = "malformed"];
}
`, build(t, "view.v sql: SELECT * FROM a JOIN a JOIN a.malformed\nsource.files.a\nmonitor.lag.m on: source.files.a").DOT())
}

// randomConfig has n views, view i reading a few with smaller numbers, in any order of writing.
func randomConfig(t *testing.T, r *rand.Rand, n int) *lang.Config {
	lines := []string{"source.files.s"}
	for i := range n {
		reads := []string{"s"}
		for range r.IntN(4) {
			if i > 0 {
				reads = append(reads, fmt.Sprintf("v%d", r.IntN(i)))
			}
		}
		lines = append(lines, fmt.Sprintf("view.v%d sql: SELECT * FROM %s", i, strings.Join(reads, " JOIN ")))
	}
	r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return config(t, strings.Join(lines, "\n"))
}

func TestRandomOrder(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		cfg := randomConfig(t, r, 1+r.IntN(40))
		g, ds := graph.Build(cfg, analyze)
		require.Empty(t, ds)
		place := map[addr.Resource]int{}
		for i, a := range g.Order() {
			place[a] = i
		}
		require.Len(t, place, len(cfg.Resources))
		for _, res := range cfg.Resources {
			for _, d := range g.Dependencies(res.Addr) {
				require.Less(t, place[d], place[res.Addr])
				require.Contains(t, g.Dependents(d), res.Addr)
			}
		}
		r.Shuffle(len(cfg.Resources), func(i, j int) {
			cfg.Resources[i], cfg.Resources[j] = cfg.Resources[j], cfg.Resources[i]
		})
		other, _ := graph.Build(cfg, analyze)
		require.Equal(t, g.Order(), other.Order(), "where things are written does not matter")
		require.Equal(t, g.DOT(), other.DOT())
	}
}

func TestRandomCycleIsFound(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 2))
		n := 2 + r.IntN(30)
		cfg := randomConfig(t, r, n)
		from := r.IntN(n - 1)
		i := slices.IndexFunc(cfg.Resources, func(res lang.Resource) bool { return res.Addr.Name == fmt.Sprintf("v%d", from) })
		to := from + 1 + r.IntN(n-from-1)
		cfg.Resources[i].Refs = []lang.Reference{{To: addr.Resource{Block: addr.View, Name: fmt.Sprintf("v%d", to)}, Attr: "x"}}
		j := slices.IndexFunc(cfg.Resources, func(res lang.Resource) bool { return res.Addr.Name == fmt.Sprintf("v%d", to) })
		cfg.Resources[j].Refs = []lang.Reference{{To: addr.Resource{Block: addr.View, Name: fmt.Sprintf("v%d", from)}, Attr: "x"}}
		g, ds := graph.Build(cfg, analyze)
		require.Nil(t, g)
		require.NotEmpty(t, ds)
		require.Contains(t, ds[0].Summary, "Cycle: ")
	}
}

func large(n int) *lang.Config {
	cfg := &lang.Config{}
	view := func(i int) addr.Resource { return addr.Resource{Block: addr.View, Name: fmt.Sprintf("v%d", i)} }
	for i := range n {
		r := lang.Resource{Addr: view(i), Kind: schema.Kind{Block: addr.View}}
		for k := 1; k <= 2 && i >= k*7; k++ {
			r.Refs = append(r.Refs, lang.Reference{To: view(i - k*7), Attr: "from"})
		}
		cfg.Resources = append(cfg.Resources, r)
	}
	return cfg
}

func TestLargeGraphIsLinear(t *testing.T) {
	cfg := large(20_000)
	start := time.Now()
	g, ds := graph.Build(cfg, analyze)
	require.Empty(t, ds)
	require.Len(t, g.Order(), 20_000)
	require.Len(t, g.Pipelines(func(addr.Resource) string { return "" }, addr.Resource.String), 7)
	require.Less(t, time.Since(start), 30*time.Second, "far above what it takes, but below anything quadratic")

	cfg.Resources[0].Refs = []lang.Reference{{To: cfg.Resources[19_999].Addr, Attr: "from"}}
	cfg.Resources[19_999].Refs = append(cfg.Resources[19_999].Refs, lang.Reference{To: cfg.Resources[0].Addr, Attr: "from"})
	_, ds = graph.Build(cfg, analyze)
	require.True(t, ds.Failed())
	require.Less(t, time.Since(start), time.Minute)
}

func BenchmarkBuild20000(b *testing.B) {
	cfg := large(20_000)
	for b.Loop() {
		if _, ds := graph.Build(cfg, analyze); ds.Failed() {
			b.Fatal(ds)
		}
	}
}
