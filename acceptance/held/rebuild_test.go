package held_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"

	. "github.com/streamform/streamform/runtime/host/hosttest"
)

// history is what became of two sources on one folder, of which one keeps its rows.
type history struct {
	*World
	rng     *rand.Rand
	columns map[string]cty.Value
	keep    string
	files   int
}

func (h *history) put() {
	comparing(h.World, Attributes{"format": Text("json"), "columns": cty.MapVal(h.columns), "schema_evolution": Text("rescue"),
		"metadata": cty.ListVal([]cty.Value{Text("_file_name"), Text("_row_number")})})
	if h.keep != "all" {
		h.Put("source.files.kept", 1, Attributes{"path": Text("landing"), "format": Text("json"), "columns": cty.MapVal(h.columns), "schema_evolution": Text("rescue"),
			"metadata": cty.ListVal([]cty.Value{Text("_file_name"), Text("_row_number")}), "keep": Text(h.keep)})
	}
}

// record is a line of a file: most are rows, some do not fit, have more than the columns, or are damaged.
func (h *history) record() string {
	c := fmt.Sprintf("%c", 'a'+h.rng.IntN(5))
	switch h.rng.IntN(9) {
	case 0:
		return fmt.Sprintf(`{"c":%q,"v":"much"}`, c)
	case 1:
		return `{"c":`
	case 2:
		return fmt.Sprintf(`{"c":%q,"v":%d,"x":"y"}`, c, h.rng.IntN(100))
	case 3:
		return `{"v":7}`
	}
	return fmt.Sprintf(`{"c":%q,"v":%d}`, c, h.rng.IntN(100))
}

// step lands files, or changes what the sources say.
func (h *history) step() {
	switch h.rng.IntN(8) {
	case 0:
		h.columns["v"] = Text("BIGINT")
		h.put()
	case 1:
		h.columns["x"] = Text("VARCHAR")
		h.put()
	case 2:
		if h.keep == "all" {
			h.keep = "none"
		} else {
			h.keep = "all"
		}
		h.put()
	case 3:
		h.Reopen()
	default:
		for range h.rng.IntN(3) {
			var lines []string
			for range h.rng.IntN(6) {
				lines = append(lines, h.record())
			}
			h.files++
			h.Land(fmt.Sprintf("%03d.json", h.files), lines...)
		}
		h.Once()
	}
}

// derive puts views over one of the sources that need its rows from the start.
func (h *history) derive(source string) {
	h.Put("view.most_"+source, 1, Attributes{"sql": Text("SELECT c, max(v) AS most, count(*) AS n FROM " + source + " GROUP BY c")})
	h.Put("view.lists_"+source, 1, Attributes{"sql": Text("SELECT c, list(v ORDER BY _file_name, _row_number) AS vs FROM " + source + " GROUP BY c")})
	h.Put("stream.rows_"+source, 1, Attributes{"sql": Text("SELECT * FROM " + source + " WHERE v IS NULL OR v > 10")})
	h.Put("sink.delta.rows_"+source, 1, Attributes{"from": Text("stream.rows_" + source), "path": Text("lake/" + source)})
	h.Put("view.broken_"+source, 1, Attributes{"sql": Text("SELECT decode(raw) AS raw, _reason, _position FROM " + source + ".malformed")})
	h.Put("view.misfit_"+source, 1, Attributes{"sql": Text("SELECT data, _reason, _position FROM " + source + ".rescued")})
}

// Whatever happened to a source, what is made of the rows it holds is what its files give.
func TestRebuiltFromHeldRowsAsFromFiles(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := &history{World: NewWorld(t), rng: rand.New(rand.NewPCG(seed, 1)), keep: "all", columns: map[string]cty.Value{"c": Text("VARCHAR"), "v": Text("TINYINT")}}
			h.Land("000.json", h.record(), h.record())
			h.put()
			h.Backfill()
			for range 12 {
				h.step()
			}
			h.derive("read")
			h.derive("kept")
			h.Backfill()
			h.same(t)
			h.Land("last.json", h.record(), h.record())
			h.Once()
			h.same(t)
		})
	}
}

func (h *history) same(t *testing.T) {
	t.Helper()
	require.Equal(t, h.Query("FROM read"), h.Query("FROM kept"))
	for _, view := range []string{"most", "lists", "rows", "broken", "misfit"} {
		require.Equal(t, h.Query("FROM "+view+"_read"), h.Query("FROM "+view+"_kept"), view)
	}
	read, _ := h.Table("lake/read")
	kept, _ := h.Table("lake/kept")
	require.Equal(t, read, kept)
}

// The same rows are made of what is held when every file is gone.
func TestRebuiltWithoutFiles(t *testing.T) {
	h := &history{World: NewWorld(t), rng: rand.New(rand.NewPCG(9, 1)), keep: "all", columns: map[string]cty.Value{"c": Text("VARCHAR"), "v": Text("TINYINT")}}
	h.put()
	h.Backfill()
	for i := range 8 {
		h.Land(fmt.Sprintf("%03d.json", i), h.record(), h.record(), h.record())
		h.Once()
	}
	h.derive("read")
	h.Backfill()
	require.NoError(t, os.RemoveAll(h.Path("landing")))
	require.NoError(t, os.MkdirAll(h.Path("landing"), 0o755))
	h.derive("kept")
	h.Backfill()
	for _, view := range []string{"most", "lists", "broken", "misfit"} {
		require.Equal(t, h.Query("FROM "+view+"_read"), h.Query("FROM "+view+"_kept"), view)
	}
	read, _ := h.Table("lake/read")
	kept, _ := h.Table("lake/kept")
	require.Equal(t, read, kept)
}
