// Package scan writes the SQL that reads a source's files, and sets aside by hand what DuckDB's readers would reject.
package scan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
)

// FileColumn is the column that names each row's file where it is asked for.
const FileColumn = "sf$file"

// Plan is how one epoch's files of a source are read.
type Plan struct {
	SQL string // a SELECT of the source's columns, in order
	// Count, if set, is SQL for the number of rows in each file: path, rows.
	Count string
	// Lines: each file holds one record per line that is not blank, so lines are rows.
	Lines bool
}

// Make plans a strict scan: it fails at the first record that does not fit. The
// files' beginnings are looked at to tell lines from arrays, and to match CSV columns by name.
func Make(s batch.Scan, files []batch.File) (Plan, error) {
	if len(files) == 0 {
		return Plan{SQL: Empty(s)}, nil
	}
	byFile := needsFile(s)
	switch s.Format.Name {
	case "json":
		if !byFile && allLines(files) {
			return Plan{SQL: "SELECT " + outputColumns(s) + " FROM " + jsonLines(s, files), Lines: true}, nil
		}
		return Plan{SQL: selectFrom(s, files, jsonAny(s, files)), Count: rowsByFile(jsonAny(narrow(s), files))}, nil
	case "csv":
		from, err := csvGroups(s, files)
		if err != nil {
			return Plan{}, err
		}
		return Plan{SQL: selectFrom(s, files, from), Count: rowsByFile(from)}, nil
	case "parquet":
		return Plan{SQL: selectFrom(s, files, parquet(s, paths(files))), Count: footerRows(files)}, nil
	}
	return Plan{}, fmt.Errorf("files of format %q cannot be read", s.Format.Name)
}

// narrow keeps one column: enough to count rows.
func narrow(s batch.Scan) batch.Scan {
	s.Columns = s.Columns[:min(len(s.Columns), 1)]
	return s
}

// rowsByFile counts the rows that carry FileColumn.
func rowsByFile(from string) string {
	return `SELECT "sf$file", CAST(count(*) AS VARCHAR) FROM ` + from + " GROUP BY 1"
}

// Look reads rows to no end but to meet what does not fit.
func Look(columns batch.Schema, from string) string {
	counts := make([]string, len(columns))
	for i, column := range columns {
		counts[i] = "count(" + bound.Ident(column.Name) + ")"
	}
	return "SELECT CAST([" + strings.Join(counts, ", ") + "] AS VARCHAR) FROM " + from
}

// Empty is a scan of no files, with the right columns.
func Empty(s batch.Scan) string {
	parts := make([]string, 0, len(s.Columns))
	for _, c := range Columns(s) {
		parts = append(parts, "CAST(NULL AS "+c.Type+") AS "+bound.Ident(c.Name))
	}
	return "SELECT " + strings.Join(parts, ", ") + " WHERE false"
}

// Columns are a source's columns as SQL sees them: declared or inferred, then metadata.
func Columns(s batch.Scan) batch.Schema {
	out := slices.Clone(s.Columns)
	types := map[string]string{"_file_path": "VARCHAR", "_file_name": "VARCHAR", "_file_size": "BIGINT", "_file_modified_at": "TIMESTAMP", "_row_number": "BIGINT"}
	for _, m := range s.Metadata {
		out = append(out, batch.Column{Name: m, Type: types[m]})
	}
	return out
}

func needsFile(s batch.Scan) bool { return len(s.Metadata) > 0 }

func outputColumns(s batch.Scan) string {
	parts := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		parts[i] = bound.Ident(c.Name)
	}
	return strings.Join(parts, ", ")
}

// selectFrom reads the source's columns, metadata included, from rows that carry FileColumn.
func selectFrom(s batch.Scan, files []batch.File, from string) string {
	list := []string{outputColumns(s)}
	join := ""
	for _, m := range s.Metadata {
		switch m {
		case "_file_path":
			list = append(list, `"sf$file" AS _file_path`)
		case "_file_name":
			list = append(list, `parse_filename("sf$file") AS _file_name`)
		case "_file_size", "_file_modified_at":
			list = append(list, `f."`+m+`"`)
			join = " LEFT JOIN (" + fileFacts(files) + `) f ON f.path = r."sf$file"`
		case "_row_number":
			from = `(SELECT *, sf$row - min(sf$row) OVER (PARTITION BY "sf$file") + 1 AS _row_number FROM (SELECT *, row_number() OVER () AS sf$row FROM ` + from + "))"
			list = append(list, "_row_number")
		}
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM " + from + " r" + join
}

func fileFacts(files []batch.File) string {
	rows := make([]string, len(files))
	for i, f := range files {
		rows[i] = fmt.Sprintf("(%s, %d::BIGINT, make_timestamp(%d))", bound.Text(f.Path), f.Size, f.ModifiedAt.UnixMicro())
	}
	return "SELECT * FROM (VALUES " + strings.Join(rows, ", ") + ") v(path, _file_size, _file_modified_at)"
}

func paths(files []batch.File) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.Path
	}
	return out
}

