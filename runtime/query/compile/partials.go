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

// MergedPartials is SQL that joins new partials with the remembered ones, whose column i is the row's number among the new. Of
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
	return fmt.Sprintf("SELECT %s FROM (SELECT row_number() OVER () - 1 AS i, * FROM %s) n LEFT JOIN %s o ON n.i = o.i", strings.Join(list, ", "), now, before)
}

// Differing are the rows of MergedPartials' groups that are not as they were, as they are and as they were.
func (a Aggregate) Differing(merged string) (is, was string) {
	list := strings.Join(OutputList(a.Aggregate), ", ")
	alive := merged
	if a.Retracts && !a.Scalar() {
		alive = fmt.Sprintf("(SELECT * FROM %s WHERE p%d <> 0)", merged, a.Counter)
	}
	differs := []string{"NOT had"}
	for i := range a.PartialTypes {
		differs = append(differs, fmt.Sprintf("p%d IS DISTINCT FROM o%d", i, i))
		if tell := bound.Telling(fmt.Sprintf("p%d", i), a.PartialTypes[i]); tell != "" {
			differs = append(differs, tell+" IS DISTINCT FROM "+bound.Telling(fmt.Sprintf("o%d", i), a.PartialTypes[i]))
		}
	}
	old := a.GroupNames()
	for i, p := range a.PartialNames() {
		old = append(old, fmt.Sprintf("o%d AS %s", i, p))
	}
	return fmt.Sprintf("(SELECT %s FROM %s WHERE %s)", list, alive, strings.Join(differs, " OR ")),
		fmt.Sprintf("(SELECT %s FROM (SELECT %s FROM %s WHERE had AND (%s)))", list, strings.Join(old, ", "), merged, strings.Join(append(differs[1:], "false"), " OR "))
}
