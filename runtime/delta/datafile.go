package delta

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/schema"
	"github.com/streamform/streamform/runtime/delta/stats"
)

// Layout is how data files of a table are written.
type Layout struct {
	metadata   action.Metadata
	schema     schema.Schema
	mode       schema.Mode
	partitions []schema.Field
}

// NewLayout reads the layout of a table from its metadata, the one it has or the one about to be committed.
func NewLayout(m action.Metadata) (*Layout, error) {
	s, err := schema.Parse(m.SchemaString)
	if err != nil {
		return nil, err
	}
	mode, err := schema.ModeOf(m.Configuration)
	if err != nil {
		return nil, err
	}
	l := &Layout{metadata: m, schema: s, mode: mode}
	for _, name := range m.PartitionColumns {
		f, ok := s.Field(name)
		if !ok {
			return nil, fmt.Errorf("partition column %q is not in the schema", name)
		}
		l.partitions = append(l.partitions, f)
	}
	return l, nil
}

// Select is the select list that gives rows with the incoming columns the form of data files: cast to the table's types, physical
// names, no partition columns. A NULL where the table allows none fails the statement.
func (l *Layout) Select(incoming []schema.Column) (string, error) {
	return schema.WriteSelect(l.schema, incoming, l.metadata.PartitionColumns, l.mode)
}

// FieldIDs is the value of COPY's FIELD_IDS option; empty when the table has no ids.
func (l *Layout) FieldIDs() string {
	return schema.FieldIDs(l.schema, l.metadata.PartitionColumns, l.mode)
}

// PartitionSelect is the select list of the partition columns' texts, in their order, from rows with the incoming columns;
// empty without partition columns.
func (l *Layout) PartitionSelect(incoming []schema.Column) (string, error) {
	texts, err := l.partitionTexts(incoming)
	for i, f := range l.partitions[:len(texts)] {
		texts[i] += " AS " + schema.Identifier(f.Name)
	}
	return strings.Join(texts, ", "), err
}

// Where is the condition for the rows of one partition, given by its texts as PartitionSelect makes them.
func (l *Layout) Where(incoming []schema.Column, values []*string) (string, error) {
	texts, err := l.partitionTexts(incoming)
	if err != nil || len(texts) == 0 {
		return "true", err
	}
	for i := range texts {
		wanted := "NULL"
		if values[i] != nil {
			wanted = schema.Literal(*values[i])
		}
		texts[i] = "(" + texts[i] + ") IS NOT DISTINCT FROM " + wanted
	}
	return strings.Join(texts, " AND "), nil
}

func (l *Layout) partitionTexts(incoming []schema.Column) ([]string, error) {
	out := make([]string, 0, len(l.partitions))
	for _, f := range l.partitions {
		column := "NULL"
		for _, c := range incoming {
			if strings.EqualFold(c.Name, f.Name) {
				column = schema.Identifier(c.Name)
			}
		}
		text, err := schema.PartitionText("CAST("+column+" AS "+f.Type.DuckDB()+")", f.Type)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

// Path is a new path for a data file, relative to the table: where readers of directory names expect it. The values
// are texts as PartitionSelect makes them, in the order of the partition columns.
func (l *Layout) Path(values []*string) string {
	names, byName := make([]string, len(l.partitions)), map[string]*string{}
	for i, f := range l.partitions {
		names[i] = l.physical(f)
		byName[names[i]] = values[i]
	}
	name := "part-00000-" + uuid.NewString() + "-c000.zstd.parquet"
	if dir := schema.PartitionDir(names, byName); dir != "" {
		return dir + "/" + name
	}
	return name
}

// DataFile is a file that was written for the table and is in place, or will be before the commit.
type DataFile struct {
	Path       string    // relative to the table's root, as the file system has it
	Partitions []*string // texts in the order of the partition columns
	Size       int64     // bytes
	Modified   time.Time
	Copy       stats.Copy
}

// Add is the action that makes a file part of the table. A file without rows is an error: it must not be registered.
func (l *Layout) Add(f DataFile) (action.Add, error) {
	if f.Copy.Rows == 0 {
		return action.Add{}, errors.New("a data file without rows must not become part of a Delta table")
	}
	if len(f.Partitions) != len(l.partitions) {
		return action.Add{}, fmt.Errorf("file %s has %d partition values, the table %d partition columns", f.Path, len(f.Partitions), len(l.partitions))
	}
	text, err := stats.FromCopy(statsTable(l.metadata, l.schema, l.mode), f.Copy)
	if err != nil {
		return action.Add{}, err
	}
	values := map[string]*string{}
	for i, p := range l.partitions {
		values[l.physical(p)] = schema.NormalPartition(f.Partitions[i])
	}
	return action.Add{
		Path: action.EncodePath(f.Path), PartitionValues: values, Size: f.Size,
		ModificationTime: f.Modified.UnixMilli(), DataChange: true, Stats: text,
	}, nil
}

func (l *Layout) physical(f schema.Field) string {
	return schema.Schema{f}.Physical(l.mode)[0].Name
}
