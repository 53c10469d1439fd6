// Package render shows a plan as text, in the layout Terraform's users know.
package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
)

// Options say how a plan is shown.
type Options struct {
	Color bool
	// Kind returns the kind with this name, so that nested blocks are shown as blocks; nil, or false, shows them as attributes.
	Kind func(name string) (schema.Kind, bool)
}

// Text writes the whole plan: legend, actions, the "Plan:" line, prices, outputs; or
// the sentence that there is nothing to do.
func Text(w io.Writer, p *plan.Plan, o Options) error {
	t := &text{options: o, plan: indexed(p)}
	if err := t.drift(p); err != nil {
		return err
	}
	if len(p.Drift) > 0 && p.Mode != plan.RefreshOnly {
		t.line("")
		t.rule()
	}
	switch {
	case p.Mode == plan.RefreshOnly && !p.Errored:
		if p.Empty() {
			t.line("%s", t.paint(bold+green, "No changes.")+t.paint(bold, " Your infrastructure still matches the configuration."))
			t.line("")
			t.line("What was applied and what the runtime has are the same, so there is nothing to record.")
		}
	case p.Errored && p.Counts() == plan.Counts{}:
		t.line("Nothing can be planned before the errors below are mended.")
	case p.Empty() && p.Mode == plan.Destroy:
		t.line("%s", t.paint(bold+green, "No changes.")+t.paint(bold, " No objects need to be destroyed."))
	case p.Empty():
		t.line("%s", t.paint(bold+green, "No changes.")+t.paint(bold, " Your infrastructure matches the configuration."))
		t.line("")
		if len(p.Drift) > 0 {
			t.line("Nothing has to be done to what was applied; what is noted above stays as it is.")
			break
		}
		t.line("What is configured, what was applied and what the runtime has are the same, so there is")
		t.line("nothing to do.")
	default:
		if err := t.actions(p); err != nil {
			return err
		}
	}
	_, err := w.Write(t.out.Bytes())
	return err
}

// text is the text as far as it is written.
type text struct {
	plan    index
	options Options
	out     bytes.Buffer
}

func (t *text) line(format string, args ...any) {
	fmt.Fprintf(&t.out, format, args...)
	t.out.WriteByte('\n')
}

// Colours, as the numbers of their escape sequences.
const (
	bold   = "1;"
	red    = "31;"
	green  = "32;"
	yellow = "33;"
	dim    = "90;"
)

// paint puts text in the colours, which are concatenated.
func (t *text) paint(colors, s string) string {
	if !t.options.Color || s == "" {
		return s
	}
	return "\x1b[" + colors[:len(colors)-1] + "m" + s + "\x1b[0m"
}

func (t *text) actions(p *plan.Plan) error {
	counts := p.Counts()
	if counts != (plan.Counts{}) {
		t.legend(p)
		if p.Errored {
			t.line("streamform planned the following actions, but then encountered a problem:")
		} else {
			t.line("streamform will perform the following actions:")
		}
		t.line("")
		for _, c := range p.Changes {
			if c.Action != plan.NoOp {
				if err := t.change(c); err != nil {
					return err
				}
			}
		}
		t.line("%s %d to add, %d to change, %d to destroy.", t.paint(bold, "Plan:"), counts.Add, counts.Change, counts.Destroy)
		t.total(p)
	}
	return t.outputs(p)
}

func (t *text) legend(p *plan.Plan) {
	t.line("Actions are marked with these symbols:")
	for _, s := range []struct {
		action plan.Action
		text   string
	}{
		{plan.Create, "create"}, {plan.Update, "update in-place"}, {plan.Delete, "destroy"}, {plan.Replace, "create replacement and then destroy"},
	} {
		for _, c := range p.Changes {
			if c.Action == s.action {
				t.line("%s %s", t.actionSymbol(s.action), s.text)
				break
			}
		}
	}
	t.line("")
}

// actionSymbol is three wide, with the symbol at its end.
func (t *text) actionSymbol(a plan.Action) string {
	switch a {
	case plan.Create:
		return "  " + t.symbol("+")
	case plan.Update:
		return "  " + t.symbol("~")
	case plan.Delete:
		return "  " + t.symbol("-")
	}
	return t.symbol("+") + "/" + t.symbol("-")
}

func (t *text) symbol(s string) string {
	switch s {
	case "+":
		return t.paint(green, s)
	case "~":
		return t.paint(yellow, s)
	case "-":
		return t.paint(red, s)
	}
	return s
}

// change writes the comment lines and the block of one resource.
func (t *text) change(c plan.Change) error {
	before, err := object(c.Before)
	if err != nil {
		return fmt.Errorf("showing %s: %w", c.Addr, err)
	}
	after, err := object(c.After)
	if err != nil {
		return fmt.Errorf("showing %s: %w", c.Addr, err)
	}
	t.comments(c)
	t.line("%s %s {", t.actionSymbol(c.Action), c.Addr.Header())
	b := t.body(c.Addr)
	switch c.Action {
	case plan.Create:
		before = nil
	case plan.Delete:
		after = nil
	}
	if c.Inferred {
		showInferred(c, before, after)
	}
	b.write(before, after)
	t.line("    }")
	t.line("")
	return nil
}

// body is the inside of a resource's block.
func (t *text) body(a addr.Resource) body {
	b := body{text: t, indent: 6}
	if t.options.Kind != nil {
		if k, ok := t.options.Kind(a.Kind()); ok {
			b.fields = k.Fields()
		}
	}
	return b
}

// showInferred puts the columns that were found in the data where written ones would stand.
func showInferred(c plan.Change, before, after map[string]any) {
	if after != nil && after["columns"] == nil && c.Desired != nil && c.Desired.Relation != nil {
		columns := map[string]any{}
		for _, col := range c.Desired.Relation.Columns {
			columns[col.Name] = col.Type
		}
		after["columns"] = columns
	}
	if before != nil && before["columns"] == nil && c.Prior != nil && c.Prior.Relation != nil {
		columns := map[string]any{}
		for _, col := range c.Prior.Relation.Columns {
			columns[col.Name] = col.Type
		}
		before["columns"] = columns
	}
}

func object(raw json.RawMessage) (map[string]any, error) {
	if raw == nil {
		return nil, nil
	}
	v, err := parse(raw)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("its value is not an object")
	}
	return m, nil
}

// parse reads JSON and keeps numbers as they are written.
func parse(raw []byte) (any, error) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	err := dec.Decode(&v)
	return v, err
}
