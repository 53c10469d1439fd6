package scan

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/result"
)

// Loose reads one file without failing at values that do not fit.
type Loose struct {
	SQL     string   // rows with column l, the line or number of each record, and what Typed and Rescued need
	Typed   []string // an expression per column of the source: the value, or NULL where it does not fit
	Lines   bool     // l is a line of the file; otherwise the number of the record among those that can be read
	Rescued string   // JSON object of the values that did not fit, or NULL
	Unknown string   // JSON object of the values that the source has no column for, or NULL
}

// LooseJSON reads what CleanJSON wrote.
func LooseJSON(s batch.Scan, cleaned Cleaned) Loose {
	shape, names := map[string]string{}, spelled(s.Columns, cleaned.From)
	for i, c := range s.Columns {
		shape[names[i]] = fitOf(c.Type).wide
	}
	structure, err := json.Marshal(shape)
	if err != nil {
		structure = []byte("{}")
	}
	l := Loose{Lines: !cleaned.Values, Unknown: "u", SQL: "SELECT l, r, u, json_transform(r, " + bound.Text(string(structure)) + ") AS v FROM read_json(" + bound.Text(cleaned.Path) +
		", columns = {l: 'BIGINT', r: 'JSON', u: 'JSON'}, format = 'newline_delimited'" + fmt.Sprintf(", maximum_object_size = %d)", max(cleaned.Longest, 1<<20))}
	raws := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		typed := fitOf(c.Type).loose("v[" + bound.Text(names[i]) + "]")
		pointer := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(names[i])
		raw := "json_extract(r, " + bound.Text(pointer) + ")"
		raws[i] = "CASE WHEN " + result.Lost(c.Type, typed, raw) + " THEN " + raw + " END"
		l.Typed = append(l.Typed, typed)
	}
	l.Rescued = rescuedObject(s.Columns, raws)
	return l
}

// Known are the members that a JSON file's records may have; nil: any, and nobody looks.
func Known(s batch.Scan, path string) *result.Members {
	if s.Unknown == "" {
		return nil
	}
	return membersOf(s.Columns, spelled(s.Columns, path))
}

// LooseParquet reads one Parquet file, casting what can be cast. The columns that the file has are looked at where unknown ones matter.
func LooseParquet(s batch.Scan, f batch.File, there batch.Schema) Loose {
	nulls := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		nulls[i] = "CAST(NULL AS " + c.Type + ") AS " + bound.Ident(c.Name)
	}
	from := "(SELECT " + strings.Join(nulls, ", ") + " WHERE false UNION ALL BY NAME SELECT * FROM read_parquet(" + list([]string{f.Path}) +
		", hive_partitioning = false" + options(s.Format) + "))"
	l := looseColumns(s, "SELECT row_number() OVER () AS l, * FROM "+from, s.Columns, func(x, t string) string { return "TRY_CAST(" + x + " AS " + t + ")" })
	var unknown []leftColumn
	for _, c := range there {
		x := bound.Ident(c.Name)
		at := columnAt(s.Columns, c.Name)
		if at < 0 {
			unknown = append(unknown, leftColumn{name: c.Name, x: x, test: x + " IS NOT NULL"})
			continue
		}
		if has, known := result.MembersOf(c.Type), result.MembersOf(s.Columns[at].Type); lacks(has, known) {
			unknown = append(unknown, leftColumn{name: c.Name, x: x, test: stray(x, has, known, 0)})
		}
	}
	l.Unknown = unknownColumns(unknown)
	return l
}

// LooseCSV reads one CSV file as text; records with another number of fields go to DuckDB's table reject_errors.
func LooseCSV(s batch.Scan, f batch.File) (Loose, error) {
	d := dialectOf(s.Format)
	h, err := header(s, d, f.Path)
	if err != nil {
		return Loose{}, err
	}
	typed := func(x, t string) string { f := fitOf(t); return f.loose("TRY_CAST(" + x + " AS " + f.wide + ")") }
	columns := fileColumns(s, h.names)
	for i := range columns {
		columns[i].Type = "VARCHAR"
	}
	if len(columns) == 0 {
		return looseColumns(s, "SELECT CAST(NULL AS BIGINT) AS l WHERE false", nil, typed), nil
	}
	sql := "SELECT row_number() OVER () AS l, * FROM read_csv(" + list([]string{f.Path}) + ", columns = " + structOf(columns) +
		", store_rejects = true" + d.options(h.skip) + options(s.Format, dialectOptions()...) + ")"
	l := looseColumns(s, sql, columns, typed)
	if s.Unknown != "" {
		var unknown []leftColumn
		for _, i := range strangers(s, h.names) {
			x := bound.Ident(columns[i].Name)
			unknown = append(unknown, leftColumn{name: h.names[i], x: x, test: x + " IS NOT NULL"})
		}
		l.Unknown = unknownColumns(unknown)
	}
	return l, nil
}

// looseColumns gives the columns that are there their types, by SQL for a value in a type, or NULL; the others are NULL.
func looseColumns(s batch.Scan, sql string, there batch.Schema, cast func(x, t string) string) Loose {
	l := Loose{SQL: sql, Unknown: "CAST(NULL AS JSON)"}
	names := make([]string, len(there))
	for i, c := range there {
		names[i] = c.Name
	}
	raws := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		if !has(names, c.Name) {
			l.Typed = append(l.Typed, "CAST(NULL AS "+c.Type+")")
			raws[i] = "NULL"
			continue
		}
		typed := cast(bound.Ident(c.Name), c.Type)
		l.Typed = append(l.Typed, typed)
		raws[i] = "CASE WHEN " + typed + " IS NULL THEN to_json(" + bound.Ident(c.Name) + ") END"
	}
	l.Rescued = rescuedObject(s.Columns, raws)
	return l
}

// rescuedObject gathers the values that did not fit under their column names.
func rescuedObject(columns batch.Schema, raws []string) string {
	parts := make([]string, 0, len(columns))
	tests := make([]string, 0, len(columns))
	for i, c := range columns {
		if raws[i] == "NULL" {
			continue
		}
		parts = append(parts, "CASE WHEN "+raws[i]+" IS NOT NULL THEN json_object("+bound.Text(c.Name)+", "+raws[i]+") ELSE '{}'::JSON END")
		tests = append(tests, "("+raws[i]+") IS NOT NULL")
	}
	if len(parts) == 0 {
		return "CAST(NULL AS JSON)"
	}
	merged := parts[0]
	if len(parts) > 1 {
		merged = "json_merge_patch(" + strings.Join(parts, ", ") + ")"
	}
	return "CASE WHEN " + strings.Join(tests, " OR ") + " THEN " + merged + " END"
}

// WithMetadata reads admitted rows, which carry FileColumn and sf$line, as the source's columns.
func WithMetadata(s batch.Scan, files []batch.File, table string) string {
	if len(s.Metadata) == 0 {
		return "SELECT " + outputColumns(s) + " FROM " + table
	}
	return selectFrom(s, files, table)
}
