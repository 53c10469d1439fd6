package schema_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"
)

// sample has a field of every Go type a field can fill.
type sample struct {
	Path     string
	Format   string
	Limit    int64
	Ratio    float64
	Wait     schema.Duration
	Bytes    schema.Size
	From     schema.Ref
	Also     []schema.Ref
	Query    schema.SQL
	Tags     []string
	Options  map[string]string
	Infer    bool
	Hive     *bool
	Rows     *int64
	Password string
	Mark     *mark
	Expects  []expect
}

type mark struct {
	Column string
	Delay  schema.Duration
}

type expect struct{ Name, Condition string }

func sampleKind() schema.Kind {
	return schema.Kind{
		Block: addr.Source, Type: "sample", Doc: "Reads samples.", Example: "source \"sample\" \"x\" {}", Sides: []string{"malformed"},
		New: func() schema.Config { return &sample{Limit: 1000, Infer: true, Wait: schema.Duration(time.Minute)} },
	}
}

func (c *sample) Fields() []schema.Field {
	return []schema.Field{
		schema.Required("path", &c.Path, "Where it is.", schema.OnChange(schema.CostHistory)),
		schema.Optional("format", &c.Format, "How it is written.", schema.OneOf("json", "csv"), schema.Default("json"), schema.OnChange(schema.CostReplay)),
		schema.Optional("limit", &c.Limit, "Most files in one epoch.", schema.Min(1), schema.Max(5000)),
		schema.Optional("ratio", &c.Ratio, "A share of rows.", schema.Min(0.0), schema.Max(1.0)),
		schema.Optional("wait", &c.Wait, "How long to wait.", schema.Min(schema.Duration(time.Second))),
		schema.Optional("bytes", &c.Bytes, "Most bytes in one epoch.", schema.Max(schema.Size(1<<30))),
		schema.Optional("from", &c.From, "What it reads.", schema.Refs(addr.View)),
		schema.Optional("also", &c.Also, "What it reads too."),
		schema.Optional("query", &c.Query, "A query."),
		schema.Optional("tags", &c.Tags, "Words.", schema.OneOf("red", "green"), schema.Max(2)),
		schema.Optional("options", &c.Options, "More settings.", schema.Check(func(m map[string]string) error {
			if _, ok := m["bad"]; ok {
				return errors.New("bad is not an option.")
			}
			return nil
		})),
		schema.Optional("infer", &c.Infer, "Whether to guess types."),
		schema.Optional("hive", &c.Hive, "Whether paths hold columns."),
		schema.Optional("rows", &c.Rows, "Rows to read."),
		schema.Optional("password", &c.Password, "A password.", schema.Secret()),
		schema.Block("mark", &c.Mark, "How late rows may be.", func(m *mark) []schema.Field {
			return []schema.Field{
				schema.Required("column", &m.Column, "The time column.", schema.OnChange(schema.CostReplay)),
				schema.Optional("delay", &m.Delay, "How late.", schema.Default(schema.Duration(time.Hour))),
			}
		}),
		schema.BlockList("expect", &c.Expects, "Rules for rows.", func(e *expect) []schema.Field {
			return []schema.Field{
				schema.Required("name", &e.Name, "The rule's name."),
				schema.Required("condition", &e.Condition, "What must hold."),
			}
		}, schema.Labeled()),
	}
}

type attrs map[string]cty.Value

func text(s string) cty.Value    { return cty.StringVal(s) }
func number(n int64) cty.Value   { return cty.NumberIntVal(n) }
func rule(n, c string) cty.Value { return cty.ObjectVal(attrs{"name": text(n), "condition": text(c)}) }

func complete(t *testing.T, a attrs) cty.Value {
	t.Helper()
	v, errs := sampleKind().Complete(cty.ObjectVal(a))
	require.Empty(t, errs)
	require.True(t, v.Type().Equals(sampleKind().ValueType()))
	return v
}

