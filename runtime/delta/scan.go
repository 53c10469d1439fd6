package delta

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/dv"
	"github.com/streamform/streamform/runtime/delta/schema"
	"github.com/streamform/streamform/runtime/delta/snapshot"
	"github.com/streamform/streamform/runtime/delta/stats"
)

// ScanOptions say what of a snapshot is scanned, and how.
type ScanOptions struct {
	// Root is the table's folder, as DuckDB is to open it; empty means the snapshot's.
	Root string
	// Files are scanned instead of all live ones, when set; each must be a live file of the snapshot. An empty
	// list that is not nil scans nothing.
	Files []action.Add
	// Deleted holds the rows hidden by deletion vectors, for every scanned file that has one: see Table.DeletedRows.
	Deleted map[action.FileKey]*dv.Bitmap
	// Filename and RowNumber, when set, name two more columns: the path of a row's file (see FilePath), and its physical
	// position there, from 0.
	Filename  string
	RowNumber string
	// PartitionZone is the time zone in which timestamps without zone were written into partition values; empty means UTC.
	PartitionZone string
}

// ScanSQL returns a DuckDB SELECT that yields exactly the rows of a snapshot, columns by their logical names and of Delta's
// types, in the schema's order. The session must run in UTC.
func ScanSQL(s *Snapshot, o ScanOptions) (string, error) {
	if s.Schema == nil {
		return "", snapshot.ErrNoSchema
	}
	files := o.Files
	if files == nil {
		files = s.Files()
	}
	if len(files) == 0 {
		return emptyScan(s, o), nil
	}
	if o.Root == "" {
		o.Root = s.Root
	}
	var plain, hiding []action.Add
	for _, f := range files {
		if f.DeletionVector == nil {
			plain = append(plain, f)
		} else {
			hiding = append(hiding, f)
		}
	}
	c := scan{snapshot: s, options: o}
	var parts []string
	for _, group := range [][]action.Add{plain, hiding} {
		if len(group) == 0 {
			continue
		}
		sql, err := c.selectFrom(group)
		if err != nil {
			return "", err
		}
		parts = append(parts, sql)
	}
	return strings.Join(parts, "\nUNION ALL\n"), nil
}

// emptyScan has the columns of a scan, and no rows.
func emptyScan(s *Snapshot, o ScanOptions) string {
	var out []string
	for _, f := range s.Schema {
		out = append(out, "CAST(NULL AS "+f.Type.DuckDB()+") AS "+schema.Identifier(f.Name))
	}
	if o.Filename != "" {
		out = append(out, "CAST(NULL AS VARCHAR) AS "+schema.Identifier(o.Filename))
	}
	if o.RowNumber != "" {
		out = append(out, "CAST(NULL AS BIGINT) AS "+schema.Identifier(o.RowNumber))
	}
	return "SELECT " + strings.Join(out, ", ") + " WHERE false"
}

type scan struct {
	snapshot *Snapshot
	options  ScanOptions
}

// selectFrom scans files that all have a deletion vector, or none of which has. Columns get names of their own on the way, so that
// none can hide the virtual columns filename and file_row_number.
func (c scan) selectFrom(files []action.Add) (string, error) {
	paths := make([]string, len(files))
	for i, f := range files {
		path, err := FilePath(c.options.Root, f)
		if err != nil {
			return "", err
		}
		paths[i] = path
	}
	parts, err := c.partitions(files, paths)
	if err != nil {
		return "", err
	}
	var list, columns []string
	for i, f := range c.snapshot.Schema {
		expr, ok := parts.columns[strings.ToLower(f.Name)]
		switch {
		case ok:
		case f.Type.Name == schema.Void:
			expr = `CAST(NULL AS "NULL")`
		default:
			name := fmt.Sprintf("c%d", i)
			columns = append(columns, c.column(f, name))
			expr = schema.ToLogical("f."+name, f.Type, c.snapshot.Mode)
		}
		list = append(list, expr+" AS "+schema.Identifier(f.Name))
	}
	if o := c.options; o.Filename != "" {
		list = append(list, "f.filename AS "+schema.Identifier(o.Filename))
	}
	if o := c.options; o.RowNumber != "" {
		list = append(list, "f.file_row_number AS "+schema.Identifier(o.RowNumber))
	}
	if len(columns) == 0 {
		columns = []string{"'__none': {name: '__none', type: 'INTEGER', default_value: NULL}"}
	}
	quoted := make([]string, len(paths))
	for i, p := range paths {
		quoted[i] = schema.Literal(escapeGlob(p))
	}
	sql := "SELECT " + strings.Join(list, ", ") +
		"\nFROM read_parquet([" + strings.Join(quoted, ", ") + "], hive_partitioning = false, schema = MAP {" + strings.Join(columns, ", ") + "}) AS f" + parts.join
	hidden, err := c.hidden(files, paths)
	return sql + hidden, err
}

// column is a field's entry in read_parquet's schema: found by name without case, or by id, NULL in files that lack it.
func (c scan) column(f schema.Field, name string) string {
	key, t := schema.Literal(f.Name), f.Type.DuckDB()
	if c.snapshot.Mode != schema.ByLogicalName {
		key, t = schema.Literal(f.PhysicalName()), f.Type.Physical()
	}
	if id, ok := f.ID(); ok && c.byID() {
		key = fmt.Sprint(id)
	}
	return key + ": {name: '" + name + "', type: " + schema.Literal(t) + ", default_value: NULL}"
}

// byID tells whether columns are found by id: read_parquet takes either ids or names for all of them.
func (c scan) byID() bool {
	return c.snapshot.Mode == schema.ByID && !slices.ContainsFunc(c.snapshot.Schema, func(f schema.Field) bool {
		_, ok := f.ID()
		return !ok
	})
}

