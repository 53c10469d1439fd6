package lang_test

import (
	"testing"
	"time"

	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/builtin"
	"github.com/streamform/streamform/lang/schema"
	"github.com/stretchr/testify/require"
)

// kinds are the built-in ones, and two with every feature a connector's kind can have.
func kinds() []schema.Kind {
	return append(builtin.Kinds(), schema.Kind{
		Block: addr.Source, Type: "files", Doc: "Reads files.", Sides: []string{"malformed", "files"},
		New: func() schema.Config { return &source{Limit: 1000} },
		Example: `source "files" "purchases" {
  path   = "in"
  format = "json"
  expect "positive" {
    condition = "amount > 0"
  }
}`,
	}, schema.Kind{
		Block: addr.Sink, Type: "table", Doc: "Writes a table.", New: func() schema.Config { return &sink{} },
		Example: "sink \"table\" \"t\" {\n  from = view.v\n  password = secret(\"env:PASSWORD\")\n}",
	})
}

type source struct {
	Path, Format string
	Options      map[string]string
	Limit        int64
	Settle       schema.Duration
	Trigger      schema.Ref
	Mark         *watermark
	Expects      []expectation
}

type watermark struct {
	Column string
	Delay  schema.Duration
}

type expectation struct {
	Name      string
	Condition schema.SQL
}

func (s *source) Fields() []schema.Field {
	return []schema.Field{
		schema.Required("path", &s.Path, "Where the files are."),
		schema.Required("format", &s.Format, "How they are written.", schema.OneOf("json", "csv", "parquet")),
		schema.Optional("options", &s.Options, "How to read them."),
		schema.Optional("limit", &s.Limit, "Most files in an epoch.", schema.Min(1)),
		schema.Optional("settle", &s.Settle, "How old a file must be.", schema.Max(schema.Duration(time.Hour))),
		schema.Optional("trigger", &s.Trigger, "When epochs run.", schema.Refs(addr.Trigger)),
		schema.Block("watermark", &s.Mark, "How late rows may be.", func(w *watermark) []schema.Field {
			return []schema.Field{
				schema.Required("column", &w.Column, "The time column."),
				schema.Optional("delay", &w.Delay, "How late.", schema.Default(schema.Duration(time.Hour))),
			}
		}),
		schema.BlockList("expect", &s.Expects, "What rows must satisfy.", func(e *expectation) []schema.Field {
			return []schema.Field{
				schema.Required("name", &e.Name, "The rule's name."),
				schema.Required("condition", &e.Condition, "What must hold."),
			}
		}, schema.Labeled()),
	}
}

type sink struct {
	From     schema.Ref
	Also     []schema.Ref
	Password string
}

func (s *sink) Fields() []schema.Field {
	return []schema.Field{
		schema.Required("from", &s.From, "What is written."),
		schema.Optional("also", &s.Also, "What is written, too."),
		schema.Optional("password", &s.Password, "The password.", schema.Secret()),
	}
}

func TestExamplesDecode(t *testing.T) {
	for _, k := range kinds() {
		require.NoError(t, schema.CheckKind(k))
		require.Empty(t, lang.CheckExample(k, kinds()), k.Name())
	}
}

func TestExamplesAreJudged(t *testing.T) {
	for want, example := range map[string]string{
		"No such resource":          `view "v" { sql = "SELECT 1" }`,
		"Missing required argument": `source "files" "x" { path = "p" }`,
		"Unsupported argument":      "source \"files\" \"x\" {\n path = \"p\"\n format = \"json\"\n nonsense = 1\n}",
	} {
		k := kinds()[len(kinds())-2]
		k.Example = example
		ds := lang.CheckExample(k, kinds())
		require.Len(t, ds, 1)
		require.Equal(t, want, ds[0].Summary)
	}
}
