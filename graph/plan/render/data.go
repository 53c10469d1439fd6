package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
)

// data says what a change does to the data: what is kept, what is read and computed, and who is given the difference.
func data(ix index, c plan.Change) []string {
	var out []string
	if c.Inferred && c.Sampled != nil {
		out = append(out, "columns inferred from "+extent(*c.Sampled, "a sample"))
	}
	out = append(out, operators(c)...)
	if s := c.Shares; s != nil {
		names := make([]string, len(s.With))
		for i, a := range s.With {
			names[i] = a.String()
		}
		out = append(out, fmt.Sprintf("%d of %s shared with %s", s.Operators, plan.Plural(int64(s.Of), "operator"), strings.Join(names, ", ")))
	}
	out = append(out, cost(ix.Plan, c)...)
	if readers := ix.receivers(c.Addr); readers != "" {
		out = append(out, readers)
	}
	for _, b := range c.Boundaries {
		switch {
		case b.Of != c.Addr:
			out = append(out, fmt.Sprintf("from the next epoch it is computed from rows that follow the new definition of %s; earlier ones stay", b.Of))
		case !strings.Contains(c.Reason, "history"):
			out = append(out, `history = "keep": rows from before this edit stay, and the new definition holds from the next epoch`)
		}
	}
	if readers := ix.mixture(c.Addr); readers != "" {
		out = append(out, readers)
	}
	return out
}

// result is the operator that holds a relation's rows, or only makes them from what is below it.
const result = "result"

// operators says what becomes of the operators of an edited query: a summary, and a line for each that is not kept.
func operators(c plan.Change) []string {
	if c.Evolution == nil || !c.Computes() {
		return nil
	}
	kept, converted, all := 0, 0, 0
	var rest []string
	said := map[string]bool{c.Reason: true}
	for _, f := range c.Evolution.Operators {
		if f.Name != result && f.Fate != plan.Dropped {
			all++
		}
		switch {
		case f.Fate == plan.Kept && f.Name != result:
			kept++
		case f.Fate == plan.Kept, f.Fate == plan.Added && f.Name == result:
		default:
			if f.Fate == plan.Migrated {
				converted++
			}
			rest = append(rest, "- "+fateWord(f.Fate)+" "+operator(f, said[f.Reason]))
			said[f.Reason] = true
		}
	}
	if all == 0 {
		return rest
	}
	summary := fmt.Sprintf("%d of %s kept", kept, plan.Plural(int64(all), "operator"))
	if converted > 0 {
		summary += fmt.Sprintf(", %d converted", converted)
	}
	if c.Class == plan.Migrate {
		summary = "keyed data carried over: " + summary
	}
	return append([]string{summary}, rest...)
}

// operator names one operator by what it does, and why it has its fate, unless that is said already.
func operator(f plan.Fate, said bool) string {
	name := "the " + strings.ReplaceAll(f.Kind, "_", " ")
	switch {
	case f.Name == result:
		name = "its rows"
	case f.Detail != "":
		name += " (" + f.Detail + ")"
	}
	if f.Reason != "" && !said {
		name += ": " + f.Reason
	}
	return name
}

func fateWord(f plan.FateKind) string {
	if f == plan.Added {
		return "adds"
	}
	return map[plan.FateKind]string{plan.Migrated: "converts", plan.Rebuilt: "rebuilds", plan.Replayed: "replays", plan.Dropped: "drops"}[f]
}