// partitioned says how a scan finds the values of partition columns.
type partitioned struct {
	columns map[string]string // lower-case logical name → expression
	join    string            // what follows the scan's FROM
}

// partitions takes partition values from the log: as constants when all files agree, by file name otherwise.
func (c scan) partitions(files []action.Add, paths []string) (partitioned, error) {
	out := partitioned{columns: map[string]string{}}
	names := c.snapshot.Metadata.PartitionColumns
	if len(names) == 0 {
		return out, nil
	}
	rows := make([]string, len(files))
	same := true
	for i, f := range files {
		values := make([]string, len(names))
		for j, name := range names {
			expr, err := c.partitionValue(f, name)
			if err != nil {
				return out, fmt.Errorf("file %s: partition column %q: %w", f.Path, name, err)
			}
			values[j] = expr
			out.columns[strings.ToLower(name)] = expr
		}
		rows[i] = strings.Join(values, ", ")
		same = same && rows[i] == rows[0]
	}
	if same {
		return out, nil
	}
	columns := make([]string, len(names))
	for j, name := range names {
		columns[j] = fmt.Sprintf("p%d", j)
		out.columns[strings.ToLower(name)] = "p." + columns[j]
	}
	for i := range rows {
		rows[i] = "(" + schema.Literal(paths[i]) + ", " + rows[i] + ")"
	}
	out.join = "\nJOIN (VALUES " + strings.Join(rows, ", ") + ") AS p(file, " + strings.Join(columns, ", ") + ") ON f.filename = p.file"
	return out, nil
}

func (c scan) partitionValue(f action.Add, name string) (string, error) {
	field, ok := c.snapshot.Schema.Field(name)
	if !ok {
		return "", errors.New("it is not in the schema")
	}
	value, ok := f.PartitionValues[schema.Schema{field}.Physical(c.snapshot.Mode)[0].Name]
	if !ok {
		// Some writers keyed values by logical name although columns were mapped.
		value = f.PartitionValues[field.Name]
	}
	return schema.PartitionValue(value, field.Type, c.options.PartitionZone)
}

// hidden leaves out the rows of deletion vectors, given as runs of positions.
func (c scan) hidden(files []action.Add, paths []string) (string, error) {
	var runs []string
	for i, f := range files {
		if f.DeletionVector == nil {
			continue
		}
		rows, ok := c.options.Deleted[f.Key()]
		if !ok {
			return "", fmt.Errorf("the deletion vector of file %s was not loaded", f.Path)
		}
		for _, r := range runsOf(rows) {
			runs = append(runs, fmt.Sprintf("(%s, %d, %d)", schema.Literal(paths[i]), r[0], r[1]))
		}
	}
	if len(runs) == 0 {
		return "", nil
	}
	return "\nANTI JOIN (SELECT r.file, unnest(range(CAST(r.first AS BIGINT), CAST(r.beyond AS BIGINT))) AS position FROM (VALUES " +
		strings.Join(runs, ", ") + ") AS r(file, first, beyond)) AS d ON f.filename = d.file AND f.file_row_number = d.position", nil
}

// runsOf splits a set into runs of consecutive positions, the end not included.
func runsOf(rows *dv.Bitmap) [][2]uint64 {
	var out [][2]uint64
	for i := rows.Iterator(); i.HasNext(); {
		n := i.Next()
		if last := len(out) - 1; last >= 0 && out[last][1] == n {
			out[last][1]++
			continue
		}
		out = append(out, [2]uint64{n, n + 1})
	}
	return out
}

// FilePath is where a file lies for DuckDB, as its filename column shows it.
func FilePath(root string, f action.Add) (string, error) {
	path, err := action.DecodePath(f.Path)
	if err != nil || action.IsAbsolute(path) {
		return path, err
	}
	return filepath.ToSlash(filepath.Join(root, filepath.FromSlash(path))), nil
}

// escapeGlob keeps DuckDB from taking characters of a path for patterns.
func escapeGlob(path string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
}

// DeletedRows loads the deletion vectors of files, for ScanOptions.
func (t *Table) DeletedRows(ctx context.Context, files []action.Add) (map[action.FileKey]*dv.Bitmap, error) {
	out := map[action.FileKey]*dv.Bitmap{}
	for _, f := range files {
		if f.DeletionVector == nil {
			continue
		}
		rows, err := dv.Read(ctx, t.store, *f.DeletionVector)
		if err != nil {
			return nil, fmt.Errorf("file %s: %w", f.Path, err)
		}
		out[f.Key()] = rows
	}
	return out, nil
}

// ScanSQL is the function of that name, with the deletion vectors it needs loaded.
func (t *Table) ScanSQL(ctx context.Context, s *Snapshot, o ScanOptions) (string, error) {
	files := o.Files
	if files == nil {
		files = s.Files()
	}
	if o.Deleted == nil {
		deleted, err := t.DeletedRows(ctx, files)
		if err != nil {
			return "", fmt.Errorf("loading deletion vectors: %w", err)
		}
		o.Deleted = deleted
	}
	return ScanSQL(s, o)
}

// Prune returns the live files that may have rows in all of the ranges, by their partition values and statistics.
func Prune(s *Snapshot, ranges []stats.Range) []action.Add {
	t := statsTable(s.Metadata, s.Schema, s.Mode)
	out := []action.Add{}
	for _, f := range s.Files() {
		if t.MayHold(f, ranges) {
			out = append(out, f)
		}
	}
	return out
}

func statsTable(m action.Metadata, s schema.Schema, mode schema.Mode) stats.Table {
	return stats.Table{Schema: s, Mode: mode, Partitions: m.PartitionColumns, Configuration: m.Configuration}
}
