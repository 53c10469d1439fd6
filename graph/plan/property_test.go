package plan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/graph/graphtest"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/graph/plan/saved"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// randomBlocks writes a configuration in which later relations read earlier ones.
func randomBlocks(r *rand.Rand) []string {
	names := []string{"s0", "s1"}
	var blocks []string
	for _, name := range names {
		history := []string{"keep", "restate"}[r.IntN(2)]
		blocks = append(blocks, fmt.Sprintf("source \"test\" %q {\n  path    = \"in%d\"\n  limit   = %d\n  history = %q\n}\n", name, r.IntN(2), r.IntN(2), history))
		history = []string{"keep", "restate"}[r.IntN(2)]
		stream := fmt.Sprintf("t%s", name)
		blocks = append(blocks, fmt.Sprintf("stream %q {\n  sql     = \"SELECT id FROM %s WHERE id < %d\"\n  history = %q\n}\n", stream, name, r.IntN(3), history),
			fmt.Sprintf("sink \"test\" %q {\n  from    = stream.%s\n  path    = \"q%d\"\n  history = %q\n}\n", stream, stream, r.IntN(2), history))
		names = append(names, stream)
	}
	for i := range 2 + r.IntN(8) {
		from := names[r.IntN(len(names))]
		where := fmt.Sprintf("WHERE id > %d", r.IntN(3))
		name := fmt.Sprintf("v%d", i)
		blocks = append(blocks, fmt.Sprintf("view %q {\n  sql = \"SELECT id FROM %s %s GROUP BY id\"\n}\n", name, from, where))
		names = append(names, name)
		if r.IntN(2) == 0 {
			blocks = append(blocks, fmt.Sprintf("sink \"test\" \"k%d\" {\n  from  = view.%s\n  path  = \"p%d\"\n  batch = %d\n}\n", i, name, r.IntN(2), r.IntN(2)))
		}
	}
	return blocks
}

// write spreads blocks over files in any order.
func write(w *graphtest.World, r *rand.Rand, blocks []string) {
	shuffled := slices.Clone(blocks)
	r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	w.Files = map[string]string{}
	for i, b := range shuffled {
		w.Files[fmt.Sprintf("f%d.sf.hcl", i%3)] += b
	}
}

// TestRandomEdits edits a configuration at random and applies it, with failures in between: the plan after a
// successful apply is always empty, whatever came before, and the order of blocks never matters.
func TestRandomEdits(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 3))
		w := graphtest.New(t)
		for range 4 {
			blocks := randomBlocks(r)
			write(w, r, blocks)
			p, ds := w.Plan(graphtest.Options{})
			require.False(t, ds.Failed(), "%v", ds)
			write(w, r, blocks)
			other, _ := w.Plan(graphtest.Options{})
			require.Equal(t, changes(p), changes(other))
			if r.IntN(2) == 0 {
				w.Runtime.Fail(1 + r.IntN(6))
				_, _ = w.Apply(p)
				w.Runtime.Fail(0)
			}
			w.MustApply()
			again, _ := w.Plan(graphtest.Options{})
			require.True(t, again.Empty(), "seed %d:\n%s", seed, changes(again))
			d, err := w.Store.Load(t.Context())
			require.NoError(t, err)
			for _, res := range d.Resources {
				require.Equal(t, state.Applied, res.Status, "seed %d: %s", seed, res.Addr)
				require.Equal(t, res.Generation, w.Runtime.Live[res.Addr], "seed %d: %s", seed, res.Addr)
			}
			require.Len(t, w.Runtime.Live, len(d.Resources), "seed %d", seed)
		}
	}
}

// large is a configuration of n views over one source, without SQL.
func large(t testing.TB, n int) (*lang.Config, *graph.Graph, map[addr.Resource]state.Relation) {
	kind, _ := graphtest.Kind("view")
	cfg := &lang.Config{}
	relations := map[addr.Resource]state.Relation{}
	for i := range n {
		v, errs := kind.Complete(cty.ObjectVal(map[string]cty.Value{"sql": cty.StringVal(fmt.Sprintf("SELECT %d", i))}))
		require.Empty(t, errs)
		r := lang.Resource{Addr: addr.Resource{Block: addr.View, Name: fmt.Sprintf("v%05d", i)}, Kind: kind, Value: v}
		if i >= 10 {
			r.Refs = []lang.Reference{{To: cfg.Resources[i-10].Addr, Attr: "sql"}}
		}
		cfg.Resources = append(cfg.Resources, r)
		relations[r.Addr] = state.Relation{Identity: r.Addr.Name}
	}
	g, ds := graph.Build(cfg, graphtest.Analyze)
	require.Empty(t, ds)
	return cfg, g, relations
}

// recorded is the state in which everything of a plan was applied.
func recorded(p *plan.Plan) *state.Document {
	d := state.New(p.Lineage, "0.1.0")
	d.Serial = 1
	for _, c := range p.Changes {
		d.Resources = append(d.Resources, *c.Desired)
	}
	return d
}

