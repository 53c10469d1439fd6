package evolve

import (
	"maps"
	"slices"

	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/logical"
)

// Compare says what an edit from one program to another means for what the runtime holds. It is deterministic. Relations
// pair by their identities, operators by the canonical forms of what they do and of what is below them.
func Compare(before, after *compile.Program, held Held) Evolution {
	same := sameQuery(before, after)
	if same && slices.Equal(before.Columns, after.Columns) {
		return Evolution{Class: Noop}
	}
	ws := widened(before, after)
	c := &comparison{before: before, after: after, held: held, ws: ws, rows: rowsHeld(before, ws), clocked: clocked(before),
		carry: Carry{Program: after.Identity, Operators: map[string]Origin{}, Leaves: map[string]Leaf{}},
		gone:  map[string]bool{}, taken: map[string]bool{}, used: map[string]bool{}}
	switch {
	case same && slices.Equal(types(before.Columns), types(after.Columns)):
		c.renamed()
	case after.Final == "":
		c.whole()
	default:
		for _, o := range after.Steps {
			c.step(o)
		}
		c.result()
	}
	return c.evolution()
}

// sameQuery reports that two programs mean the same and remember it in the same form.
func sameQuery(before, after *compile.Program) bool {
	return before.Identity == after.Identity && before.Stream == after.Stream && before.AppendOnly == after.AppendOnly &&
		(before.FullRefresh == "") == (after.FullRefresh == "") && (before.FullRefresh == "" || maps.Equal(before.AppendRead, after.AppendRead)) &&
		slices.EqualFunc(before.Steps, after.Steps, sameTypes)
}

// sameTypes reports whether two operators remember the same columns: an operator by key may hold more of a relation than its
// query uses, and more or fewer of them when the relation has changed.
func sameTypes(a, b compile.Stateful) bool {
	x, isKeyed := a.(compile.Keyed)
	y, staysKeyed := b.(compile.Keyed)
	return !isKeyed || !staysKeyed || slices.EqualFunc(x.InputTypes, y.InputTypes, slices.Equal[[]string]) && slices.Equal(x.OutputTypes, y.OutputTypes)
}

// comparison is one under way.
type comparison struct {
	before, after *compile.Program
	held          Held
	ws            []widening
	rows          []heldRows
	clocked       map[string]bool // old operators, see clocked

	carry Carry
	fates []Fate          // of the new operators so far
	gone  map[string]bool // new operators whose rows only a source can give
	taken map[string]bool // old operators that were handed over
	used  map[string]bool // old operators that something comes from
}

// renamed keeps everything: the columns have other names.
func (c *comparison) renamed() {
	for _, o := range c.after.Operators {
		c.keep(o.ID, o.ID, "")
	}
}

func (c *comparison) keep(id, old, reason string) {
	c.carry.Operators[id] = Origin{Keep: old}
	c.taken[old], c.used[old] = true, true
	c.fate(id, Kept, reason)
}

func (c *comparison) fate(id string, fate FateKind, reason string) {
	i := slices.IndexFunc(c.after.Operators, func(o compile.Operator) bool { return o.ID == id })
	o := c.after.Operators[i]
	c.fates = append(c.fates, Fate{Name: id, Kind: o.Kind, Detail: o.Detail, Fate: fate, Reason: reason})
	c.gone[id] = fate == Replayed
}

// step finds where the keyed data of an operator comes from: handed over, derived, or computed.
func (c *comparison) step(o compile.Stateful) {
	for _, old := range c.before.Steps {
		if compile.Remembers(old) == compile.Remembers(o) && sameTypes(old, o) && !c.taken[old.Name()] && !c.clocked[old.Name()] {
			c.keep(o.Name(), old.Name(), "")
			return
		}
	}
	misses := ""
	if a, ok := o.(compile.Aggregate); ok {
		m := c.migration(a)
		if m.partials != nil {
			c.carry.Operators[a.ID] = Origin{Partials: m.partials}
			c.used[m.partials.Operator] = true
			c.fate(a.ID, Migrated, m.reason)
			return
		}
		misses = m.misses
	}
	c.compute(o.Name(), inputs(o), misses)
}

// migration is the best way from old partials to an aggregate: one that needs no merge, if there is one.
func (c *comparison) migration(a compile.Aggregate) migration {
	var best migration
	for _, o := range c.before.Steps {
		old, ok := o.(compile.Aggregate)
		if !ok || c.clocked[old.ID] {
			continue
		}
		switch m := migrate(old, a, c.before.Steps, c.ws); {
		case m.partials != nil && len(m.from) < len(a.Arms) && !c.completes(a, m.from):
		case m.partials != nil && (best.partials == nil || best.partials.Merge && !m.partials.Merge):
			best = m
		case best.partials == nil && best.misses == "":
			best.misses = m.misses
		}
	}
	return best
}

// completes reports whether an aggregate's input gives just the arms that do not follow from what is held: what these read
// can be had, and of the others nothing.
func (c *comparison) completes(a compile.Aggregate, from []int) bool {
	for i, arm := range a.Arms {
		follows := slices.Contains(from, i)
		for _, leaf := range arm.Leaves {
			if c.lacks(leaf) != follows {
				return false
			}
		}
	}
	return true
}

