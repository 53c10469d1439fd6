package compile

import (
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
)

// TypedPartials is SQL for an input's groups and partials, every column of the type it is remembered with.
func (a Aggregate) TypedPartials(input string) string {
	var list []string
	for i, g := range a.GroupNames() {
		list = append(list, fmt.Sprintf("CAST(%s AS %s) AS %s", g, a.GroupTypes[i], g))
	}
	for i, p := range a.PartialNames() {
		list = append(list, fmt.Sprintf("CAST(%s AS %s) AS %s", p, a.PartialTypes[i], p))
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM (" + PartialSQL(a.Aggregate, input) + ")"
}

// NetPartials is SQL for the partials of rows that came less those of rows that were taken back.
func (a Aggregate) NetPartials(came, gone string) string {
	negated, sums := a.GroupNames(), a.GroupNames()
	for i, p := range a.PartialNames() {
		if a.Partials[i].Grows { // nothing to subtract
			negated = append(negated, "NULL AS "+p)
			sums = append(sums, fmt.Sprintf("coalesce(any_value(%[1]s), CAST(%[3]s AS %[2]s)) AS %[1]s", p, a.PartialTypes[i], a.Partials[i].Zero))
			continue
		}
		negated = append(negated, "- "+p+" AS "+p)
		sums = append(sums, fmt.Sprintf("CAST(sum(%s) AS %s) AS %s", p, a.PartialTypes[i], p))
	}
	sql := fmt.Sprintf("SELECT %s FROM (%s UNION ALL SELECT %s FROM (%s))", strings.Join(sums, ", "),
		a.TypedPartials(came), strings.Join(negated, ", "), a.TypedPartials(gone))
	if !a.Scalar() {
		sql += " GROUP BY ALL"
	}
	return sql
}

// MergedPartials is SQL that joins new partials with the remembered ones of the same groups in the same order, all NULL where there are none. Of
// each group it gives the merged partials, had (something was remembered), and what was: o0, o1, ….
func (a Aggregate) MergedPartials(now, before string) string {
	list := []string{}
	for _, g := range a.GroupNames() {
		list = append(list, "n."+g)
	}
	for i, p := range a.PartialNames() {
		merge := strings.NewReplacer("$o", "o."+p, "$n", "n."+p).Replace(a.Partials[i].Merge)
		list = append(list, fmt.Sprintf("CASE WHEN o.i IS NULL THEN n.%[1]s ELSE CAST(%[2]s AS %[3]s) END AS %[1]s", p, merge, a.PartialTypes[i]))
	}
	list = append(list, "o.i IS NOT NULL AS had")
	for i, p := range a.PartialNames() {
		list = append(list, fmt.Sprintf("o.%s AS o%d", p, i))
	}
	return fmt.Sprintf("SELECT %s FROM %s n POSITIONAL JOIN %s o", strings.Join(list, ", "), now, before)
}

// Differing are the output rows of MergedPartials' groups that are not as they were, as they are and as they were.
func (a Aggregate) Differing(merged string) (is, was string) {
	list := strings.Join(OutputList(a.Aggregate), ", ")
	alive := "true"
	if a.Retracts && !a.Scalar() {
		alive = fmt.Sprintf("p%d <> 0", a.Counter)
	}
	names, kept, before := Numbered("c", len(a.OutputTypes)), make([]string, len(a.OutputTypes)), make([]string, len(a.OutputTypes))
	differs := []string{"NOT had", "NOT lives"}
	for i, n := range names {
		now := fmt.Sprintf("n%d", i)
		kept[i], before[i] = n+" AS "+now, now
		if i < len(a.GroupTypes) {
			continue
		}
		differs = append(differs, now+" IS DISTINCT FROM "+n)
		if tell := bound.Telling(now, a.OutputTypes[i]); tell != "" {
			differs = append(differs, tell+" IS DISTINCT FROM "+bound.Telling(n, a.OutputTypes[i]))
		}
	}
	carried, old := append(a.GroupNames(), "had"), append(a.GroupNames(), "had", "lives")
	for i, p := range a.PartialNames() {
		carried, old = append(carried, fmt.Sprintf("o%d", i)), append(old, fmt.Sprintf("o%d AS %s", i, p))
	}
	both := fmt.Sprintf("(SELECT %[1]s, had, lives, %[2]s FROM (SELECT %[1]s, %[3]s FROM (SELECT %[4]s, lives, %[5]s FROM (SELECT %[2]s, %[6]s AS lives, %[5]s FROM %[7]s))))",
		strings.Join(before, ", "), list, strings.Join(old, ", "), strings.Join(kept, ", "), strings.Join(carried, ", "), alive, merged)
	differ := "(" + strings.Join(differs, " OR ") + ")"
	for i, n := range names {
		kept[i] = fmt.Sprintf("n%d AS %s", i, n)
	}
	return fmt.Sprintf("(SELECT %s FROM %s WHERE lives AND %s)", strings.Join(kept, ", "), both, differ),
		fmt.Sprintf("(SELECT %s FROM %s WHERE had AND %s)", strings.Join(names, ", "), both, differ)
}
