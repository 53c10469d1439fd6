package moving_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/graph/plan/moving"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

func at(t *testing.T, text string) addr.Resource {
	t.Helper()
	a, err := addr.Parse(text)
	require.NoError(t, err)
	return a
}

func TestReferenceInAttributes(t *testing.T) {
	from, to := at(t, `trigger.processing_time.a["<&\u200b>"]`), at(t, `trigger.processing_time.b["\U000e0001"]`)
	text, err := json.Marshal(from)
	require.NoError(t, err)
	got, turned := moving.TurnAttributes(json.RawMessage(`{"sql":"SELECT 'trigger.processing_time.a'","trigger":`+string(text)+`}`), map[addr.Resource]addr.Resource{from: to})
	require.True(t, turned)
	var values map[string]string
	require.NoError(t, json.Unmarshal(got, &values))
	require.Equal(t, map[string]string{"sql": "SELECT 'trigger.processing_time.a'", "trigger": to.String()}, values)
}

// Each case is what is declared (with the argument that repeats it after a space), what is recorded, the moved blocks, and the
// addresses that what is recorded has then.
func TestInstances(t *testing.T) {
	for name, c := range map[string]struct{ declared, recorded, moved, want string }{
		"count added":                 {"view.x[0] count,view.x[1] count", "view.x", "", "view.x[0]"},
		"count removed":               {"view.x", "view.x[0],view.x[1]", "", "view.x,view.x[1]"},
		"count with both recorded":    {"view.x[0] count", "view.x,view.x[0]", "", "view.x,view.x[0]"},
		"for_each added":              {`view.x["a"] for_each`, "view.x", "", "view.x"},
		"for_each added, moved":       {`view.x["a"] for_each`, "view.x", `view.x>view.x["a"]`, `view.x["a"]`},
		"count to for_each":           {`view.x["a"] for_each,view.x["b"] for_each`, "view.x[0],view.x[1]", `view.x[0]>view.x["a"],view.x[1]>view.x["b"]`, `view.x["a"],view.x["b"]`},
		"for_each to count":           {`view.x[0] count`, `view.x["a"]`, `view.x["a"]>view.x[0]`, `view.x[0]`},
		"renamed with all instances":  {`view.y["a"] for_each`, `view.x["a"],view.x["b"]`, "view.x>view.y", `view.y["a"],view.y["b"]`},
		"renamed, one of them apart":  {`view.y["a"] for_each,view.z`, `view.x["a"],view.x["b"]`, `view.x>view.y,view.x["b"]>view.z`, `view.y["a"],view.z`},
		"a chain":                     {`view.z["k"] for_each`, `view.x["a"]`, `view.x>view.y,view.y["a"]>view.z["k"]`, `view.z["k"]`},
		"a chain, the later first":    {`view.z["a"] for_each`, `view.x["a"],view.y["b"]`, `view.y>view.z,view.x>view.y`, `view.z["a"],view.z["b"]`},
		"renamed and counted":         {`view.y[0] count`, `view.x`, `view.x>view.y[0]`, `view.y[0]`},
		"said otherwise":              {`view.x[0] count,view.y`, `view.x`, `view.x>view.y`, `view.y`},
		"its place is another's":      {`view.x[0] count`, `view.x,view.y`, `view.y>view.x[0]`, `view.x,view.x[0]`},
		"nothing recorded":            {`view.x[0] count`, ``, `view.y>view.x[0]`, ``},
		"of another block altogether": {`view.xa[0] count`, `view.x`, ``, `view.x`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := &lang.Config{Repeated: map[addr.Resource]addr.Repetition{}}
			for _, text := range split(c.declared) {
				address, mode, _ := strings.Cut(text, " ")
				a := at(t, address)
				cfg.Resources = append(cfg.Resources, lang.Resource{Addr: a})
				if mode != "" {
					cfg.Repeated[a.Whole()] = addr.Repetition(mode)
				}
			}
			for _, text := range split(c.moved) {
				from, to, _ := strings.Cut(text, ">")
				cfg.Moved = append(cfg.Moved, lang.Move{From: at(t, from), To: at(t, to)})
			}
			d := &state.Document{}
			for _, text := range split(c.recorded) {
				d.Resources = append(d.Resources, state.Resource{Addr: at(t, text)})
			}
			out, moves, ds := moving.Apply(cfg, d)
			require.Empty(t, ds)
			var got []string
			for _, r := range out.Resources {
				got = append(got, r.Addr.String())
			}
			require.Equal(t, split(c.want), got)
			for is, was := range moves.Now {
				require.NotNil(t, d.Resource(was), "%s was %s", is, was)
			}
			again, moves, ds := moving.Apply(cfg, out)
			require.Empty(t, ds)
			require.Empty(t, moves.Now, "moves that were made")
			require.Equal(t, out.Resources, again.Resources)
		})
	}
}

// A crash after the resource was renamed leaves records of others that name it as it was.
func TestImpliedMovesAreFinished(t *testing.T) {
	cfg := &lang.Config{Repeated: map[addr.Resource]addr.Repetition{at(t, "view.x"): addr.Count}, Resources: []lang.Resource{{Addr: at(t, "view.x[0]")}}}
	d := &state.Document{Resources: []state.Resource{{Addr: at(t, "view.x[0]")}, {Addr: at(t, "sink.files.s"), Dependencies: []addr.Resource{at(t, "view.x")}, Attributes: json.RawMessage(`{"from":"view.x"}`)}}}
	out, moves, ds := moving.Apply(cfg, d)
	require.Empty(t, ds)
	require.Equal(t, at(t, "view.x"), moves.Former[at(t, "view.x[0]")])
	require.True(t, moves.Stale[at(t, "sink.files.s")])
	require.JSONEq(t, `{"from":"view.x[0]"}`, string(out.Resources[1].Attributes))
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}
