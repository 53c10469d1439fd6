// Package graphtest is a small world in which the rooms of graph are tested: kinds, a compiler, a store and a runtime without data.
package graphtest

import (
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/builtin"
	"github.com/streamform/streamform/lang/schema"
)

// Kinds are the built-in kinds with a source and a sink whose fields have every cost.
func Kinds() []schema.Kind {
	return append(builtin.Kinds(), sourceKind(), sinkKind())
}

type source struct {
	Path        string
	Format      string
	Columns     map[string]string
	Exclude     []string
	Limit       int64
	Sample      int64
	Cluster     string
	Broken      string
	Trigger     schema.Ref
	Description string
	Watermark   *watermark
	Expects     []expect
	History     string
}

type watermark struct {
	Column string
	Delay  schema.Duration
}

type expect struct {
	Name      string
	Condition string
	Action    string
}

func sourceKind() schema.Kind {
	return schema.Kind{Block: addr.Source, Type: "test", Doc: "Reads nothing.", Sides: []string{"malformed", "files"},
		New: func() schema.Config { return &source{Format: "json", Sample: 10} }}
}

func (s *source) Fields() []schema.Field {
	return []schema.Field{
		schema.Required("path", &s.Path, "Where it is.", schema.OnChange(schema.CostHistory)),
		schema.Optional("format", &s.Format, "How it is written.", schema.OnChange(schema.CostReplay)),
		schema.Optional("columns", &s.Columns, "What it holds.", schema.OnChange(schema.CostColumns)),
		schema.Optional("exclude", &s.Exclude, "What is left out.", schema.OnChange(schema.CostHistory)),
		schema.Optional("limit", &s.Limit, "How much at once.", schema.OnChange(schema.CostInPlace)),
		schema.Optional("sample", &s.Sample, "How much is looked at first.", schema.OnChange(schema.CostCreation)),
		schema.Optional("cluster", &s.Cluster, "Another thing altogether when changed.", schema.OnChange(schema.CostRecreate)),
		schema.Optional("broken", &s.Broken, "Makes the compiler complain with this text.", schema.OnChange(schema.CostNone)),
		schema.Optional("trigger", &s.Trigger, "When it runs.", schema.Refs(addr.Trigger), schema.OnChange(schema.CostInPlace)),
		schema.Optional("description", &s.Description, "What it is for.", schema.OnChange(schema.CostNone)),
		schema.History(&s.History),
		schema.Block("watermark", &s.Watermark, "How late rows may be.", func(w *watermark) []schema.Field {
			return []schema.Field{
				schema.Required("column", &w.Column, "The column.", schema.OnChange(schema.CostHistory)),
				schema.Required("delay", &w.Delay, "How late.", schema.OnChange(schema.CostInPlace)),
			}
		}),
		schema.BlockList("expect", &s.Expects, "What must hold.", func(e *expect) []schema.Field {
			return []schema.Field{
				schema.Required("name", &e.Name, "Its name."),
				schema.Required("condition", &e.Condition, "The condition.", schema.OnChange(schema.CostInPlace)),
				schema.Optional("action", &e.Action, "What to do.", schema.OnChange(schema.CostInPlace)),
			}
		}, schema.Labeled()),
	}
}

type sink struct {
	From        schema.Ref
	Path        string
	Mode        string
	Batch       int64
	Region      string
	Description string
	History     string
	OnForeign   string
	Since       string
}

func sinkKind() schema.Kind {
	return schema.Kind{Block: addr.Sink, Type: "test", Doc: "Writes nothing.", New: func() schema.Config { return &sink{Mode: "any"} }}
}

func (s *sink) Fields() []schema.Field {
	return []schema.Field{
		schema.Required("from", &s.From, "What it delivers.", schema.Refs(addr.Source, addr.Stream, addr.View), schema.OnChange(schema.CostRebuild)),
		schema.Required("path", &s.Path, "Where to.", schema.OnChange(schema.CostRebuild)),
		schema.Optional("mode", &s.Mode, "How.", schema.OneOf("any", "append"), schema.OnChange(schema.CostRebuild)),
		schema.Optional("batch", &s.Batch, "How much at once.", schema.OnChange(schema.CostInPlace)),
		schema.Optional("region", &s.Region, "Cannot be altered.", schema.OnChange(schema.CostRecreate)),
		schema.History(&s.History),
		schema.Since(&s.Since),
		schema.Optional("on_foreign", &s.OnForeign, "What others may do.", schema.OnChange(schema.CostNone)),
		schema.Optional("description", &s.Description, "What it is for.", schema.OnChange(schema.CostNone)),
	}
}