func TestCompleteFillsDefaultsAndConverts(t *testing.T) {
	v := complete(t, attrs{
		"path": text("p"), "limit": text("7"), "tags": cty.TupleVal([]cty.Value{text("red")}), "bytes": number(64),
		"options": cty.ObjectVal(attrs{"header": cty.True}), "mark": cty.ObjectVal(attrs{"column": text("ts")}),
		"expect": cty.TupleVal([]cty.Value{rule("a", "x > 0")}),
	})
	cfg, err := sampleKind().Bind(v)
	require.NoError(t, err)
	require.Equal(t, &sample{
		Path: "p", Format: "json", Limit: 7, Wait: schema.Duration(time.Minute), Bytes: 64, Infer: true, Tags: []string{"red"},
		Options: map[string]string{"header": "true"}, Mark: &mark{"ts", schema.Duration(time.Hour)}, Expects: []expect{{"a", "x > 0"}},
	}, cfg)
	require.Equal(t, "json", v.GetAttr("format").AsString())
	require.Equal(t, "1m", v.GetAttr("wait").AsString())
	require.True(t, v.GetAttr("hive").IsNull())
	require.Equal(t, 0, complete(t, attrs{"path": text("p")}).GetAttr("expect").LengthInt())
}

func TestCompleteReportsMistakes(t *testing.T) {
	cases := map[string]struct {
		set  attrs
		want string
	}{
		"missing":         {attrs{"path": cty.NilVal}, `path: The argument "path" is required`},
		"null required":   {attrs{"path": cty.NullVal(cty.String)}, `path: The argument "path" is required`},
		"unknown":         {attrs{"formt": text("x")}, `formt: source.sample has no attribute "formt". Did you mean "format"?`},
		"unknown nested":  {attrs{"mark": cty.ObjectVal(attrs{"column": text("c"), "dely": text("1h")})}, `mark.dely: source.sample has no attribute "dely". Did you mean "delay"?`},
		"type":            {attrs{"limit": text("many")}, `limit: Inappropriate value for attribute "limit": a number is required.`},
		"list for text":   {attrs{"path": cty.TupleVal([]cty.Value{text("a"), text("b")})}, `path: Inappropriate value for attribute "path": string required`},
		"one of":          {attrs{"format": text("jsn")}, `format: Invalid value for attribute "format": "jsn" is not possible here; use "json" or "csv". Did you mean "json"?`},
		"one of, element": {attrs{"tags": cty.TupleVal([]cty.Value{text("blue")})}, `"blue" is not possible here; use "red" or "green".`},
		"whole":           {attrs{"limit": cty.NumberFloatVal(1.5)}, `a whole number is required.`},
		"huge":            {attrs{"limit": cty.MustParseNumberVal("1e40")}, `a whole number is required.`},
		"min":             {attrs{"limit": number(0)}, `it must be at least 1.`},
		"max":             {attrs{"ratio": cty.NumberFloatVal(1.5)}, `it must be at most 1.`},
		"min duration":    {attrs{"wait": text("10ms")}, `it must be at least "1s".`},
		"max size":        {attrs{"bytes": text("2GiB")}, `it must be at most "1GiB".`},
		"max elements":    {attrs{"tags": cty.TupleVal([]cty.Value{text("red"), text("red"), text("red")})}, `it must be at most 2 elements.`},
		"duration":        {attrs{"wait": text("soon")}, `"soon" is not a duration`},
		"own rule":        {attrs{"options": cty.ObjectVal(attrs{"bad": text("1")})}, `bad is not an option.`},
		"null element":    {attrs{"tags": cty.TupleVal([]cty.Value{cty.NullVal(cty.String)})}, `elements must not be null`},
		"unknown value":   {attrs{"path": cty.UnknownVal(cty.String)}, `the value is not known`},
		"clear secret":    {attrs{"password": text("hunter2")}, `it must be a secret reference`},
		"missing nested":  {attrs{"mark": cty.EmptyObjectVal}, `mark.column: The argument "column" is required`},
		"not an object":   {attrs{"mark": text("x")}, `mark: An object is required, not string.`},
		"label twice":     {attrs{"expect": cty.TupleVal([]cty.Value{rule("a", "1"), rule("a", "2")})}, `expect[1]: There is already a block expect "a" here`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in := attrs{"path": text("p")}
			for k, v := range c.set {
				in[k] = v
				if v == cty.NilVal {
					delete(in, k)
				}
			}
			v, errs := sampleKind().Complete(cty.ObjectVal(in))
			require.NotEmpty(t, errs)
			require.NotEmpty(t, errs[0].Summary)
			require.Contains(t, pathText(errs[0].Path)+": "+errs[0].Detail, c.want)
			require.True(t, v.Type().Equals(sampleKind().ValueType()))
		})
	}
}

