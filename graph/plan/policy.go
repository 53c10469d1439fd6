package plan

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
)

// Denial is what a plan_policy block has against a change.
type Denial struct {
	Policy string `json:"policy"`  // its name
	Rule   string `json:"rule"`    // the attribute of it: max_replay, protect_sinks, require_approval
	Reason string `json:"reason"`  // a clause that follows the resource's address
	Waived bool   `json:"allowed"` // let through once, by -allow
}

// CheckResult is what came of one check block.
type CheckResult struct {
	Name     string   `json:"name"`
	Problems []string `json:"problems,omitempty"` // messages of the assertions that do not hold
}

// judge puts the changes before the policies. A plan with a denial that -allow does not waive is errored.
func (m *maker) judge() {
	used := map[addr.Resource]bool{}
	for _, a := range m.sortedChanges() {
		c := m.changes[a]
		for _, p := range m.in.Config.Policies {
			if len(p.AppliesTo) > 0 && !slices.Contains(p.AppliesTo, a) {
				continue
			}
			for _, d := range m.denials(c, p) {
				d.Waived = slices.Contains(m.in.Allow, a)
				used[a] = used[a] || d.Waived
				c.Denials = append(c.Denials, d)
				if !d.Waived {
					m.deny(c, p, d)
				}
			}
		}
	}
	for _, a := range m.in.Allow {
		if m.known(a) && !used[a] {
			m.diags = append(m.diags, diag.NewWarning(nil, "Nothing to allow", fmt.Sprintf("No policy denies what this plan does to %s, so -allow=%s has no effect.", a, a)))
		}
	}
}

func (m *maker) deny(c *Change, p lang.Policy, d Denial) {
	at := p.Range
	if r, ok := m.config[c.Addr]; ok {
		at = r.Range
	}
	m.fail(c.Addr, &at, "Denied by a policy", fmt.Sprintf(
		"%s %s (plan_policy %q, at %s). If that is meant, let it through once with -allow=%s; else leave it out of the plan with -exclude=%s, or change the policy.",
		c.Addr, d.Reason, p.Name, p.Range, c.Addr, c.Addr))
	m.diags[len(m.diags)-1].Alone = true
}

// denials are a policy's objections to one change.
func (m *maker) denials(c *Change, p lang.Policy) []Denial {
	if c.Action == NoOp {
		return nil
	}
	var out []Denial
	deny := func(rule, format string, args ...any) {
		out = append(out, Denial{Policy: p.Name, Rule: rule, Reason: fmt.Sprintf(format, args...)})
	}
	if p.MaxReplay >= 0 {
		switch size, known := m.replayed(c); {
		case !known:
			deny("max_replay", "would read its sources again, and how much that is was not asked for (-refresh=false); max_replay is %s", FormatBytes(p.MaxReplay))
		case size > p.MaxReplay:
			deny("max_replay", "would read %s again, and max_replay is %s", FormatBytes(size), FormatBytes(p.MaxReplay))
		}
	}
	if p.ProtectSinks && c.Addr.Block == addr.Sink && (c.Action == Delete || c.Action == Replace) {
		verb := map[Action]string{Delete: "destroyed", Replace: "replaced"}[c.Action]
		deny("protect_sinks", "would be %s, and protect_sinks is set", verb)
	}
	if c.Prior != nil && slices.Contains(p.RequireApproval, string(c.Class)) {
		deny("require_approval", "has a change of class %s, which needs an approval", c.Class)
	}
	return out
}

// replayed is how much a change reads again of sources that were read before, in bytes.
func (m *maker) replayed(c *Change) (size int64, known bool) {
	if c.Class != ReplayFromSource || c.Price == nil {
		return 0, true
	}
	again := false
	for _, s := range c.Price.Sources {
		if m.prior[s] == nil {
			continue
		}
		again = true
		if m.in.Facts != nil {
			size += m.in.Facts.Sources[s].Bytes
		}
	}
	if c.Price.Bytes > 0 && c.Price.Bytes < size { // from a position, and not from the start
		size = c.Price.Bytes
	}
	return size, !again || m.in.Facts != nil
}

// known reports whether an address is in the configuration or in the state.
func (m *maker) known(a addr.Resource) bool {
	_, configured := m.config[a]
	return configured || m.prior[a] != nil
}

// checks takes over what the check blocks found.
func (m *maker) checks() []CheckResult {
	var out []CheckResult
	for _, c := range m.in.Config.Checks {
		r := CheckResult{Name: c.Name}
		for _, a := range c.Asserts {
			if !a.Holds {
				r.Problems = append(r.Problems, a.Message)
				m.diags = append(m.diags, a.Finding)
			}
		}
		out = append(out, r)
	}
	return out
}

// FormatBytes writes an amount of data in units of 1000, as disks are sold: 3.4 MB.
func FormatBytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n), ""
	for _, u := range []string{"kB", "MB", "GB", "TB", "PB", "EB"} {
		value, unit = value/1000, u
		if value < 999.95 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", value, unit)
}

// Plural is a number of things, for people: 1 row, 1,200 rows.
func Plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return Grouped(n) + " " + word + "s"
}

// Grouped writes a number that is not negative with commas: 1,200,000.
func Grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// exclude leaves resources out of the plan, and what depends on them.
func (m *maker) exclude() {
	m.excluded = map[addr.Resource]bool{}
	dependents := map[addr.Resource][]addr.Resource{}
	for a, p := range m.prior {
		for _, d := range p.Dependencies {
			dependents[d] = append(dependents[d], a)
		}
	}
	var leave func(a addr.Resource)
	leave = func(a addr.Resource) {
		if m.excluded[a] || !m.known(a) {
			return
		}
		m.excluded[a] = true
		next := dependents[a]
		if m.in.Graph != nil {
			next = append(slices.Clone(next), m.in.Graph.Dependents(a)...)
		}
		for _, d := range next {
			leave(d)
		}
	}
	for _, a := range m.in.Exclude {
		leave(a)
	}
	m.selected = map[addr.Resource]bool{}
	for a := range m.config {
		m.selected[a] = !m.excluded[a]
	}
	for a := range m.prior {
		m.selected[a] = !m.excluded[a]
	}
	if n := len(m.excluded); n > 0 {
		detail := "The plan leaves out what -exclude names, and what depends on it"
		if more := n - len(m.in.Exclude); more > 0 {
			detail += fmt.Sprintf(" (%d more)", more)
		}
		m.diags = append(m.diags, diag.NewWarning(nil, "Resources are excluded", detail+". Their changes wait for a plan without -exclude."))
	}
}

// strand refuses a plan that computes rows anew and leaves a reader of them out: what the reader holds would not fit.
func (m *maker) strand() {
	for _, a := range m.order {
		if m.excluded == nil || m.excluded[a] || !m.fresh(a) {
			continue
		}
		for _, reader := range m.in.Graph.Readers(a) {
			if m.excluded[reader] && m.prior[reader] != nil && graph.Carries(reader) {
				m.fail(a, nil, "An excluded resource would not fit any more", fmt.Sprintf(
					"%s is computed anew in this plan, and %s, which reads it, is excluded. Exclude %s as well, or let %s take part.", a, reader, a, reader))
			}
		}
	}
}
