package view

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/streamform/streamform/cmd/streamform/preview"
	"github.com/streamform/streamform/graph/apply"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/graph/plan/document"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/runtime/job"
)

// uiVersion is the version of the line format, which is Terraform's machine-readable UI.
const uiVersion = "1.2"

// Lines shows an operation to programs: one JSON object per line, in the format
// of Terraform's machine-readable UI with streamform's fields beside it.
type Lines struct {
	o    Options
	lock sync.Mutex
	last time.Time // of the last progress line
}

// NewLines shows an operation on Options.Out.
func NewLines(o Options) *Lines { return &Lines{o: o} }

// Version prints the line that comes first: which version speaks, in which format.
func (l *Lines) Version() {
	l.line("version", "streamform "+l.o.Version, map[string]any{"streamform": l.o.Version, "ui": uiVersion})
}

// line prints one object: the fields every line has, the type, and fields.
func (l *Lines) line(kind, message string, fields map[string]any) {
	l.leveled("info", kind, message, fields)
}

func (l *Lines) leveled(level, kind, message string, fields map[string]any) {
	all := map[string]any{
		"@level": level, "@message": message, "@module": "streamform.ui",
		"@timestamp": l.o.clock()().UTC().Format("2006-01-02T15:04:05.000000Z07:00"), "type": kind,
	}
	for name, v := range fields {
		all[name] = v
	}
	text, err := json.Marshal(all)
	if err != nil {
		text = fmt.Appendf(nil, `{"@level":"error","@message":%q,"@module":"streamform.ui","type":"log"}`, err)
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	fmt.Fprintf(l.o.Out, "%s\n", text)
}

// lineResource is Terraform's description of a resource in a line.
type lineResource struct {
	Addr     string `json:"addr"`
	Module   string `json:"module"`
	Resource string `json:"resource"`
	Provider string `json:"implied_provider"`
	Type     string `json:"resource_type"`
	Name     string `json:"resource_name"`
	Key      any    `json:"resource_key"`
}

func resourceOf(a addr.Resource) lineResource {
	return lineResource{Addr: a.String(), Resource: a.String(), Provider: "streamform", Type: a.Kind(), Name: a.Name, Key: a.Key.Value()}
}

// lineChange is one planned change: Terraform's fields, then the price of ours.
type lineChange struct {
	Resource lineResource `json:"resource"`
	Action   string       `json:"action"`
	Reason   string       `json:"reason,omitempty"`
	Class    plan.Class   `json:"class,omitempty"`
	Why      string       `json:"class_reason,omitempty"`
	Price    *plan.Price  `json:"price,omitempty"`
	// Operators are those of an edited query, with what becomes of them; Receives are views whose difference it is given.
	Operators []plan.Fate     `json:"operators,omitempty"`
	Receives  []addr.Resource `json:"receives,omitempty"`
	// Denials are what policies have against it.
	Denials []plan.Denial `json:"denials,omitempty"`
}

// lineDrift is one difference between record and reality.
type lineDrift struct {
	Resource lineResource `json:"resource"`
	Action   string       `json:"action"`
	Kind     string       `json:"kind"`
	Detail   string       `json:"detail"`
	Advice   string       `json:"advice,omitempty"`
	Proposal string       `json:"proposal,omitempty"`
}

// uiAction spells an action as lines do: the words of plan JSON but for no-op.
func uiAction(a plan.Action) string {
	if a == plan.NoOp {
		return "noop"
	}
	return string(a)
}

func uiVerb(a plan.Action) string {
	if a == plan.Delete || a == plan.Create || a == plan.Update || a == plan.Replace {
		return string(a)
	}
	return "do nothing"
}

// Plan prints a line per drift and per change, the summary and the outputs.
func (l *Lines) Plan(p *plan.Plan) error {
	for _, d := range p.Drift {
		action, verb := "update", "changed"
		if d.Deleted() {
			action, verb = "delete", "deleted"
		}
		l.line("resource_drift", fmt.Sprintf("%s: Drift detected (%s)", d.Addr, verb), map[string]any{
			"change": lineDrift{Resource: resourceOf(d.Addr), Action: action, Kind: d.Kind, Detail: d.Detail, Advice: d.Advice, Proposal: d.Proposal}})
	}
	for _, c := range p.Changes {
		if c.Action == plan.NoOp || c.Class == plan.Blocked {
			continue
		}
		change := lineChange{Resource: resourceOf(c.Addr), Action: uiAction(c.Action), Class: c.Class, Why: c.Reason, Price: c.Price, Denials: c.Denials, Receives: c.Receives}
		if c.Evolution != nil {
			change.Operators = c.Evolution.Operators
		}
		switch {
		case c.Action == plan.Replace && c.Requested:
			change.Reason = "requested"
		case c.Action == plan.Replace && strings.HasPrefix(c.Reason, "replace_triggered_by "):
			change.Reason = "replace_triggered_by"
		case c.Action == plan.Replace:
			change.Reason = "cannot_update"
		case c.Action == plan.Delete:
			change.Reason = document.DeleteReason(c.Because)
		}
		l.line("planned_change", fmt.Sprintf("%s: Plan to %s", c.Addr, uiVerb(c.Action)), map[string]any{"change": change})
	}
	n := p.Counts()
	l.summary(n, "plan", fmt.Sprintf("Plan: %d to add, %d to change, %d to destroy.", n.Add, n.Change, n.Destroy))
	outputs := map[string]any{}
	for _, o := range p.Outputs {
		fields := map[string]any{"sensitive": o.Sensitive, "action": uiAction(o.Action)}
		if len(o.Type) > 0 {
			fields["type"] = o.Type
		}
		outputs[o.Name] = fields
	}
	if len(outputs) > 0 {
		l.line("outputs", fmt.Sprintf("Outputs: %d", len(outputs)), map[string]any{"outputs": outputs})
	}
	return nil
}

func (l *Lines) summary(n plan.Counts, operation, message string) {
	l.line("change_summary", message, map[string]any{"changes": map[string]any{
		"add": n.Add, "change": n.Change, "import": 0, "remove": n.Destroy, "operation": operation,
	}})
}

// Hooks print apply_start, apply_progress, apply_complete and apply_errored.
func (l *Lines) Hooks() apply.Hooks {
	hook := func(c plan.Change, more map[string]any) map[string]any {
		fields := map[string]any{"resource": resourceOf(c.Addr), "action": uiAction(c.Action)}
		for name, v := range more {
			fields[name] = v
		}
		return map[string]any{"hook": fields}
	}
	return apply.Hooks{
		Started: func(c plan.Change) {
			l.line("apply_start", c.Addr.String()+": "+verbsOf(c.Action).begin, hook(c, nil))
		},
		Completed: func(c plan.Change, elapsed time.Duration) {
			l.line("apply_complete", fmt.Sprintf("%s: %s after %s", c.Addr, verbsOf(c.Action).end, Elapsed(elapsed)), hook(c, map[string]any{"elapsed_seconds": seconds(elapsed)}))
		},
		Errored: func(c plan.Change, elapsed time.Duration, err error) {
			l.leveled("error", "apply_errored", fmt.Sprintf("%s: Failed after %s", c.Addr, Elapsed(elapsed)), hook(c, map[string]any{"elapsed_seconds": seconds(elapsed)}))
		},
		Progress: l.progress,
	}
}

// progress prints a line at most every ten seconds.
func (l *Lines) progress(p apply.Progress) {
	l.lock.Lock()
	now := l.o.clock()()
	due := l.last.IsZero() || now.Sub(l.last) >= lineEvery
	if due {
		l.last = now
	}
	l.lock.Unlock()
	if !due {
		return
	}
	fields := map[string]any{
		"pipeline": p.Pipeline, "rows": p.Rows, "held_rows": p.HeldRows, "bytes": p.Bytes, "total_bytes": p.TotalBytes,
		"files": p.Files, "total_files": p.TotalFiles, "elapsed_seconds": seconds(p.Elapsed), "action": "backfill",
	}
	if p.Relation != (addr.Resource{}) {
		fields["resource"] = resourceOf(p.Relation)
	}
	l.line("apply_progress", "Backfill: "+numbers(p), map[string]any{"hook": fields})
}

// Applied prints what was read and written, the summary and the outputs.
func (l *Lines) Applied(r *apply.Result, destroyed bool) {
	l.line("data_summary", "Data read and written", map[string]any{"data": dataOf(r.Summary)})
	n, operation := r.Counts, "apply"
	message := fmt.Sprintf("Apply complete! Resources: %d added, %d changed, %d destroyed.", n.Add, n.Change, n.Destroy)
	if destroyed {
		operation, message = "destroy", fmt.Sprintf("Destroy complete! Resources: %d destroyed.", n.Destroy)
	}
	l.summary(n, operation, message)
	if r.Document == nil {
		return
	}
	outputs := map[string]any{}
	for name, o := range r.Document.Outputs {
		fields := map[string]any{"sensitive": o.Sensitive, "type": o.Type}
		if !o.Sensitive {
			fields["value"] = o.Value
		}
		outputs[name] = fields
	}
	l.line("outputs", fmt.Sprintf("Outputs: %d", len(outputs)), map[string]any{"outputs": outputs})
}

// dataOf is a backfill's summary as JSON.
func dataOf(s apply.Summary) map[string]any {
	sources, relations, sinks := []any{}, []any{}, []any{}
	for _, x := range s.Sources {
		sources = append(sources, map[string]any{"address": x.Addr, "files": x.Files, "rows": x.Rows, "bytes": x.Bytes, "malformed": x.Malformed})
	}
	for _, x := range s.Relations {
		relations = append(relations, worked(map[string]any{"address": x.Addr, "rows": x.Rows}, x.Work))
	}
	for _, x := range s.Sinks {
		sinks = append(sinks, worked(map[string]any{"address": x.Addr, "rows": x.Rows, "receipt": x.Receipt}, x.Work))
	}
	return map[string]any{"sources": sources, "relations": relations, "sinks": sinks}
}

// worked adds what a new generation was computed from.
func worked(fields map[string]any, w apply.Work) map[string]any {
	if w.Class == "" {
		return fields
	}
	fields["class"], fields["held_rows"], fields["read_rows"] = w.Class, w.HeldRows, w.ReadRows
	if len(w.Operators) > 0 {
		operators := map[string]any{}
		for _, o := range w.Operators {
			operators[o.Name] = o.Fate
		}
		fields["operators"] = operators
	}
	return fields
}

// Epoch prints the progress object of one epoch as it is, without the fields of the other lines.
func (l *Lines) Epoch(p job.Progress) {
	text, err := json.Marshal(p)
	if err != nil {
		return
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	fmt.Fprintf(l.o.Out, "%s\n", text)
}

// Diagnostic prints one finding; detail is its full JSON form.
func (l *Lines) Diagnostic(d diag.Diagnostic, detail any) {
	level, word := "error", "Error"
	if d.Severity == diag.Warning {
		level, word = "warn", "Warning"
	}
	l.leveled(level, "diagnostic", word+": "+d.Summary, map[string]any{"diagnostic": detail})
}

func seconds(d time.Duration) int64 { return int64(math.Round(d.Seconds())) }

// Preview prints how rows would differ.
func (l *Lines) Preview(p *preview.Preview) {
	l.line("preview", fmt.Sprintf("%s: %d rows before, %d after, %d the same", p.Address, p.Before, p.After, p.Same), map[string]any{"preview": p})
}

// Message prints a line that only says something.
func (l *Lines) Message(text string) { l.line("log", text, nil) }