// cost says what is read and computed, a line for each source, and how long it takes.
func cost(p *plan.Plan, c plan.Change) []string {
	var price plan.Price
	if c.Price != nil {
		price = *c.Price
	}
	held := "rows held"
	if price.HeldRows > 0 {
		held = plan.Plural(price.HeldRows, "row") + " held"
	}
	var out []string
	switch {
	case !c.Computes() && c.Action == plan.Update && c.Class == plan.InPlace && len(c.Changed) > 0 && len(c.Boundaries) == 0 && graph.Carries(c.Addr):
		return []string{"takes effect at the next epoch; what was computed stays"}
	case !c.Computes():
		return nil
	case c.Class == plan.Migrate && price.HeldRows > 0:
		out = []string{"made from " + held}
	case c.Class == plan.Migrate:
		if c.Evolution == nil && c.Shares == nil {
			out = []string{"keyed data carried over"}
		}
	case c.Class == plan.RebuildFromState && c.Action == plan.Create:
		out = []string{"computed from " + held}
	case c.Class == plan.RebuildFromState:
		out = []string{"rebuilt beside the live one from " + held}
	default:
		again := ""
		if c.Action != plan.Create || c.Prior != nil {
			again = " again from the start"
		}
		for _, s := range price.Sources {
			line := "reads " + s.String() + again
			at := slices.IndexFunc(price.Reads, func(r plan.Reading) bool { return r.Source == s })
			if at >= 0 && price.Reads[at].From == plan.FromStop {
				line = "goes on reading " + s.String() + " where the last apply ended: " + extent(price.Reads[at].Extent, "nothing left")
			} else if at >= 0 && price.Reads[at].HeldFrom > 0 {
				line += ": " + extent(price.Reads[at].Extent, "nothing more") + fmt.Sprintf("; from epoch %d on its rows are held", price.Reads[at].HeldFrom)
			} else if held, ok := p.Sources[s]; ok {
				line += ": " + extent(held, "")
			}
			out = append(out, line)
		}
	}
	if took := about(price.Duration()); took != "" {
		if len(out) == 1 {
			out[0] += ", " + took
		} else {
			out = append(out, "takes "+took)
		}
	}
	return out
}

// about is an estimated time for people; empty when it is unknown, or too short to matter.
func about(d time.Duration) string {
	switch {
	case d < time.Second:
		return ""
	case d < time.Minute:
		return fmt.Sprintf("about %ds", int(d.Round(time.Second)/time.Second))
	case d < 10*time.Minute:
		return "about " + strings.TrimSuffix(d.Round(10*time.Second).String(), "m0s") + minute(d.Round(10*time.Second))
	case d < 2*time.Hour:
		return fmt.Sprintf("about %d minutes", int(d.Round(time.Minute)/time.Minute))
	}
	return fmt.Sprintf("about %d hours", int(d.Round(time.Hour)/time.Hour))
}

// minute is the unit that a round number of minutes has lost.
func minute(d time.Duration) string {
	if d%time.Minute == 0 {
		return "m"
	}
	return ""
}

// index is a plan with what is asked of it for each change.
type index struct {
	*plan.Plan
	receive map[addr.Resource][]addr.Resource // view → those that are given its difference and are not computed anew
	mixed   map[addr.Resource][]addr.Resource // edited with history = "keep" → readers that do not change themselves
}

func indexed(p *plan.Plan) index {
	ix := index{p, map[addr.Resource][]addr.Resource{}, map[addr.Resource][]addr.Resource{}}
	for i := range p.Changes {
		c := &p.Changes[i]
		if len(c.Receives) > 0 && !c.Computes() {
			for _, from := range c.Receives {
				ix.receive[from] = append(ix.receive[from], c.Addr)
			}
		}
		for _, b := range c.Boundaries {
			if b.Of != c.Addr && c.Action == plan.NoOp {
				ix.mixed[b.Of] = append(ix.mixed[b.Of], c.Addr)
			}
		}
	}
	return ix
}

// receivers says who is given new minus old rows when a view cuts over, directly or through views, and is not computed anew itself.
func (ix index) receivers(a addr.Resource) string {
	reached := map[addr.Resource]bool{a: true}
	var names []string
	for next := []addr.Resource{a}; len(next) > 0; next = next[1:] {
		for _, to := range ix.receive[next[0]] {
			if !reached[to] {
				reached[to] = true
				names = append(names, to.String())
				next = append(next, to)
			}
		}
	}
	slices.Sort(names)
	return listed(names, "receives the difference", "receive the difference")
}

// mixture says which readers hold rows of both definitions after an edit with history = "keep".
func (ix index) mixture(a addr.Resource) string {
	var names []string
	for _, reader := range ix.mixed[a] {
		names = append(names, reader.String())
	}
	return listed(names, "then holds rows of both definitions", "then hold rows of both definitions")
}

// listed is a sentence about a few names; empty when there are none.
func listed(names []string, one, many string) string {
	const most = 4
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return names[0] + " " + one
	case n > most:
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more ", n-most) + many
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " " + many
	}
}