func pathText(p cty.Path) string {
	var b strings.Builder
	for _, s := range p {
		switch s := s.(type) {
		case cty.GetAttrStep:
			b.WriteString("." + s.Name)
		case cty.IndexStep:
			n, _ := s.Key.AsBigFloat().Int64()
			fmt.Fprintf(&b, "[%d]", n)
		}
	}
	return strings.TrimPrefix(b.String(), ".")
}

func TestChanged(t *testing.T) {
	base := attrs{"path": text("p")}
	rules := func(r ...cty.Value) attrs { return attrs{"expect": cty.TupleVal(r)} }
	marked := func(a attrs) attrs { return attrs{"mark": cty.ObjectVal(a)} }
	cases := map[string]struct {
		before, after attrs
		want          []string
	}{
		"nothing":           {attrs{}, attrs{}, nil},
		"default spelled":   {attrs{}, attrs{"format": text("json"), "limit": number(1000), "infer": cty.True, "wait": text("60s")}, nil},
		"equal duration":    {attrs{"wait": text("90s")}, attrs{"wait": text("1m30s")}, nil},
		"equal size":        {attrs{"bytes": text("1024KiB")}, attrs{"bytes": text("1MiB")}, nil},
		"empty is none":     {attrs{"tags": cty.ListValEmpty(cty.String)}, attrs{}, nil},
		"one":               {attrs{}, attrs{"path": text("q")}, []string{"path history"}},
		"several, in order": {attrs{}, attrs{"limit": number(9), "format": text("csv"), "tags": cty.TupleVal([]cty.Value{text("red")})}, []string{"format replay_from_source", "limit in_place", "tags in_place"}},
		"pointer, unset":    {attrs{}, attrs{"hive": cty.False}, []string{"hive in_place"}},
		"map":               {attrs{"options": cty.ObjectVal(attrs{"a": text("1")})}, attrs{"options": cty.ObjectVal(attrs{"a": text("2")})}, []string{"options in_place"}},
		"sql":               {attrs{"query": text("SELECT 1")}, attrs{"query": text("SELECT  1")}, []string{"query by_meaning"}},
		"block added":       {attrs{}, marked(attrs{"column": text("c")}), []string{"mark replay_from_source"}},
		"block removed":     {marked(attrs{"column": text("c")}), attrs{}, []string{"mark replay_from_source"}},
		"block field":       {marked(attrs{"column": text("c")}), marked(attrs{"column": text("c"), "delay": text("2h")}), []string{"mark.delay in_place"}},
		"block default":     {marked(attrs{"column": text("c")}), marked(attrs{"column": text("c"), "delay": text("60m")}), nil},
		"rules reordered":   {rules(rule("a", "1"), rule("b", "2")), rules(rule("b", "2"), rule("a", "1")), nil},
		"rule edited":       {rules(rule("a", "1")), rules(rule("a", "2")), []string{`expect["a"].condition in_place`}},
		"rule renamed":      {rules(rule("a", "1")), rules(rule("b", "1")), []string{`expect["b"] in_place`, `expect["a"] in_place`}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			fill := func(a attrs) cty.Value {
				in := attrs{"path": base["path"]}
				for k, v := range a {
					in[k] = v
				}
				return complete(t, in)
			}
			before, after := fill(c.before), fill(c.after)
			var got []string
			for _, ch := range schema.Changed(sampleKind(), before, after) {
				got = append(got, ch.Path+" "+string(ch.Cost))
			}
			require.Equal(t, c.want, got)
			require.Len(t, schema.Changed(sampleKind(), after, before), len(c.want))
		})
	}
}

