package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/graph/plan/columns"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/state"
)

// columnsChange says what other columns of a source mean for what was read: columns that come or go are a matter of the queries
// that name them, and a wider type holds what the narrower one held. All else needs the bytes of the source again.
func columnsChange(before, after *state.Relation) (Class, string) {
	if before == nil || after == nil {
		return ReplayFromSource, "its columns have changed"
	}
	var wider, added, gone []string
	for _, c := range after.Columns {
		i := slices.IndexFunc(before.Columns, func(b batch.Column) bool { return strings.EqualFold(b.Name, c.Name) })
		switch {
		case i < 0:
			added = append(added, c.Name)
		case before.Columns[i].Type == c.Type:
		case columns.Widens(before.Columns[i].Type, c.Type):
			wider = append(wider, c.Name)
		default:
			return ReplayFromSource, fmt.Sprintf("%s was %s and is to be %s, which may not hold what was read", c.Name, before.Columns[i].Type, c.Type)
		}
	}
	for _, c := range before.Columns {
		if !slices.ContainsFunc(after.Columns, func(a batch.Column) bool { return strings.EqualFold(a.Name, c.Name) }) {
			gone = append(gone, c.Name)
		}
	}
	var parts []string
	for _, p := range []struct {
		names []string
		what  string
	}{{wider, "wider"}, {added, "new"}, {gone, "gone"}} {
		if len(p.names) > 0 {
			parts = append(parts, strings.Join(p.names, ", ")+" "+p.what)
		}
	}
	if len(parts) == 0 {
		return InPlace, ""
	}
	return InPlace, "columns: " + strings.Join(parts, "; ")
}

// NewColumns observes that files have columns which a source, whose columns were found in its data before, does not have.
func NewColumns(r state.Resource, found batch.Schema) (Observation, bool) {
	var added []string
	var all batch.Schema
	var says struct {
		Metadata  []string
		Columns   map[string]string
		Evolution string `json:"schema_evolution"`
	}
	if json.Unmarshal(r.Attributes, &says) != nil {
		return Observation{}, false
	}
	for _, c := range r.Relation.Columns {
		if !slices.Contains(says.Metadata, c.Name) { // those are added to what is declared
			all = append(all, c)
		}
	}
	for _, c := range found {
		if !slices.ContainsFunc(r.Relation.Columns, func(had batch.Column) bool { return strings.EqualFold(had.Name, c.Name) }) {
			added, all = append(added, c.Name+" "+c.Type), append(all, c)
		}
	}
	if len(added) == 0 {
		return Observation{}, false
	}
	what, them := "a column", "it"
	if len(added) > 1 {
		what, them = "columns", "them"
	}
	list := strings.Join(added, ", ")
	kept, again := ", and which no query can read", fmt.Sprintf("To read everything again with the columns that are found now, plan with -replace=%s.", r.Addr)
	if says.Columns != nil {
		again = `With history = "restate" beside them, everything is read again from the files.`
	}
	if says.Evolution == "propose" {
		kept = fmt.Sprintf(", and whose values are kept in %s.rescued", r.Addr.Relation())
	}
	return Observation{Addr: r.Addr, Kind: DriftNewColumns, Mark: list, Proposal: columns.Proposal(all),
		Detail: fmt.Sprintf("The newest files have %s that %s was planned without%s: %s.", what, r.Addr, kept, list),
		Advice: fmt.Sprintf("To read %s from the next epoch on, declare the columns as below. %s To leave %s out, apply with -refresh-only.", them, again, them)}, true
}
