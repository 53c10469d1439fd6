package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
)

// data says what a change does to the data: what is kept, what is read and computed, and who is given the difference.
func data(p *plan.Plan, c plan.Change) []string {
	var out []string
	if c.Inferred && c.Sampled != nil {
		out = append(out, "columns inferred from "+extent(*c.Sampled, "a sample"))
	}
	out = append(out, operators(c)...)
	out = append(out, cost(p, c)...)
	if readers := receivers(p, c); readers != "" {
		out = append(out, readers)
	}
	for _, b := range c.Boundaries {
		switch {
		case b.Of == c.Addr:
			out = append(out, `history = "keep": rows from before this edit stay, and the new definition holds from the next epoch`)
		default:
			out = append(out, fmt.Sprintf("from the next epoch it is computed from rows that follow the new definition of %s; earlier ones stay", b.Of))
		}
	}
	return out
}

// result is the operator that holds a relation's rows, or only makes them from what is below it.
const result = "result"

// operators says what becomes of the operators of an edited query: a summary, and a line for each that is not kept.
func operators(c plan.Change) []string {
	if c.Evolution == nil {
		return nil
	}
	kept, all := 0, 0
	var rest []string
	for _, f := range c.Evolution.Operators {
		if f.Name != result && f.Fate != plan.Dropped {
			all++
		}
		switch {
		case f.Fate == plan.Kept && f.Name != result:
			kept++
		case f.Fate == plan.Kept, f.Fate == plan.Added && f.Name == result:
		default:
			rest = append(rest, "- "+fateWord(f.Fate)+" "+operator(f))
		}
	}
	if all == 0 {
		return rest
	}
	summary := fmt.Sprintf("%d of %s kept", kept, plural(int64(all), "operator"))
	if c.Class == plan.Migrate {
		summary = "keyed data carried over: " + summary
	}
	return append([]string{summary}, rest...)
}

// operator names one operator by what it does, and why it has its fate.
func operator(f plan.Fate) string {
	name := "the " + strings.ReplaceAll(f.Kind, "_", " ")
	switch {
	case f.Name == result:
		name = "its rows"
	case f.Detail != "":
		name += " (" + f.Detail + ")"
	}
	if f.Reason != "" {
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
		held = plural(price.HeldRows, "row") + " held"
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
		if c.Evolution == nil {
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
			if held, ok := p.Sources[s]; ok {
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

// receivers says who is given new minus old rows when a view cuts over, and is not computed anew itself.
func receivers(p *plan.Plan, c plan.Change) string {
	if c.Action == plan.NoOp {
		return ""
	}
	reached := map[addr.Resource]bool{c.Addr: true}
	var names []string
	for grown := true; grown; {
		grown = false
		for _, other := range p.Changes {
			for _, from := range other.Receives {
				if reached[from] && !reached[other.Addr] && !other.Computes() {
					reached[other.Addr], grown = true, true
					names = append(names, other.Addr.String())
				}
			}
		}
	}
	const most = 4
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return names[0] + " receives the difference"
	case n > most:
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more receive the difference", n-most)
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " receive the difference"
	}
}
