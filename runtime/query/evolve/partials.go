package evolve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/partial"
)

// migration is how an aggregate's partials follow from those of an old one, or why they do not.
type migration struct {
	partials *Partials
	from     []int // arms of the new aggregate that follow from the old; the others are computed
	reason   string
	misses   string
}

// migrate derives an aggregate from an old one over the same rows, arm by arm. before are the old program's operators.
func migrate(old, next compile.Aggregate, before []compile.Stateful, ws []widening) migration {
	var out migration
	var used []int // old arms
	sql := make([]string, len(next.Partials))
	var reasons []string
	for arm := range next.Arms {
		var best *migrating
		for was := range old.Arms {
			m, misses := migrateArm(old, was, next, arm, ws)
			if m != nil {
				best = m
				break
			}
			out.misses = cmp.Or(out.misses, misses)
		}
		if best == nil {
			continue
		}
		if out.partials == nil {
			out.partials = best.out
		} else if !sameRows(out.partials, best.out) {
			continue
		}
		for i, text := range best.partial {
			sql[i] = text
		}
		out.from, used, reasons = append(out.from, arm), append(used, best.was), append(reasons, best.notes...)
	}
	if out.partials == nil || !allGroups(old, used, before) {
		return migration{misses: out.misses}
	}
	for i, p := range next.Partials {
		if sql[i] == "" {
			sql[i] = p.Zero
		}
	}
	out.partials.Partials = sql
	if len(out.from) < len(next.Arms) {
		reasons = append(reasons, "the rest is computed from the operators below it")
		for i, p := range next.Partials {
			out.partials.With = append(out.partials.With, merged(p, partial.Name(i), next.PartialTypes[i]))
		}
		out.partials.Merge = true
	}
	out.reason = reason(old, next, reasons, ws)
	return out
}

// allGroups reports that no group of an aggregate comes from other arms than those used alone.
func allGroups(a compile.Aggregate, used []int, steps []compile.Stateful) bool {
	for i, arm := range a.Arms {
		if !slices.Contains(used, i) && !slices.ContainsFunc(used, func(u int) bool { return within(arm, a.Arms[u], steps) }) {
			return false
		}
	}
	return true
}

// within reports that an arm reads an aggregate over the rows of another, by the groups that other has: then it has no groups of its own.
func within(arm, other logical.Arm, steps []compile.Stateful) bool {
	if len(arm.Leaves) != 1 {
		return false
	}
	at := slices.IndexFunc(steps, func(o compile.Stateful) bool { return o.Name() == arm.Leaves[0] })
	if at < 0 {
		return false
	}
	below, ok := steps[at].(compile.Aggregate)
	if !ok || below.Form.Base != other.Form.Base || !slices.Equal(below.Form.Preds, other.Form.Preds) {
		return false
	}
	for i, g := range arm.Groups {
		same := slices.ContainsFunc(bound.Upto(len(below.GroupForms)), func(j int) bool {
			return g == logical.Column{Of: below.Identity, Name: fmt.Sprint("c", j)}.Token() && below.GroupForms[j] == other.Groups[i]
		})
		if !same {
			return false
		}
	}
	return true
}

// sameRows reports that two queries over partials give rows of the same groups.
func sameRows(a, b *Partials) bool {
	return a.Where == b.Where && a.Merge == b.Merge && slices.Equal(a.Groups, b.Groups)
}

// migrateArm derives the partials of one arm from those of an old one.
func migrateArm(old compile.Aggregate, was int, next compile.Aggregate, arm int, ws []widening) (*migrating, string) {
	form := widenForm(old.Arms[was].Form, ws)
	if form.Base != next.Arms[arm].Form.Base {
		return nil, ""
	}
	for _, p := range form.Preds {
		if !slices.Contains(next.Arms[arm].Form.Preds, p) {
			return nil, "rows that the condition " + words(p) + " left out are not in the partials"
		}
	}
	if old.Scalar() && !next.Scalar() {
		return nil, "partials over everything cannot be split by " + words(next.Arms[arm].Groups[0])
	}
	groups := make([]string, len(old.Arms[was].Groups))
	for i, g := range old.Arms[was].Groups {
		groups[i] = widenText(g, ws)
	}
	m := &migrating{old: old, next: next, was: was, arm: arm, had: form, ws: ws, partial: map[int]string{},
		d:   derivation{held: newTerms(groups, old.GroupTypes, "g"), used: map[string]bool{}},
		out: &Partials{Operator: old.ID, GroupTypes: old.GroupTypes, PartialTypes: old.PartialTypes}}
	for _, step := range []func() string{m.where, m.groups, m.partials} {
		if misses := step(); misses != "" {
			return nil, misses
		}
	}
	m.noteGone(groups)
	return m, ""
}

// migrating is the migration of one arm under way.
type migrating struct {
	old, next compile.Aggregate
	was, arm  int
	had       logical.Form // of the old arm
	ws        []widening
	d         derivation // over the old groups
	out       *Partials
	partial   map[int]string // SQL of the new partials of the arm
	notes     []string
}

// where keeps whole groups: a condition must be about groups alone.
func (m *migrating) where() string {
	var where []string
	for _, p := range m.next.Arms[m.arm].Form.Preds {
		if slices.Contains(m.had.Preds, p) {
			continue
		}
		sql, ok := m.d.sql(p)
		if !ok {
			return words(p) + " is not about groups: partials mix rows of both kinds"
		}
		where = append(where, sql)
		m.notes = append(m.notes, words(p)+" is about groups: whole groups are dropped")
	}
	m.out.Where = strings.Join(where, " AND ")
	return ""
}