// list writes file names as an SQL list. Names are taken literally: characters that mean a pattern are escaped.
func list(paths []string) string {
	parts := make([]string, len(paths))
	for i, p := range paths {
		parts[i] = bound.Text(literal(p))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func literal(path string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(path)
}

func structOf(columns batch.Schema) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = bound.Ident(c.Name) + ": " + bound.Text(c.Type)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// options writes a format's reader options, except those written already.
func options(f batch.Format, but ...string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(f.Options)) {
		if !slices.Contains(but, k) {
			b.WriteString(", " + k + " = " + value(f.Options[k]))
		}
	}
	return b.String()
}

// value writes an option's value: numbers and booleans bare, all else as text.
func value(v string) string {
	if v == "true" || v == "false" {
		return v
	}
	if v != "" && strings.Trim(v, "0123456789") == "" {
		return v
	}
	return bound.Text(v)
}

// recordLimits bounds a record by the largest file, where that is less than DuckDB's own bound of 16 MiB: a reader sets
// aside twice as much for each file that is open.
func recordLimits(f batch.Format, files []batch.File) string {
	const most, least = 16 << 20, 64 << 10
	largest := int64(least)
	for _, f := range files {
		if Compressed(f.Path) || f.Size == 0 {
			return ""
		}
		largest = max(largest, f.Size+1)
	}
	if _, set := f.Options["maximum_object_size"]; set || largest >= most {
		return ""
	}
	return fmt.Sprintf(", maximum_object_size = %d", largest)
}

func jsonLines(s batch.Scan, files []batch.File) string {
	return together(s, files, func(of alike) string {
		return fitted(s.Columns, of.names, "read_json("+list(paths(of.files))+", columns = "+structOf(named(wide(s.Columns), of.names))+
			", format = 'newline_delimited'"+recordLimits(s.Format, of.files)+options(s.Format, "format")+")")
	})
}

func jsonAny(s batch.Scan, files []batch.File) string {
	return together(s, files, func(of alike) string {
		return fitted(s.Columns, of.names, "read_json("+list(paths(of.files))+", columns = "+structOf(named(wide(s.Columns), of.names))+
			", filename = '"+FileColumn+"'"+recordLimits(s.Format, of.files)+options(s.Format)+")", bound.Ident(FileColumn))
	})
}

// parquet reads columns by name: one that no file has is NULL, and values take the declared type.
func parquet(s batch.Scan, paths []string) string {
	parts := make([]string, len(s.Columns))
	typed := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		parts[i] = "CAST(NULL AS " + c.Type + ") AS " + bound.Ident(c.Name)
		typed[i] = "CAST(" + bound.Ident(c.Name) + " AS " + c.Type + ") AS " + bound.Ident(c.Name)
	}
	return "(SELECT " + strings.Join(typed, ", ") + `, "sf$file" FROM (SELECT ` + strings.Join(parts, ", ") +
		" WHERE false UNION ALL BY NAME SELECT * FROM read_parquet(" + list(paths) +
		", union_by_name = true, hive_partitioning = false, filename = '" + FileColumn + "'" + options(s.Format) + ")))"
}

// footerRows counts rows by what the Parquet files' own footers tell.
func footerRows(files []batch.File) string {
	return "SELECT file_name, CAST(num_rows AS VARCHAR) FROM parquet_file_metadata(" + list(paths(files)) + ")"
}

// Inference is SQL over a sample of files whose result has the columns the files have.
func Inference(s batch.Scan, files []batch.File) string {
	switch s.Format.Name {
	case "csv":
		d := dialectOf(s.Format)
		typed := ""
		if !s.InferTypes {
			typed = ", all_varchar = true"
		}
		return fmt.Sprintf("SELECT * FROM read_csv(%s, header = %t, delim = %s, quote = %s, escape = %s, skip = %d, sample_size = -1, union_by_name = true, ignore_errors = true, hive_partitioning = false%s%s)",
			list(paths(files)), d.header, bound.Text(d.delim), bound.Text(d.quote), bound.Text(d.escape), d.skip, typed, options(s.Format, dialectOptions()...))
	case "parquet":
		return "SELECT * FROM read_parquet(" + list(paths(files)) + ", union_by_name = true, hive_partitioning = false" + options(s.Format) + ")"
	}
	depth := ""
	if !s.InferTypes {
		depth = ", maximum_depth = 1"
	}
	return "SELECT * FROM read_json(" + list(paths(files)) + ", union_by_name = true, sample_size = -1, ignore_errors = true, hive_partitioning = false, map_inference_threshold = -1, convert_strings_to_integers = false" + depth + recordLimits(s.Format, files) + options(s.Format) + ")"
}
