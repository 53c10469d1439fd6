package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/graph/graphtest"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/state"
)

// TestData runs the stories in testdata: what is configured, what is planned, what apply then does.
//
//	config            the configuration's text; name=FILE for one file of several
//	facts             lines "ADDRESS files=N bytes=N rows=N held=N delivered=N lost=N rate=N" of what there is; rate in bytes a second
//	runtime           lines "lose ADDRESS", "generation ADDRESS N", "add ADDRESS N", "value ADDRESS JSON", "id ID"
//	observed          lines "ADDRESS KIND MARK DETAIL…" of what others did to real objects
//	plan              options destroy, refresh-only, no-refresh, target=(…), exclude=(…), replace=(…), allow=(…), vars=(…); shows the changes
//	apply             plans with the same options, applies, and checks that nothing is left to do; fail=N fails call N
//	state             shows what is recorded
func TestData(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &story{world: graphtest.New(t)}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.world.T = t
			return s.run(t, d)
		})
	})
}

type story struct{ world *graphtest.World }

func (s *story) run(t *testing.T, d *datadriven.TestData) string {
	switch d.Cmd {
	case "config":
		name := "main"
		d.MaybeScanArgs(t, "name", &name)
		s.world.Files[name+".sf.hcl"] = d.Input
		return ""
	case "facts":
		s.facts(t, d.Input)
		return ""
	case "runtime":
		s.runtime(t, d.Input)
		return ""
	case "observed":
		s.observed(t, d.Input)
		return ""
	case "rigid":
		s.world.Rigid = strings.TrimSpace(d.Input)
		return ""
	case "plan":
		p, ds := s.world.Plan(options(d))
		return changes(p) + findings(ds)
	case "apply":
		return s.apply(t, d)
	case "state":
		return s.state(t)
	}
	t.Fatalf("%s: no such command: %s", d.Pos, d.Cmd)
	return ""
}

func options(d *datadriven.TestData) graphtest.Options {
	o := graphtest.Options{NoRefresh: d.HasArg("no-refresh")}
	if d.HasArg("destroy") {
		o.Mode = plan.Destroy
	}
	if d.HasArg("refresh-only") {
		o.Mode = plan.RefreshOnly
	}
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "target":
			o.Targets = a.Vals
		case "replace":
			o.Replace = a.Vals
		case "exclude":
			o.Exclude = a.Vals
		case "allow":
			o.Allow = a.Vals
		case "vars":
			o.Vars = a.Vals
		}
	}
	return o
}

func (s *story) facts(t *testing.T, text string) {
	w := s.world
	w.Sources = map[addr.Resource]plan.Extent{}
	w.Known = plan.Facts{Held: map[addr.Resource]plan.Extent{}, Lost: map[addr.Resource]plan.Loss{}, Rates: map[addr.Resource]plan.Rate{}}
	for _, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		a := graphtest.Addresses(t, fields[:1])[0]
		var e plan.Extent
		for _, f := range fields[1:] {
			name, value, _ := strings.Cut(f, "=")
			n, err := strconv.ParseInt(value, 10, 64)
			require.NoError(t, err)
			switch name {
			case "held":
				w.Known.Held[a] = plan.Extent{Rows: n}
			case "delivered":
				if w.Known.Delivered == nil {
					w.Known.Delivered = map[addr.Resource]int64{}
				}
				w.Known.Delivered[a] = n
			case "lost":
				w.Known.Lost[a] = plan.Loss{Files: n, Examples: []string{"in/a.json"}}
			case "rate":
				w.Known.Rates[a] = plan.Rate{BytesPerSecond: float64(n), RowsPerSecond: float64(n)}
			default:
				*map[string]*int64{"files": &e.Files, "bytes": &e.Bytes, "rows": &e.Rows}[name] = n
			}
		}
		w.Sources[a] = e
	}
}

func (s *story) runtime(t *testing.T, text string) {
	r := s.world.Runtime
	for _, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if fields[0] == "id" {
			r.ID = fields[1]
			continue
		}
		if fields[0] == "value" {
			r.Values[graphtest.Addresses(t, fields[1:2])[0]] = strings.Join(fields[2:], " ")
			continue
		}
		a := graphtest.Addresses(t, fields[1:2])[0]
		if fields[0] == "lose" {
			delete(r.Live, a)
			continue
		}
		n, err := strconv.ParseInt(fields[2], 10, 64)
		require.NoError(t, err)
		r.Live[a] = n
	}
}

func (s *story) observed(t *testing.T, text string) {
	s.world.Observed = nil
	for _, line := range strings.Split(text, "\n") {
		if fields := strings.Fields(line); len(fields) > 3 {
			s.world.Observed = append(s.world.Observed, plan.Observation{Addr: graphtest.Addresses(t, fields[:1])[0],
				Kind: fields[1], Mark: fields[2], Detail: strings.Join(fields[3:], " ")})
		}
	}
}