func (m *migrating) groups() string {
	plain := map[string]bool{}
	for _, g := range m.next.Arms[m.arm].Groups {
		d := derivation{held: m.d.held, used: map[string]bool{}}
		sql, ok := d.sql(g)
		if !ok {
			if strings.HasPrefix(d.missing, "buckets ") {
				return d.missing
			}
			return words(g) + " is not among the groups held: partials cannot be split"
		}
		if d.used[sql] {
			plain[sql] = true
		}
		m.out.Groups = append(m.out.Groups, sql)
		m.notes = append(m.notes, d.nested...)
	}
	for i := range m.old.GroupForms {
		m.out.Merge = m.out.Merge || !plain[fmt.Sprint("g", i)]
	}
	return ""
}

func (m *migrating) partials() string {
	misses := ""
	for i, p := range m.next.Partials {
		if p.Arm != m.arm {
			continue
		}
		at := slices.IndexFunc(m.old.Partials, func(o logical.Partial) bool { return o.Arm == m.was && widenPartial(o, m.ws) == p.Form })
		switch sql, ok := m.constant(p); {
		case at >= 0 && m.out.Merge:
			m.partial[i] = merged(m.old.Partials[at], partial.Name(at), m.old.PartialTypes[at])
		case at >= 0:
			m.partial[i] = partial.Name(at)
		case ok:
			m.partial[i] = sql
			m.notes = append(m.notes, partialWords(p)+" follows from the groups")
		case misses == "" || p.Kind != "count": // a count that others need beside their own is no news
			misses = partialWords(p) + " does not follow from what is held"
		}
	}
	return misses
}

// constant is a partial over values that are the same in a whole group.
func (m *migrating) constant(p logical.Partial) (string, bool) {
	inner, is := strings.CutPrefix(p.Form, p.Kind+"(")
	switch p.Kind {
	case "min", "max", "bool_and", "bool_or", "bit_and", "bit_or":
	default:
		return "", false
	}
	if !is || !strings.HasSuffix(inner, ")") || strings.Contains(inner, ") FILTER ") {
		return "", false
	}
	d := derivation{held: m.d.held, used: map[string]bool{}}
	sql, ok := d.sql(inner[:len(inner)-1])
	if ok && m.out.Merge {
		sql = p.Kind + "(" + sql + ")"
	}
	return sql, ok
}

// merged is an aggregate that merges the partials of several groups.
func merged(p logical.Partial, name, typ string) string {
	var sql string
	switch p.Kind {
	case "count", "count_if", "sum":
		sql = "sum(" + name + ")"
	case "variance":
		both := strings.NewReplacer("$o", "sf$o", "$n", "sf$n").Replace(p.Merge)
		sql = "list_reduce(list(" + name + "), lambda sf$o, sf$n: " + both + ")"
	default:
		sql = p.Kind + "(" + name + ")"
	}
	sql = "CAST(" + sql + " AS " + typ + ")"
	if p.Zero != "NULL" {
		sql = "coalesce(" + sql + ", " + p.Zero + ")"
	}
	return sql
}

// noteGone notes the groups that are no more.
func (m *migrating) noteGone(groups []string) {
	var gone []string
	for i, g := range groups {
		if !m.mentions(fmt.Sprint("g", i)) {
			gone = append(gone, words(g))
		}
	}
	switch len(gone) {
	case 0:
	case 1:
		m.notes = append(m.notes, gone[0]+" is no longer a group: partials merge")
	default:
		m.notes = append(m.notes, list(gone)+" are no longer groups: partials merge")
	}
}

// reason says what the new aggregate makes of the old one.
func reason(old, next compile.Aggregate, notes []string, ws []widening) string {
	var texts []string
	for _, arm := range old.Arms {
		form := widenForm(arm.Form, ws)
		texts = append(texts, form.Preds...)
		for _, g := range arm.Groups {
			texts = append(texts, widenText(g, ws))
		}
	}
	for _, p := range old.Partials {
		form := widenPartial(p, ws)
		texts = append(texts, form)
		if !slices.ContainsFunc(next.Partials, func(n logical.Partial) bool { return n.Form == form }) {
			notes = append(notes, "the partial of "+partialWords(p)+" is dropped")
		}
	}
	used := columns(texts...)
	for _, w := range ws {
		if slices.Contains(used, w.after) {
			notes = append(notes, fmt.Sprintf("%s is %s instead of %s: what is held is cast", w.after.Name, w.after.Type, w.before.Type))
		}
	}
	if len(notes) == 0 {
		return "the same groups and partials in another order"
	}
	slices.Sort(notes)
	return strings.Join(slices.Compact(notes), "; ")
}

// mentions reports whether a group of the new aggregate reads an old one.
func (m *migrating) mentions(name string) bool {
	return slices.ContainsFunc(m.out.Groups, func(sql string) bool {
		for i := 0; i < len(sql); {
			end := lexeme(sql, i)
			if sql[i:end] == name {
				return true
			}
			i = end
		}
		return false
	})
}

func list(of []string) string {
	if len(of) < 2 {
		return strings.Join(of, "")
	}
	return strings.Join(of[:len(of)-1], ", ") + " and " + of[len(of)-1]
}
