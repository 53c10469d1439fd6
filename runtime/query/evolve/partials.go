package evolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/logical"
)

// migration is how an aggregate's partials follow from those of an old one, or why they do not.
type migration struct {
	partials *Partials
	reason   string
	misses   string
}

// migrate derives an aggregate from an old one over the same rows.
func migrate(old, next compile.Aggregate, ws []widening) migration {
	form := widenForm(old.Form, ws)
	if form.Base != next.Form.Base {
		return migration{}
	}
	for _, p := range form.Preds {
		if !slices.Contains(next.Form.Preds, p) {
			return migration{misses: "rows that the condition " + words(p) + " left out are not in the partials"}
		}
	}
	if old.Scalar() && !next.Scalar() {
		return migration{misses: "partials over everything cannot be split by " + words(next.GroupForms[0])}
	}
	groups := make([]string, len(old.GroupForms))
	for i, g := range old.GroupForms {
		groups[i] = widenText(g, ws)
	}
	m := &migrating{old: old, next: next, ws: ws, d: derivation{held: newTerms(groups, old.GroupTypes, "g"), used: map[string]bool{}},
		out: &Partials{Operator: old.ID, GroupTypes: old.GroupTypes, PartialTypes: old.PartialTypes}}
	for _, step := range []func() string{m.where, m.groups, m.partials} {
		if misses := step(); misses != "" {
			return migration{misses: misses}
		}
	}
	return migration{partials: m.out, reason: m.reason(form, groups)}
}

// migrating is a migration under way.
type migrating struct {
	old, next compile.Aggregate
	ws        []widening
	d         derivation // over the old groups
	out       *Partials
	notes     []string
}

// where keeps whole groups: a condition must be about groups alone.
func (m *migrating) where() string {
	had := widenForm(m.old.Form, m.ws).Preds
	var where []string
	for _, p := range m.next.Form.Preds {
		if slices.Contains(had, p) {
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
	for _, g := range m.next.GroupForms {
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
	for _, p := range m.next.Partials {
		at := slices.IndexFunc(m.old.Partials, func(o logical.Partial) bool { return widenPartial(o, m.ws) == p.Form })
		switch sql, ok := m.constant(p); {
		case at >= 0 && m.out.Merge:
			m.out.Partials = append(m.out.Partials, merged(m.old.Partials[at], fmt.Sprint("p", at), m.old.PartialTypes[at]))
		case at >= 0:
			m.out.Partials = append(m.out.Partials, fmt.Sprint("p", at))
		case ok:
			m.out.Partials = append(m.out.Partials, sql)
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

// reason says what the new aggregate makes of the old one.
func (m *migrating) reason(form logical.Form, groups []string) string {
	var gone []string
	for i, g := range groups {
		if !m.mentions(fmt.Sprint("g", i)) {
			gone = append(gone, words(g))
		}
	}
	if len(gone) > 0 {
		word := " is no longer a group: partials merge"
		if len(gone) > 1 {
			word = " are no longer groups: partials merge"
		}
		m.notes = append(m.notes, list(gone)+word)
	}
	for _, p := range m.old.Partials {
		if form := widenPartial(p, m.ws); !slices.ContainsFunc(m.next.Partials, func(n logical.Partial) bool { return n.Form == form }) {
			m.notes = append(m.notes, "the partial of "+partialWords(p)+" is dropped")
		}
	}
	texts := append(slices.Clone(form.Preds), groups...)
	for _, p := range m.old.Partials {
		texts = append(texts, widenPartial(p, m.ws))
	}
	used := columns(texts...)
	for _, w := range m.ws {
		if slices.Contains(used, w.after) {
			m.notes = append(m.notes, fmt.Sprintf("%s is %s instead of %s: what is held is cast", w.after.Name, w.after.Type, w.before.Type))
		}
	}
	if len(m.notes) == 0 {
		return "the same groups and partials in another order"
	}
	slices.Sort(m.notes)
	return strings.Join(slices.Compact(m.notes), "; ")
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