// input is what an operator reads: SQL over leaves, and its form.
type input struct {
	sql  string
	form logical.Form
}

func inputs(o compile.Stateful) []input {
	var out []input
	switch o := o.(type) {
	case compile.Aggregate:
		out = append(out, input{o.Input, o.Form})
	case compile.Temporal:
		out = append(out, input{o.Input.SQL, o.Input.Form})
	case compile.Keyed:
		for _, in := range o.Inputs {
			out = append(out, input{in.SQL, in.Form})
		}
	}
	return out
}

// clocked are the operators of a program that filter by the time, or read one that does. What they hold is as of the last epoch's clock, and a filter
// does not hold what it gave, so that a program that goes on with another clock computes them again.
func clocked(p *compile.Program) map[string]bool {
	out := map[string]bool{}
	for _, o := range p.Steps {
		_, clock := o.(compile.Temporal)
		for _, in := range inputs(o) {
			clock = clock || readsAny(in.sql, out)
		}
		out[o.Name()] = clock
	}
	return out
}

func readsAny(sql string, operators map[string]bool) bool {
	return slices.ContainsFunc(logical.Leaves(sql), func(leaf string) bool { return operators[leaf] })
}

// compute finds the rows an operator needs. misses says why its keyed data did not follow from the old.
func (c *comparison) compute(id string, ins []input, misses string) {
	origin := Origin{}
	var from []string
	for _, in := range ins {
		rows, what, reason := c.query(in.form)
		if rows != nil {
			from = append(from, what)
			c.used[rows.Operator] = true
		} else if below, lacks := c.below(in.sql); lacks == "" {
			from = append(from, below...)
		} else {
			if misses == "" {
				misses = reason
			}
			if misses == "" {
				misses = c.unlike(in.form, lacks)
			}
			c.fate(id, Replayed, misses)
			return
		}
		origin.Inputs = append(origin.Inputs, rows)
	}
	if slices.ContainsFunc(origin.Inputs, func(r *Rows) bool { return r != nil }) {
		c.carry.Operators[id] = origin
	}
	c.fate(id, Rebuilt, "computed from "+list(unique(from)))
}

func unique(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}

// query finds rows of a form among those that old operators hold.
func (c *comparison) query(want logical.Form) (rows *Rows, what, misses string) {
	for _, h := range c.rows {
		r, reason := h.query(want)
		if r != nil {
			return r, h.what, ""
		}
		if misses == "" {
			misses = reason
		}
	}
	return nil, "", misses
}

// below reports whether all that SQL reads can be had, and from what; lacks is what cannot.
func (c *comparison) below(sql string) (from []string, lacks string) {
	leaves := logical.Leaves(sql)
	for _, leaf := range leaves {
		if c.lacks(leaf) {
			return nil, leaf
		}
	}
	for _, leaf := range leaves {
		from = append(from, c.read(leaf))
	}
	return from, ""
}

func (c *comparison) isOperator(leaf string) bool {
	return slices.ContainsFunc(c.after.Steps, func(o compile.Stateful) bool { return o.Name() == leaf })
}

// lacks reports that only a source can give the rows of a leaf.
func (c *comparison) lacks(leaf string) bool {
	if c.isOperator(leaf) {
		return c.gone[leaf]
	}
	if c.held[leaf] {
		return false
	}
	rows, _, _ := c.query(c.after.RelationForm(leaf))
	return rows == nil
}

// belowIt is what the reasons say of operators.
const belowIt = "the operators below it"

// read notes that the epoch reads all rows of a leaf, and says what that is.
func (c *comparison) read(leaf string) string {
	switch {
	case c.isOperator(leaf):
		return belowIt
	case c.held[leaf]:
		c.carry.Leaves[leaf] = Leaf{}
		return "the rows of " + leaf
	}
	rows, what, _ := c.query(c.after.RelationForm(leaf))
	c.carry.Leaves[leaf] = Leaf{From: rows}
	c.used[rows.Operator] = true
	return what
}

// unlike says why nothing of the old program helps with rows of a form.
func (c *comparison) unlike(want logical.Form, lacks string) string {
	if c.isOperator(lacks) {
		return "what is below it is read again"
	}
	for _, o := range c.before.Steps {
		for _, in := range inputs(o) {
			switch {
			case subset(arms(in.form), want.Arms):
				return "a part of UNION ALL is new: its rows were never read"
			case subset(arms(want), in.form.Arms):
				return "a part of UNION ALL is gone: its share cannot be subtracted"
			}
		}
	}
	for leaf := range c.before.LeafColumns {
		if c.before.RelationForm(leaf).Base == c.after.RelationForm(lacks).Base {
			return "the rows of " + lacks + " are not held"
		}
	}
	return "the rows of " + lacks + ", which it did not read before, are not held"
}

// arms are those of a UNION ALL, or the rows themselves as its only one.
func arms(f logical.Form) []string {
	if len(f.Arms) > 0 {
		return f.Arms
	}
	return []string{f.Arm()}
}

func subset(small, big []string) bool {
	return len(small) > 0 && !slices.ContainsFunc(small, func(s string) bool { return !slices.Contains(big, s) })
}
