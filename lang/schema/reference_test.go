package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
	"github.com/stretchr/testify/require"
)

func TestMarkdown(t *testing.T) {
	page := schema.Markdown(sampleKind())
	for _, line := range []string{
		"# source.sample\n\nReads samples.\n",
		"| `path` | string | required | Where it is. | history |",
		"| `format` | string | `\"json\"` | How it is written. One of `json`, `csv`. | replay_from_source |",
		"| `limit` | number | `1000` | Most files in one epoch. At least 1. At most 5000. | in_place |",
		"| `wait` | duration | `\"1m\"` | How long to wait. At least \"1s\". | in_place |",
		"| `also` | list of references | none | What it reads too. | in_place |",
		"| `query` | SQL | none | A query. | by_meaning |",
		"| `password` | secret | none | A password. | in_place |",
		"| `expect` | blocks with a label | none | Rules for rows. | in_place |",
		"## Block `mark`",
		"| `delay` | duration | `\"1h\"` | How late. | in_place |",
		"Side relations: `.malformed`.",
	} {
		require.Contains(t, page, line)
	}
}

func TestJSONSchema(t *testing.T) {
	data, err := schema.JSONSchema(sampleKind())
	require.NoError(t, err)
	var doc struct {
		Required   []string
		Properties map[string]map[string]any
	}
	require.NoError(t, json.Unmarshal(data, &doc))
	require.Equal(t, []string{"path"}, doc.Required)
	require.Equal(t, []any{"json", "csv"}, doc.Properties["format"]["enum"])
	require.Equal(t, float64(1), doc.Properties["limit"]["minimum"])
	require.Equal(t, "array", doc.Properties["expect"]["type"])
	require.Equal(t, true, doc.Properties["password"]["writeOnly"])
}

func TestCheckKind(t *testing.T) {
	require.NoError(t, schema.CheckKind(sampleKind()))
	one := func(f schema.Field) schema.Kind {
		return schema.Kind{Block: addr.View, Doc: "Some view.", Example: "x", New: func() schema.Config { return fieldList{f} }}
	}
	var s string
	var refs []schema.Ref
	var list []expect
	none := func(*expect) []schema.Field { return nil }
	bad := map[string]schema.Kind{
		`"Bad" is not a valid field name`:                        one(schema.Optional("Bad", &s, "A sentence.")),
		`"count" is not a valid field name`:                      one(schema.Optional("count", &s, "A sentence.")),
		`the doc "words" is not a sentence`:                      one(schema.Optional("a", &s, "words")),
		`the default: "x" is not possible here; use "y".`:        one(schema.Optional("a", &s, "A sentence.", schema.OneOf("y"), schema.Default("x"))),
		`the default has type bool, not string`:                  one(schema.Optional("a", &s, "A sentence.", schema.Default(true))),
		`a secret is a text without a default`:                   one(schema.Optional("a", &refs, "A sentence.", schema.Secret())),
		`Refs on something that is no reference`:                 one(schema.Optional("a", &s, "A sentence.", schema.Refs(addr.View))),
		`a labeled block needs a required text field "name"`:     one(schema.BlockList("a", &list, "A sentence.", none, schema.Labeled())),
		`"wrong" is no cost`:                                     one(schema.Optional("a", &s, "A sentence.", schema.OnChange("wrong"))),
		`a view has a type exactly when its block has two label`: {Block: addr.View, Type: "x", Doc: "Some view.", Example: "x", New: func() schema.Config { return fieldList{} }},
		`New is missing`:                                         {Block: addr.View, Doc: "Some view.", Example: "x"},
		`there is no exam`:                                       {Block: addr.View, Doc: "Some view.", New: func() schema.Config { return fieldList{} }},
	}
	for want, k := range bad {
		require.ErrorContains(t, schema.CheckKind(k), want)
	}
}

type fieldList []schema.Field

func (l fieldList) Fields() []schema.Field { return l }
