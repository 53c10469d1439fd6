package render

import (
	"fmt"
	"strings"

	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
)

// comments are the whole lines above a block; programs read the first two.
func (t *text) comments(c plan.Change) {
	name := t.paint(bold, "  # "+c.Addr.String())
	switch c.Action {
	case plan.Create:
		t.line("%s will be created", name)
	case plan.Update:
		if c.PreviousAddr != nil && !c.Computes() && len(c.Changed) == 0 {
			t.line("  # %s has moved to %s", c.PreviousAddr, t.paint(bold, c.Addr.String()))
			break
		}
		t.line("%s will be updated in-place", name)
		if c.PreviousAddr != nil {
			t.line("  # (moved from %s)", c.PreviousAddr)
		}
	case plan.Delete:
		t.line("%s will be %s", name, t.paint(bold+red, "destroyed"))
	case plan.Replace:
		switch {
		case c.Requested:
			t.line("%s will be %s, as requested", name, t.paint(bold+red, "replaced"))
		case strings.HasPrefix(c.Reason, "replace_triggered_by "):
			t.line("%s will be %s due to changes in replace_triggered_by", name, t.paint(bold+red, "replaced"))
		default:
			t.line("%s must be %s", name, t.paint(bold+red, "replaced"))
		}
	}
	if c.Because != "" {
		t.line("  # (%s)", c.Because)
	}
	if c.Reason != "" {
		t.line("  # (%s)", flat(c.Reason))
	}
	t.denials(c)
	for _, l := range data(t.plan, c) {
		if strings.HasPrefix(l, "- ") {
			t.line("  #   %s", flat(l))
		} else {
			t.line("  # (%s)", flat(l))
		}
	}
	if c.Desired != nil && c.Desired.Relation != nil {
		for _, o := range c.Desired.Relation.Operators {
			if o.Kind == "full_refresh" && o.Reason != "" {
				t.line("  # (its query runs again in full at each epoch: %s)", o.Reason)
			}
		}
	}
}

// flat keeps a comment on its line, whatever texts of the user it cites.
func flat(s string) string {
	const most = 300
	r := []rune(strings.Join(strings.Fields(printable(strings.ReplaceAll(s, "\n", " "))), " "))
	if len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(r)
}

// denials say what policies have against the change.
func (t *text) denials(c plan.Change) {
	for _, d := range c.Denials {
		if d.Waived {
			t.line("  # (let through once by -allow: it %s, plan_policy %q)", flat(d.Reason), d.Policy)
			continue
		}
		t.line("  # (%s by plan_policy %q: it %s)", t.paint(bold+red, "denied"), d.Policy, flat(d.Reason))
	}
}

// total sums what apply reads; a source that several changes read counts once, since they read it together.
func (t *text) total(p *plan.Plan) {
	most := map[addr.Resource]plan.Extent{}
	var sources []addr.Resource
	for _, c := range p.Changes {
		if !c.Computes() || c.Price == nil {
			continue
		}
		for _, r := range c.Price.Reads {
			was, seen := most[r.Source]
			if !seen {
				sources = append(sources, r.Source)
			}
			if !seen || r.Files > was.Files || r.Bytes > was.Bytes || r.Rows > was.Rows {
				most[r.Source] = r.Extent
			}
		}
	}
	var sum plan.Extent
	for _, s := range sources {
		sum = sum.Plus(most[s])
	}
	if len(sources) == 0 || sum == (plan.Extent{}) {
		return
	}
	what := sources[0].String()
	if len(sources) > 1 {
		what = fmt.Sprintf("%d sources", len(sources))
	}
	t.line("To read: %s from %s.", extent(sum, ""), what)
}

// extent is an amount for people: 12 files, 3.4 MB.
func extent(e plan.Extent, none string) string {
	var parts []string
	if e.Files > 0 {
		parts = append(parts, plan.Plural(e.Files, "file"))
	}
	if e.Rows > 0 {
		parts = append(parts, plan.Plural(e.Rows, "row"))
	}
	if e.Bytes > 0 {
		parts = append(parts, plan.FormatBytes(e.Bytes))
	}
	if len(parts) == 0 {
		if none == "" {
			return "nothing yet"
		}
		return none
	}
	return strings.Join(parts, ", ")
}
