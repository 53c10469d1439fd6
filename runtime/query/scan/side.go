package scan

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
)

// SideColumns are the columns of a source's side relation (malformed, rescued); nil for any other name.
func SideColumns(side string) batch.Schema {
	var own batch.Column
	switch side {
	case "malformed":
		own = batch.Column{Name: "raw", Type: "BLOB"}
	case "rescued":
		own = batch.Column{Name: "data", Type: "JSON"}
	default:
		return nil
	}
	return batch.Schema{own, {Name: "_reason", Type: "VARCHAR"}, {Name: "_rules", Type: "VARCHAR[]"}, {Name: "_detail", Type: "VARCHAR"},
		{Name: "_source", Type: "VARCHAR"}, {Name: "_position", Type: "JSON"}, {Name: "_epoch", Type: "BIGINT"}, {Name: "_committed_at", Type: "TIMESTAMP"}}
}

// Aside is a malformed record, and where and when it was found.
type Aside struct {
	Bad
	Path   string // of the file
	Source string // address
	Epoch  int64
	At     string // as a TIMESTAMP literal without the word
}

// SideRow is a malformed record as a row of its side relation, in SQL.
func SideRow(a Aside) string {
	raw := "NULL"
	if a.Raw != nil {
		raw = "from_hex('" + hex.EncodeToString(a.Raw) + "')"
	}
	position := map[string]any{"file": a.Path}
	if a.Line > 0 {
		position["line"] = a.Line
	}
	if a.Row > 0 {
		position["row"] = a.Row
	}
	doc, err := json.Marshal(position)
	if err != nil {
		doc = []byte("{}")
	}
	return fmt.Sprintf("(%s, %s, NULL, NULL, %s, CAST(%s AS JSON), %d, TIMESTAMP %s)", raw, bound.Text(strings.ToValidUTF8(a.Reason, "?")),
		bound.Text(a.Source), bound.Text(string(doc)), a.Epoch, bound.Text(a.At))
}
