package bind

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/state"
)

// query compiles a stream or view, unless the record holds what the compiler would say.
func (b *binder) query(ctx context.Context, r lang.Resource) (found, error) {
	i := -1
	for k, sql := range r.SQL {
		if sql.Attr == "sql" {
			i = k
		}
	}
	if i < 0 {
		return found{}, nil
	}
	reads, out, ok := b.reads(r)
	if !ok {
		return out, nil
	}
	q := Query{Addr: r.Addr, SQL: r.SQL[i].Text, Relations: reads, Stream: r.Addr.Block == addr.Stream, Keys: textList(r.Value, "keys"), Full: text(r.Value, "full_refresh") == "always"}
	print, err := fingerprint(q)
	if err != nil {
		return found{}, err
	}
	if prior := b.recorded[r.Addr]; prior != nil && prior.Relation != nil && prior.Relation.Compiled == print {
		return found{relation: prior.Relation, diags: b.refused(r, prior.Relation)}, nil
	}
	c, err := b.in.Compiler.Compile(ctx, q)
	if mistake, err := asMistake(err); mistake != nil || err != nil {
		if err != nil {
			return found{}, fmt.Errorf("compiling %s: %w", r.Addr, err)
		}
		return found{diags: diag.Diagnostics{graph.SQLDiagnostic(r, r.SQL[i], mistake)}}, nil
	}
	relation := &state.Relation{
		Columns: c.Columns, AppendOnly: c.AppendOnly, Key: c.Key, Reads: c.Reads,
		Identity: c.Identity, Operators: c.Operators, Compiled: print,
	}
	e, err := b.evolve(ctx, b.recorded[r.Addr], q, relation)
	return found{relation: relation, evolution: e, diags: b.refused(r, relation)}, err
}

// refused says why a view that is to be incremental is not.
func (b *binder) refused(r lang.Resource, is *state.Relation) diag.Diagnostics {
	at := slices.IndexFunc(is.Operators, func(o state.Operator) bool { return o.Kind == "full_refresh" })
	if at < 0 || b.in.AnyCost || text(r.Value, "full_refresh") != "refuse" {
		return nil
	}
	place, ok := r.AttrRanges["sql"]
	if !ok {
		place = r.Range
	}
	d := diag.NewError(&place, "The view cannot be kept up to date incrementally", fmt.Sprintf(
		"The whole query would run again in every epoch over all rows of what it reads, because of this: %s. The view says full_refresh = \"refuse\". \"streamform explain %s\" shows how to write it instead; with full_refresh = \"allow\" it runs in full.",
		strings.TrimSuffix(is.Operators[at].Reason, "."), r.Addr))
	d.Address, d.Context = r.Addr.String(), r.Addr.Header()
	return diag.Diagnostics{d}
}

// recordedText reads what a query says out of recorded attributes; empty when they are damaged.
func recordedText(r *state.Resource) (q Query) {
	var v struct {
		SQL         string   `json:"sql"`
		Keys        []string `json:"keys"`
		FullRefresh string   `json:"full_refresh"`
	}
	if json.Unmarshal(r.Attributes, &v) != nil {
		return q
	}
	return Query{SQL: v.SQL, Keys: v.Keys, Full: v.FullRefresh == "always"}
}

// reads lists the relations that flow into a resource, each once, in the order they are written. ok is false when one
// of them cannot be read; a relation that was not bound itself has been complained about already.
func (b *binder) reads(r lang.Resource) (out []Relation, complaint found, ok bool) {
	seen := map[string]bool{}
	ok = true
	for _, e := range b.in.Graph.Edges(r.Addr) {
		if !graph.Carries(e.To) {
			continue
		}
		rel, bound := b.out.Relations[e.To]
		if !bound {
			ok = false
			continue
		}
		prior := b.recorded[e.To]
		read, readable := relationOf(e.To, e.Side, source{rel, b.out.IDs[e.To], prior != nil && prior.Status == state.Applied})
		if !readable {
			ok = false
			d := diag.NewError(&e.Range, "Side relation cannot be read here", fmt.Sprintf(
				"%s can be queried, but no stream, view or sink can read it in this version.", read.Name))
			d.Address, d.Context = r.Addr.String(), r.Addr.Header()
			complaint.diags = append(complaint.diags, d)
			continue
		}
		if !seen[read.Name] {
			seen[read.Name] = true
			out = append(out, read)
		}
	}
	return out, complaint, ok
}

// source is a relation as what reads it needs to know it.
type source struct {
	state.Relation
	id      string
	applied bool
}

// relationOf is what is read of a relation: itself, or one of its side relations.
func relationOf(a addr.Resource, side string, from source) (Relation, bool) {
	if side == "" {
		return Relation{Name: a.Relation(), Columns: from.Columns, AppendOnly: from.AppendOnly, Key: from.Key, Identity: from.id,
			Held: a.Block == addr.View && from.applied}, true
	}
	columns, ok := from.Sides[side]
	return Relation{Name: a.Relation() + "." + side, Columns: columns, AppendOnly: true, Identity: from.id + "." + side}, ok
}

// sink has a sink checked against the relation it delivers.
func (b *binder) sink(ctx context.Context, r lang.Resource) (found, error) {
	from, out, ok := b.reads(r)
	if !ok || len(from) == 0 {
		return out, nil
	}
	err := b.in.Compiler.CheckSink(ctx, Sink{Addr: r.Addr, Value: r.Value, From: from[0]})
	mistake, err := asMistake(err)
	if err != nil {
		return found{}, fmt.Errorf("checking %s: %w", r.Addr, err)
	}
	if mistake != nil {
		out.diags = append(out.diags, mistakeAt(r, mistake, "mode", "from"))
	}
	return out, nil
}

// fingerprint is the SHA-256 of all that a compilation depends on. Two equal ones have
// the same result, whichever version compiled it.
func fingerprint(q Query) (string, error) {
	q.Addr = addr.Resource{}
	data, err := json.Marshal(q)
	if err != nil {
		return "", fmt.Errorf("writing a query as JSON: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// text reads a text attribute; empty when there is none.
func text(v cty.Value, name string) string {
	if v == cty.NilVal || v.IsNull() || !v.Type().HasAttribute(name) || v.GetAttr(name).IsNull() {
		return ""
	}
	return v.GetAttr(name).AsString()
}

// textList reads a list of text attribute; nil when there is none.
func textList(v cty.Value, name string) []string {
	if v == cty.NilVal || v.IsNull() || !v.Type().HasAttribute(name) {
		return nil
	}
	list := v.GetAttr(name)
	if list.IsNull() || !list.CanIterateElements() {
		return nil
	}
	var out []string
	for _, e := range list.AsValueSlice() {
		if e.Type() == cty.String && !e.IsNull() {
			out = append(out, e.AsString())
		}
	}
	return out
}
