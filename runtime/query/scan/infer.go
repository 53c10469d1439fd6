package scan

import (
	"context"
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
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
		return nil, &statement.Error{Summary: "Columns cannot be inferred", Detail: fmt.Sprintf("The sample of %d files holds no records with columns. Declare columns.", len(sample))}
	}
	if bad := compile.UniqueColumns(out); bad != nil {
		return nil, &statement.Error{Summary: "Columns cannot be inferred", Detail: bad.Detail + " Declare columns."}
	}
	return out, nil
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
