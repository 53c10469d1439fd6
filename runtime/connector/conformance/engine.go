// Package conformance is the suite that all connectors pass.
//
// Its tests run on a real DuckDB that the caller opens, so that this package itself needs none.
package conformance

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
)

// Stager runs a sink's statements on a DuckDB database.
type Stager struct {
	DB *sql.DB
	// BeforeCopy, if set, may make a Copy fail.
	BeforeCopy func(path string) error
}

var _ connector.Stager = (*Stager)(nil)

// Copy runs COPY. Statistics come from RETURN_STATS.
func (s *Stager) Copy(ctx context.Context, query, path string, format batch.Format) (connector.Written, error) {
	if s.BeforeCopy != nil {
		if err := s.BeforeCopy(path); err != nil {
			return connector.Written{}, err
		}
	}
	options := []string{"FORMAT " + format.Name}
	for name, value := range format.Options {
		options = append(options, name+" "+literal(value))
	}
	slices.Sort(options[1:])
	written := connector.Written{Path: path}
	if format.Name != "parquet" {
		statement := fmt.Sprintf("COPY (%s) TO %s (%s)", query, literal(path), strings.Join(options, ", "))
		err := s.DB.QueryRowContext(ctx, statement).Scan(&written.Rows)
		if err != nil {
			return written, err
		}
		info, err := os.Stat(path)
		if err != nil {
			return written, err
		}
		written.Bytes = info.Size()
		return written, nil
	}
	options = append(options, "RETURN_STATS")
	statement := fmt.Sprintf("COPY (%s) TO %s (%s)", query, literal(path), strings.Join(options, ", "))
	var file, footer, partitions, columns any
	row := s.DB.QueryRowContext(ctx, statement)
	if err := row.Scan(&file, &written.Rows, &written.Bytes, &footer, &columns, &partitions); err != nil {
		return written, err
	}
	var err error
	written.Columns, err = statistics(columns)
	return written, err
}

// statistics turns the driver's map of maps into text. The driver's type is not known here, its JSON is.
func statistics(v any) (map[string]map[string]string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out map[string]map[string]string
	return out, json.Unmarshal(text, &out)
}

// Query returns the rows of a result as text.
func (s *Stager) Query(ctx context.Context, query string) ([][]*string, error) {
	rows, err := s.DB.QueryContext(ctx, "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ("+query+")")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out [][]*string
	for rows.Next() {
		row := make([]*string, len(names))
		into := make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// Hold leaves the query to be run where it is read.
func (s *Stager) Hold(_ context.Context, query string) (string, error) { return "(" + query + ")", nil }

// HoldFiles is Hold.
func (s *Stager) HoldFiles(ctx context.Context, query string, _ []string, _ batch.Schema) (string, error) {
	return s.Hold(ctx, query)
}

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
