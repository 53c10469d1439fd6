// Package nexmark holds the queries of Nexmark as streams and views.
package nexmark

import (
	_ "embed"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
)

//go:embed queries.sql
var queryText string

// Query is one query over person, auction, bid and side_input.
type Query struct {
	Name   string // q0, or q5pane for another form of q5
	SQL    string
	Stream bool // its rows are never taken back
}

// Queries lists all forms, by number.
func Queries() []Query {
	var out []Query
	for _, part := range strings.Split(queryText, "\n-- q")[1:] {
		head, sql, _ := strings.Cut(part, "\n")
		number, stream := strings.CutSuffix(head, " stream")
		out = append(out, Query{Name: "q" + number, SQL: strings.TrimSpace(sql), Stream: stream})
	}
	return out
}

// SideInput are the columns of the small table that q13 looks up: (i, i) for i from 0 to 9999.
func SideInput() batch.Schema {
	return batch.Schema{{Name: "key", Type: "BIGINT"}, {Name: "value", Type: "VARCHAR"}}
}