func TestTenThousandResources(t *testing.T) {
	cfg, g, relations := large(t, 10_000)
	start := time.Now()
	p, ds := plan.Make(plan.Input{Config: cfg, Graph: g, Relations: relations})
	require.Empty(t, ds)
	require.Equal(t, 10_000, p.Counts().Add)
	d := recorded(p)
	again, ds := plan.Make(plan.Input{Config: cfg, Graph: g, Relations: relations, State: d})
	require.Empty(t, ds)
	require.True(t, again.Empty())
	require.Less(t, time.Since(start), time.Minute, "far above what it takes, but below anything quadratic")
}

func BenchmarkPlan10000(b *testing.B) {
	cfg, g, relations := large(b, 10_000)
	p, _ := plan.Make(plan.Input{Config: cfg, Graph: g, Relations: relations})
	d := recorded(p)
	for name, s := range map[string]*state.Document{"create": nil, "noop": d} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				plan.Make(plan.Input{Config: cfg, ConfigHash: "x", Graph: g, Relations: relations, State: s})
			}
		})
	}
	b.Run("hash", func(b *testing.B) {
		for b.Loop() {
			lang.Hash(cfg)
		}
	})
}

func TestDamagedAttributesAreADiagnostic(t *testing.T) {
	cfg, g, relations := large(t, 1)
	for _, attributes := range []string{`{"sql":1,"keys":"x"}`, `{"keys":[[1]]}`, `{"keys":{"a":1}}`, `{"sql":{"type":"x"}}`} {
		d := state.New("l", "0.1.0")
		d.Resources = []state.Resource{{Addr: cfg.Resources[0].Addr, Attributes: json.RawMessage(attributes), Status: state.Applied}}
		p, ds := plan.Make(plan.Input{Config: cfg, Graph: g, Relations: relations, State: d})
		if len(ds) > 0 {
			require.Equal(t, "Recorded attributes cannot be read", ds[0].Summary)
			require.True(t, p.Errored)
		}
	}
}

// secretWorld has been applied, and then edited, with a secret in a variable.
func secretWorld(t *testing.T) (*graphtest.World, *plan.Plan) {
	w := graphtest.New(t)
	w.Files["main.sf.hcl"] = `variable "secret" {
  type      = string
  sensitive = true
}
variable "plain" {
  default = "pl41n"
}
output "token" {
  value     = var.secret
  sensitive = true
}
source "test" "s" {
  path = var.plain
}
view "v" {
  sql = "SELECT id FROM s GROUP BY id"
}
sink "test" "old" {
  from = view.v
  path = "old"
}
`
	p, ds := w.Plan(graphtest.Options{Vars: []string{"secret=c4n4ry"}})
	require.False(t, ds.Failed(), "%v", ds)
	_, err := w.Apply(p)
	require.NoError(t, err)
	text := w.Files["main.sf.hcl"]
	w.Files["main.sf.hcl"] = text[:strings.Index(text, "sink")] + "sink \"test\" \"new\" {\n  from = view.v\n  path = \"new\"\n}\n"
	p, ds = w.Plan(graphtest.Options{Vars: []string{"secret=c4n4ry2"}, Replace: []string{"view.v"}})
	require.False(t, ds.Failed(), "%v", ds)
	return w, p
}

func TestSavedPlan(t *testing.T) {
	_, p := secretWorld(t)
	path := filepath.Join(t.TempDir(), "p.plan")
	require.NoError(t, os.WriteFile(path, []byte("former"), 0o644))
	file := saved.File{Plan: p, Files: map[string][]byte{"../x.sql": []byte("SELECT 1"), "main.sf.hcl": nil}}
	require.NoError(t, saved.Write(path, file))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	data, err := os.ReadFile(path)
	require.NoError(t, err)

	got, err := saved.Read(path)
	require.NoError(t, err)
	want, err := json.Marshal(p)
	require.NoError(t, err)
	again, err := json.Marshal(got.Plan)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(again))
	require.NotContains(t, string(again), "c4n4ry")
	require.Equal(t, "SELECT 1", string(got.Files["../x.sql"]))

	var refused *saved.Unusable
	for i := 0; i < len(data); i += 7 {
		altered := bytes.Clone(data)
		altered[i] ^= 0x20
		require.NoError(t, os.WriteFile(path, altered, 0o600))
		got, err := saved.Read(path)
		if err == nil { // a byte that the format itself ignores, such as a time
			same, err := json.Marshal(got.Plan)
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(same))
			continue
		}
		require.ErrorAs(t, err, &refused)
	}
	require.NoError(t, os.WriteFile(path, data[:len(data)/2], 0o600))
	_, err = saved.Read(path)
	require.ErrorAs(t, err, &refused)
	require.Contains(t, err.Error(), "not a plan that streamform saved")
	_, err = saved.Read(path + ".gone")
	require.ErrorIs(t, err, os.ErrNotExist)

	other := *p
	other.FormatVersion, other.StreamformVersion = "9", "7.0.0"
	require.NoError(t, saved.Write(path, saved.File{Plan: &other}))
	_, err = saved.Read(path)
	require.ErrorContains(t, err, "streamform 7.0.0 made it in plan format 9")
}