func TestDocumentsOfOtherVersions(t *testing.T) {
	k := sampleKind()
	v, err := k.Unmarshal([]byte(`{"path":"p","gone":[1],"mark":{"column":"c","gone":1},"expect":[{"name":"a","condition":"b","gone":{}}]}`))
	require.NoError(t, err)
	require.True(t, v.Type().Equals(k.ValueType()))
	now := complete(t, attrs{"path": text("p"), "mark": cty.ObjectVal(attrs{"column": text("c")}), "expect": cty.TupleVal([]cty.Value{rule("a", "b")})})
	require.Empty(t, schema.Changed(k, v, now))
	cfg, err := k.Bind(v)
	require.NoError(t, err)
	require.Equal(t, int64(1000), cfg.(*sample).Limit)
	for _, bad := range []string{"", "null", "[]", `{"path":[]}`, `{"expect":{}}`, `{"expect":[1]}`, `{"limit":"x"}`} {
		_, err := k.Unmarshal([]byte(bad))
		require.Error(t, err, bad)
	}
}

// Random values survive Complete → Marshal → Unmarshal → Bind, and completing twice changes nothing.
func TestRoundTrips(t *testing.T) {
	k := sampleKind()
	rng := rand.New(rand.NewPCG(1, 2))
	maybe := func(a attrs, name string, v cty.Value) {
		if rng.IntN(2) == 0 {
			a[name] = v
		}
	}
	for range 300 {
		in := attrs{"path": text(fmt.Sprint("p", rng.IntN(9)))}
		maybe(in, "format", text([]string{"json", "csv"}[rng.IntN(2)]))
		maybe(in, "limit", number(1+rng.Int64N(5000)))
		maybe(in, "ratio", cty.NumberFloatVal(rng.Float64()))
		maybe(in, "wait", text(schema.Duration(1e9+rng.Int64N(1e15)).String()))
		maybe(in, "bytes", text(schema.Size(rng.Int64N(1<<30)).String()))
		maybe(in, "tags", cty.ListVal([]cty.Value{text("green")}))
		maybe(in, "options", cty.MapVal(attrs{fmt.Sprint(rng.IntN(5)): text("é\x00\"")}))
		maybe(in, "infer", cty.BoolVal(rng.IntN(2) == 0))
		maybe(in, "hive", cty.BoolVal(rng.IntN(2) == 0))
		maybe(in, "rows", number(rng.Int64()))
		maybe(in, "mark", cty.ObjectVal(attrs{"column": text("c")}))
		maybe(in, "expect", cty.TupleVal([]cty.Value{rule("a", "1"), rule("b", "2")}))
		v := complete(t, in)
		data, err := k.Marshal(v)
		require.NoError(t, err)
		back, err := k.Unmarshal(data)
		require.NoError(t, err)
		require.True(t, v.RawEquals(back), "%#v\n%#v", v, back)
		again, errs := k.Complete(back)
		require.Empty(t, errs)
		require.True(t, v.RawEquals(again))
		a, err := k.Bind(v)
		require.NoError(t, err)
		b, err := k.Bind(back)
		require.NoError(t, err)
		require.Equal(t, a, b)
		require.Empty(t, schema.Changed(k, v, back))
	}
}

type located struct{ Path string }

func (l *located) Fields() []schema.Field {
	return []schema.Field{schema.Required("path", &l.Path, "Where it is.", schema.Normal(func(p string) string { return strings.TrimSuffix(p, "/") }))}
}

// Values with one normal form are no change.
func TestNormal(t *testing.T) {
	k := schema.Kind{Block: addr.Source, Type: "located", Doc: "Is somewhere.", New: func() schema.Config { return &located{} }}
	at := func(path string) cty.Value {
		v, errs := k.Complete(cty.ObjectVal(map[string]cty.Value{"path": cty.StringVal(path)}))
		require.Empty(t, errs)
		return v
	}
	require.Empty(t, schema.Changed(k, at("in"), at("in/")))
	require.Len(t, schema.Changed(k, at("in"), at("out/")), 1)
	require.Len(t, schema.Changed(k, cty.NullVal(k.ValueType()), at("in")), 1)
}
