package scan

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/statement"
)

// Infer finds the columns of files by reading a sample within the scan's bounds.
// What the files themselves get wrong is a *statement.Error without a place.
func Infer(ctx context.Context, conn *duck.Conn, s batch.Scan, files []batch.File) (batch.Schema, error) {
	sample := withinBounds(s, files)
	if len(sample) == 0 {
		return nil, &statement.Error{Summary: "No files to infer columns from", Detail: "No matching file was found. Put one in place, or declare columns."}
	}
	if sample = begun(s, sample); len(sample) == 0 {
		return nil, &statement.Error{Summary: "Columns cannot be inferred", Detail: "The files hold no records, nor a header that names columns. Put one in place that does, or declare columns."}
	}
	rows, err := conn.Text(ctx, "SELECT column_name, column_type FROM (DESCRIBE "+Inference(s, sample)+")")
	if err != nil {
		return nil, &statement.Error{Summary: "Columns cannot be inferred", Detail: "Reading a sample of the files failed: " + compile.FirstLine(err.Error()) + ". Declare columns, or mend or exclude the file."}
	}
	var out batch.Schema
	for _, r := range rows {
		if *r[0] == FileColumn {
			continue
		}
		out = append(out, batch.Column{Name: *r[0], Type: plainType(*r[1])})
	}
	if len(out) == 0 || len(out) == 1 && out[0].Name == "json" && s.Format.Name == "json" {
		return nil, &statement.Error{Summary: "Columns cannot be inferred", Detail: stranger(sample)}
	}
	why := unnamable(out)
	if why == "" {
		why = madeUp(ctx, conn, s, sample, out)
	}
	if why != "" {
		return nil, &statement.Error{Summary: "Columns cannot be inferred", Detail: why}
	}
	return out, nil
}

// numbered is a name as DuckDB's readers make it of one that is there already.
var numbered = regexp.MustCompile(`^(.*)_[0-9]+$`)

// madeUp says which column has a name that is in no file: the readers give one where the files have none, or one twice.
func madeUp(ctx context.Context, conn *duck.Conn, s batch.Scan, sample []batch.File, columns batch.Schema) string {
	twice := "The files have a column %q twice, where names are compared without case. Declare columns; the first of the two is read."
	switch s.Format.Name {
	case "csv":
		var names []string
		for _, f := range sample {
			h, err := header(batch.Scan{}, dialectOf(s.Format), f.Path)
			if err != nil || !dialectOf(s.Format).header {
				return ""
			}
			names = append(names, h.names...)
		}
		for _, c := range columns {
			of := numbered.FindStringSubmatch(c.Name)
			switch {
			case slices.Contains(names, c.Name):
			case of != nil && has(names, of[1]):
				return fmt.Sprintf(twice, of[1])
			default:
				return "A column has no name in the header. Declare columns: those with a name are read."
			}
		}
	case "json":
		for _, c := range columns {
			of := numbered.FindStringSubmatch(c.Name)
			if of == nil || !slices.ContainsFunc(columns, func(o batch.Column) bool { return strings.EqualFold(o.Name, of[1]) }) {
				continue
			}
			found, err := conn.Text(ctx, "SELECT CAST(count(*) AS VARCHAR) FROM read_json("+list(paths(sample))+", columns = "+structOf(batch.Schema{{Name: c.Name, Type: "JSON"}})+
				", ignore_errors = true"+recordLimits(s.Format, sample)+options(s.Format)+") WHERE "+bound.Ident(c.Name)+" IS NOT NULL")
			if err == nil && *found[0][0] == "0" && c.Type != "JSON" {
				return fmt.Sprintf(twice, of[1])
			}
		}
	}
	return ""
}

// begun leaves out files without a record: CSV files without even a header, of which DuckDB would make up a column.
func begun(s batch.Scan, sample []batch.File) []batch.File {
	return slices.DeleteFunc(slices.Clone(sample), func(f batch.File) bool {
		if s.Format.Name != "csv" {
			return f.Size == 0 && s.Format.Name == "json"
		}
		d := dialectOf(s.Format)
		d.header = true
		h, err := header(batch.Scan{}, d, f.Path)
		return err == nil && h.names == nil
	})
}

// stranger says which record keeps JSON files from having columns.
func stranger(sample []batch.File) string {
	for _, f := range sample {
		r, err := Open(f.Path)
		if err != nil {
			continue
		}
		defer r.Close()
		in := bufio.NewScanner(r)
		in.Buffer(nil, firstLineLimit)
		for line := 1; in.Scan(); line++ {
			if text := bytes.TrimSpace(in.Bytes()); len(text) > 0 && invalid(text) == notObject && !(line == 1 && text[0] == '[') {
				return fmt.Sprintf("%s:%d is not a JSON object: %s. Declare columns: such records are then set aside as malformed. Or mend or exclude the file.", f.Path, line, shortened(string(text)))
			}
		}
	}
	return "The files hold no JSON objects with members. Put one in place that does, or declare columns."
}

// unnamable says which columns the files have that cannot be told apart or named.
func unnamable(columns batch.Schema) string {
	for _, c := range columns {
		if strings.ContainsRune(c.Name, 0) {
			return fmt.Sprintf("The name of a column holds a NUL character: %q. Files in UTF-16 look like this; convert them to UTF-8. Or declare columns.", c.Name)
		}
	}
	if twice := compile.UniqueColumns(columns); twice != nil {
		return "The files have two columns of one name, where names are compared without case. Declare columns, with one of the two."
	}
	return ""
}

// plainType replaces the type of a column without any value: it may hold anything.
func plainType(t string) string {
	if t == `"NULL"` || t == "NULL" {
		return "JSON"
	}
	return strings.ReplaceAll(t, `"NULL"`, "VARCHAR")
}

func withinBounds(s batch.Scan, files []batch.File) []batch.File {
	var out []batch.File
	var bytes int64
	for _, f := range files {
		if s.InferFiles > 0 && int64(len(out)) >= s.InferFiles {
			break
		}
		if s.InferBytes > 0 && bytes >= s.InferBytes && len(out) > 0 {
			break
		}
		out = append(out, f)
		bytes += f.Size
	}
	return out
}