// changes shows a plan as one line for each change.
func changes(p *plan.Plan) string {
	if p == nil {
		return ""
	}
	var b strings.Builder
	for _, d := range p.Drift {
		fmt.Fprintf(&b, "drift %s %s: %s\n", d.Addr, d.Kind, d.Detail)
	}
	for _, c := range p.Changes {
		quiet := len(c.Receives) == 0 && len(c.Boundaries) == 0
		if c.Action == plan.NoOp && c.Class == plan.Noop && c.Desired != nil && c.Prior != nil && !c.Inferred && quiet {
			continue
		}
		fmt.Fprintf(&b, "%s %s %s", c.Action, c.Addr, c.Class)
		if c.Desired != nil && c.Action != plan.NoOp {
			fmt.Fprintf(&b, " g%d", c.Desired.Generation)
		}
		if len(c.Changed) > 0 {
			fmt.Fprintf(&b, " %s", strings.Join(c.Changed, ","))
		}
		for _, text := range []string{c.Because, c.Reason} {
			if text != "" {
				fmt.Fprintf(&b, " (%s)", text)
			}
		}
		if c.Price != nil {
			fmt.Fprintf(&b, " reads %v: %d files, %d bytes", c.Price.Sources, c.Price.Files, c.Price.Bytes)
		}
		noted(&b, c)
		for _, d := range c.Denials {
			fmt.Fprintf(&b, " denied by %s.%s waived=%t", d.Policy, d.Rule, d.Waived)
		}
		b.WriteString("\n")
	}
	list := func(name string, as []addr.Resource) {
		if len(as) > 0 {
			fmt.Fprintf(&b, "%s: %v\n", name, as)
		}
	}
	list("delete first", p.DeleteFirst)
	list("order", p.Order)
	list("delete last", p.DeleteLast)
	for _, o := range p.Outputs {
		if o.Action != plan.NoOp {
			fmt.Fprintf(&b, "output %s %s %s -> %s\n", o.Action, o.Name, orNone(o.Before), orNone(o.After))
		}
	}
	if b.Len() == 0 {
		return "nothing to do\n"
	}
	return b.String()
}

// noted shows what a change does to what is held.
func noted(b *strings.Builder, c plan.Change) {
	if c.Price != nil && c.Price.HeldRows > 0 {
		fmt.Fprintf(b, " of %d held rows", c.Price.HeldRows)
	}
	if c.Price != nil && c.Price.Seconds > 0 {
		fmt.Fprintf(b, " in about %s", c.Price.Duration())
	}
	if c.PreviousAddr != nil {
		fmt.Fprintf(b, " was %s", c.PreviousAddr)
	}
	if c.Evolution != nil {
		for _, f := range c.Evolution.Operators {
			fmt.Fprintf(b, " %s:%s", f.Name, f.Fate)
		}
	}
	if s := c.Shares; s != nil {
		fmt.Fprintf(b, " shares %d of %d with %v, reads %v", s.Operators, s.Of, s.With, s.Reads)
	}
	if len(c.Receives) > 0 {
		fmt.Fprintf(b, " receives %v", c.Receives)
	}
	for _, h := range c.Boundaries {
		fmt.Fprintf(b, " mixed since %d by %s", h.Serial, h.Of)
	}
}

func orNone(v []byte) string {
	if v == nil {
		return "none"
	}
	return string(v)
}

func findings(ds diag.Diagnostics) string {
	var b strings.Builder
	for _, d := range ds {
		at := ""
		if d.Subject != nil {
			name := d.Subject.Filename[strings.LastIndex(d.Subject.Filename, "/")+1:]
			at = fmt.Sprintf(" at %s:%d", name, d.Subject.Start.Line)
		}
		fmt.Fprintf(&b, "%s%s: %s\n  %s\n", d.Severity, at, d.Summary, strings.ReplaceAll(d.Detail, "\n", "\n  "))
	}
	return b.String()
}

func (s *story) apply(t *testing.T, d *datadriven.TestData) string {
	s.world.Runtime.Calls = nil
	o := options(d)
	p, ds := s.world.Plan(o)
	if p == nil || ds.Failed() {
		return changes(p) + findings(ds)
	}
	fail := 0
	d.MaybeScanArgs(t, "fail", &fail)
	s.world.Runtime.Fail(fail)
	r, err := s.world.Apply(p)
	out := strings.Join(s.world.Runtime.Calls, "\n") + fmt.Sprintf("\nadded %d, changed %d, destroyed %d\n", r.Counts.Add, r.Counts.Change, r.Counts.Destroy)
	s.world.Runtime.Fail(0)
	if err != nil {
		return out + "error: " + err.Error() + "\n"
	}
	if o.Mode != plan.Destroy && o.Mode != plan.RefreshOnly && len(o.Targets)+len(o.Exclude) == 0 {
		again, ds := s.world.Plan(graphtest.Options{Vars: o.Vars})
		require.False(t, ds.Failed(), "%v", ds)
		require.True(t, again.Empty(), "a plan after apply must be empty:\n%s", changes(again))
	}
	return out
}

func (s *story) state(t *testing.T) string {
	doc, err := s.world.Store.Load(t.Context())
	require.NoError(t, err)
	if doc == nil {
		return "none\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "serial %d\n", doc.Serial)
	for _, r := range doc.Resources {
		fmt.Fprintf(&b, "%s g%d", r.Addr, r.Generation)
		if r.Status == state.Building {
			b.WriteString(" building")
		}
		if r.Pipeline != "" {
			b.WriteString(" in " + r.Pipeline)
		}
		if len(r.Dependencies) > 0 {
			fmt.Fprintf(&b, " needs %v", r.Dependencies)
		}
		if r.ID != r.Addr.String() {
			fmt.Fprintf(&b, " ID %s", r.ID)
		}
		for _, h := range r.History {
			fmt.Fprintf(&b, " mixed since %d by %s", h.Serial, h.Of)
		}
		b.WriteString("\n")
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Outputs)) {
		o := doc.Outputs[name]
		fmt.Fprintf(&b, "output %s %s sensitive=%t\n", name, orNone(o.Value), o.Sensitive)
	}
	return b.String()
}
