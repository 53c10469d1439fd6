package graphtest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/graph/bind"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/state"
)

// Analyze finds the names behind FROM and JOIN. SQL that holds BROKEN does not parse.
func Analyze(sql string) ([]graph.Name, error) {
	if at := strings.Index(sql, "BROKEN"); at >= 0 {
		return nil, &graph.SQLError{Summary: "Syntax error in SQL", Detail: `Something is wrong near "BROKEN".`, Start: at, End: at + len("BROKEN")}
	}
	var out []graph.Name
	for _, m := range regexp.MustCompile(`(?i)\b(?:FROM|JOIN)\s+(?:(\w+)\.)?(\w+)`).FindAllStringSubmatchIndex(sql, -1) {
		n := graph.Name{Relation: sql[m[4]:m[5]], Start: m[4], End: m[5]}
		if m[2] >= 0 {
			n.Schema, n.Start = sql[m[2]:m[3]], m[2]
		}
		out = append(out, n)
	}
	return out, nil
}

// Compiler knows just enough SQL: a query means its words in lower case over the identities of what it reads, it aggregates when
// it says GROUP BY, and its columns are those of SELECT, or of its first input for a star.
type Compiler struct {
	Compiled, Sampled atomic.Int64 // calls
}

// Compile binds a query, and counts that.
func (c *Compiler) Compile(_ context.Context, q bind.Query) (bind.Compiled, error) {
	c.Compiled.Add(1)
	return compile(q)
}

// compile binds a query. A column named missing does not exist; MACHINE fails as machines do.
func compile(q bind.Query) (bind.Compiled, error) {
	if strings.Contains(q.SQL, "MACHINE") {
		return bind.Compiled{}, errors.New("the compiler's process died")
	}
	if at := strings.Index(q.SQL, "missing"); at >= 0 {
		return bind.Compiled{}, &graph.SQLError{Summary: "Unknown column", Detail: `There is no column "missing".`, Start: at, End: at + len("missing")}
	}
	words := strings.Join(strings.Fields(strings.ToLower(q.SQL)), " ")
	out := bind.Compiled{AppendOnly: !strings.Contains(words, "group by"), Identity: over(q, words), Key: q.Keys,
		Operators: []state.Operator{{Kind: "linear", Identity: words}}}
	for _, r := range q.Relations {
		out.Reads = append(out.Reads, r.Name)
		out.AppendOnly = out.AppendOnly && r.AppendOnly
	}
	if !out.AppendOnly && strings.Contains(words, "group by") {
		out.Operators = append([]state.Operator{{Kind: "aggregate", Identity: out.Identity, Common: below(out.Identity), Reads: out.Reads}}, out.Operators...)
	}
	if q.Stream && !out.AppendOnly {
		at := strings.Index(words, "group by")
		return bind.Compiled{}, &graph.SQLError{Summary: "A stream cannot take rows back", Detail: "Declare a view.", Start: at, End: at + 8}
	}
	if !out.AppendOnly && strings.Contains(words, "median") {
		out.Operators = []state.Operator{{Kind: "full_refresh", Identity: words, Reason: "median has no partial form"}}
	}
	if m := regexp.MustCompile(`^select (.*?)(?: from .*)?$`).FindStringSubmatch(words); m != nil && m[1] != "*" {
		for _, name := range strings.Split(m[1], ",") {
			out.Columns = append(out.Columns, batch.Column{Name: strings.TrimSpace(name), Type: "VARCHAR"})
		}
	} else if len(q.Relations) > 0 {
		out.Columns = q.Relations[0].Columns
	}
	return out, nil
}

// Compare carries keyed data over where only the columns asked for, or a HAVING, differ; rebuilds what reads nothing but held views;
// and replays the rest.
func (c *Compiler) Compare(_ context.Context, before, after bind.Query) (plan.Evolution, error) {
	was, err := compile(before)
	if err != nil {
		return plan.Evolution{}, err
	}
	is, err := compile(after)
	if err != nil {
		return plan.Evolution{}, err
	}
	switch {
	case was.Identity == is.Identity && was.AppendOnly == is.AppendOnly && slices.Equal(was.Columns, is.Columns):
		return plan.Evolution{Class: plan.Noop}, nil
	case below(was.Identity) == below(is.Identity) && !is.AppendOnly:
		return plan.Evolution{Class: plan.Migrate, Reason: "what is above its aggregate has changed", Carry: json.RawMessage(`{"keep":"op0"}`),
			Operators: []plan.Fate{{Name: "op0", Kind: "aggregate", Fate: plan.Kept}}}, nil
	case len(after.Relations) > 0 && !slices.ContainsFunc(after.Relations, func(r bind.Relation) bool { return !r.Held }):
		return plan.Evolution{Class: plan.RebuildFromState, Reason: "it reads held rows"}, nil
	}
	return plan.Evolution{Class: plan.ReplayFromSource, Reason: "it reads other rows"}, nil
}

// below is what an aggregate reads, and by what it groups.
func below(identity string) string {
	_, from, _ := strings.Cut(identity, " from ")
	from, _, _ = strings.Cut(from, " having ")
	return from
}

// over puts the identities of what a query reads in the place of names.
func over(q bind.Query, words string) string {
	for _, r := range q.Relations {
		words = regexp.MustCompile(`(from|join) `+regexp.QuoteMeta(strings.ToLower(r.Name))+`\b`).ReplaceAllString(words, "$1 <"+r.Identity+">")
	}
	return words
}

// Infer fails when the source is broken ("path: why" is about that attribute), takes declared columns, or pretends to have found two in 12 files.
func (c *Compiler) Infer(_ context.Context, s bind.Source) (bind.Inferred, error) {
	v := s.Value
	if text := v.GetAttr("broken"); !text.IsNull() && text.AsString() != "" {
		attr, _, named := strings.Cut(text.AsString(), ": ")
		if !named {
			attr = ""
		}
		return bind.Inferred{}, &graph.SQLError{Summary: "No columns", Detail: text.AsString(), Attr: attr}
	}
	out := bind.Inferred{Sides: map[string]batch.Schema{"malformed": {{Name: "raw", Type: "BLOB"}}}}
	if declared := v.GetAttr("columns"); !declared.IsNull() && declared.LengthInt() > 0 {
		for it := declared.ElementIterator(); it.Next(); {
			name, typ := it.Element()
			out.Columns = append(out.Columns, batch.Column{Name: name.AsString(), Type: typ.AsString()})
		}
		slices.SortStableFunc(out.Columns, func(a, b batch.Column) int {
			return cmp.Compare(slices.Index(s.Written, a.Name), slices.Index(s.Written, b.Name))
		})
		return out, nil
	}
	c.Sampled.Add(1)
	out.Columns = batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "amount", Type: "DECIMAL(10,2)"}}
	out.Sampled, out.Files, out.Bytes = true, 12, 3_400_000
	return out, nil
}

// CheckSink refuses mode append on what is not append-only.
func (c *Compiler) CheckSink(_ context.Context, s bind.Sink) error {
	if s.Value.GetAttr("mode").AsString() == "append" && !s.From.AppendOnly {
		return &graph.SQLError{Summary: "This sink only appends", Detail: s.From.Name + " takes rows back."}
	}
	return nil
}
