// Package files reads a growing folder of JSON, CSV or Parquet files, and writes such folders.
package files

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
)

// sourceConfig is a source "files" block.
type sourceConfig struct {
	Path             string
	Format           string
	FormatOptions    map[string]string
	Columns          map[string]string
	InferTypes       bool
	InferFiles       int64
	InferBytes       schema.Size
	Metadata         []string
	Exclude          []string
	IncludeHidden    bool
	IncludeExisting  bool
	ModifiedAfter    string
	ModifiedBefore   string
	Order            string
	MaxFilesPerEpoch int64
	MaxBytesPerEpoch schema.Size
	Settle           schema.Duration
	OnOverwrite      string
	OnMalformed      string
	SchemaEvolution  string
	Keep             string
	Trigger          schema.Ref
	History          string
	Description      string
}

// SourceDefinition is the kind source.files and what opens it.
func SourceDefinition() connector.Definition {
	return connector.Definition{Kind: sourceKind(), Source: openSource}
}

func sourceKind() schema.Kind {
	return schema.Kind{
		Block: addr.Source, Type: "files",
		Doc: "Reads every file that appears in a folder once: JSON, CSV or Parquet.",
		New: func() schema.Config {
			return &sourceConfig{InferTypes: true, InferFiles: 1000, InferBytes: 1 << 30, IncludeExisting: true,
				Order: "modified", MaxFilesPerEpoch: 1000, OnOverwrite: "ignore", OnMalformed: "quarantine", Keep: "none"}
		},
		Sides: []string{"files", "malformed", "rescued"},
		Example: `source "files" "purchases" {
  path    = "landing/purchases"
  format  = "json"
  columns = {
    id        = "BIGINT"
    customer  = "VARCHAR"
    amount    = "DECIMAL(10,2)"
    bought_at = "TIMESTAMP"
  }
}
`,
	}
}

// Fields lists the attributes of source.files. The cost of each is that of the reference's table.
func (c *sourceConfig) Fields() []schema.Field {
	return append(c.contentFields(), c.listingFields()...)
}

// contentFields say what the files are and how they become rows.
func (c *sourceConfig) contentFields() []schema.Field {
	return []schema.Field{
		schema.Required("path", &c.Path, "Folder (read with everything below it), glob (`*`, `?`, `[a-z]`, `{a,b}`, and `**` for any number of folders) or single file; a relative path starts at the configuration's folder.",
			schema.OnChange(schema.CostHistory), schema.Check(checkPath), schema.Normal(connector.CleanPath)),
		schema.Required("format", &c.Format, "What the files are: json (one object per line, or an array of objects), csv or parquet; JSON and CSV files may be compressed, told by the endings .gz and .zst.",
			schema.OnChange(schema.CostReplay), schema.Check(checkFormat)),
		schema.Optional("format_options", &c.FormatOptions, "Options of the reader: for csv `allow_quoted_nulls`, `delim`, `escape`, `header`, `max_line_size`, `null_padding`, `nullstr`, `quote`, `skip` and `strict_mode`; for json `format` and `maximum_object_size`; for parquet `binary_as_string`.",
			schema.OnChange(schema.CostReplay), schema.Check(anyFormatOption)),
		schema.Optional("columns", &c.Columns, "All columns and their DuckDB types. `SELECT *` has them in the order in which they are written here, and in that order they must stand in CSV files without a header. Writing them in another order later is no change: the relation keeps the order it was created with. Without this attribute columns are inferred from a sample when the source is planned.",
			schema.OnChange(schema.CostColumns), schema.Check(checkColumns)),
		schema.Optional("infer_types", &c.InferTypes, "Whether inference finds types; false makes every JSON and CSV value a VARCHAR.",
			schema.OnChange(schema.CostReplay)),
		schema.Optional("infer_files", &c.InferFiles, "Files that inference reads at most, in the order that `order` says.",
			schema.OnChange(schema.CostCreation), schema.Min(int64(1))),
		schema.Optional("infer_bytes", &c.InferBytes, "Bytes that inference reads at most.",
			schema.OnChange(schema.CostCreation), schema.Min(schema.Size(1))),
		schema.Optional("metadata", &c.Metadata, "Columns to add that say where a row comes from.",
			schema.OnChange(schema.CostHistory), schema.OneOf("_file_path", "_file_name", "_file_size", "_file_modified_at", "_row_number")),
		schema.Optional("schema_evolution", &c.SchemaEvolution, "What happens to a value in a file that the source has no column for, also inside of STRUCTs: propose keeps it in the side relation `rescued`, and `plan` proposes the columns to declare; rescue keeps it and proposes nothing; fail stops the pipeline; ignore leaves it out. Without this attribute it is left out, and `plan` proposes columns where they were inferred.",
			schema.Check(checkEvolution)),
		schema.Optional("on_malformed", &c.OnMalformed, "What happens to a record that cannot be parsed: quarantine keeps it in the side relation `malformed`, drop only counts it, fail stops the pipeline.",
			schema.OnChange(schema.CostHistory), schema.OneOf("quarantine", "drop", "fail")),
	}
}

// listingFields say which files are read, when, and how many at a time.
func (c *sourceConfig) listingFields() []schema.Field {
	return []schema.Field{
		schema.Optional("exclude", &c.Exclude, "Globs of files and folders that are never read; one without a slash matches the name at any depth.",
			schema.OnChange(schema.CostHistory), schema.Check(checkGlobs)),
		schema.Optional("include_hidden", &c.IncludeHidden, "Whether to read files and folders whose names begin with `.` or `_`, or end in `.crc` or `.tmp`.",
			schema.OnChange(schema.CostHistory), schema.Default(false)),
		schema.Optional("include_existing", &c.IncludeExisting, "Whether to read files that are there when the source is created; false reads only what comes later.",
			schema.OnChange(schema.CostCreation)),
		schema.Optional("modified_after", &c.ModifiedAfter, "Only files modified after this time, such as 2024-05-01 or 2024-05-01T08:00:00Z (UTC unless it says otherwise).",
			schema.OnChange(schema.CostHistory), schema.Check(checkTime)),
		schema.Optional("modified_before", &c.ModifiedBefore, "Only files modified before this time.",
			schema.OnChange(schema.CostHistory), schema.Check(checkTime)),
		schema.Optional("order", &c.Order, "The order of the files of one listing: modified (modification time, then path) or name (path, bytewise).",
			schema.OneOf("modified", "name")),
		schema.Optional("max_files_per_epoch", &c.MaxFilesPerEpoch, "Files that one epoch takes at most.", schema.Min(int64(1))),
		schema.Optional("max_bytes_per_epoch", &c.MaxBytesPerEpoch, "Bytes after which an epoch takes no further file; one file is always taken.", schema.Min(schema.Size(1))),
		schema.Optional("settle", &c.Settle, "A file modified less than this ago is left for later, for folders where files grow in place.",
			schema.Min(schema.Duration(0))),
		schema.Optional("on_overwrite", &c.OnOverwrite, "What happens when a file that was read changes: ignore keeps what was read, append reads the new version as well, fail stops the pipeline.",
			schema.OneOf("ignore", "append", "fail")),
		schema.Keep(&c.Keep),
		schema.Optional("trigger", &c.Trigger, "When epochs run; without one, as soon as there is data.", schema.Refs(addr.Trigger)),
		schema.History(&c.History),
		schema.Optional("description", &c.Description, "What the source is, for people.", schema.OnChange(schema.CostNone)),
	}
}

func openSource(_ context.Context, cfg schema.Config, env connector.Env) (connector.Source, error) {
	c := cfg.(*sourceConfig)
	if err := checkOptions(c.Format, c.FormatOptions); err != nil {
		return nil, &connector.UserError{Summary: "Invalid format_options", Detail: sentence(err), Attr: "format_options"}
	}
	s := &source{path: absolute(env.Dir, c.Path), config: c, now: env.Now}
	var err error
	if s.after, err = parseTime(c.ModifiedAfter); err != nil {
		return nil, &connector.UserError{Summary: "Invalid modified_after", Detail: sentence(err), Attr: "modified_after"}
	}
	if s.before, err = parseTime(c.ModifiedBefore); err != nil {
		return nil, &connector.UserError{Summary: "Invalid modified_before", Detail: sentence(err), Attr: "modified_before"}
	}
	if len(c.Exclude) > 0 {
		if s.exclude, err = parseGlobs(excludeGlobs(c.Exclude)); err != nil {
			return nil, &connector.UserError{Summary: "Invalid exclude", Detail: sentence(err), Attr: "exclude"}
		}
	}
	return s, nil
}

// scan is what the engine needs to know to decode the files.
func (c *sourceConfig) scan() batch.Scan {
	return batch.Scan{Format: batch.Format{Name: c.Format, Options: c.FormatOptions}, Columns: columnsOf(c.Columns), Metadata: c.Metadata,
		OnMalformed: c.OnMalformed, InferFiles: c.InferFiles, InferBytes: int64(c.InferBytes), InferTypes: c.InferTypes,
		Unknown: evolutions()[c.SchemaEvolution]}
}

func (c *sourceConfig) limits() connector.Limits {
	return connector.Limits{MaxFiles: c.MaxFilesPerEpoch, MaxBytes: int64(c.MaxBytesPerEpoch)}
}

// columnsOf lists declared columns by name; in which order they were written is recorded with the relation.
func columnsOf(declared map[string]string) batch.Schema {
	var columns batch.Schema
	for _, name := range sortedKeys(declared) {
		columns = append(columns, batch.Column{Name: name, Type: declared[name]})
	}
	return columns
}

// absolute places a path that is relative to the configuration's folder.
func absolute(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}

// excludeGlobs lets a glob without a slash match at any depth.
func excludeGlobs(globs []string) []string {
	out := slices.Clone(globs)
	for i, g := range out {
		if !strings.Contains(g, "/") {
			out[i] = "**/" + g
		}
	}
	return out
}

func checkPath(path string) error {
	scheme := regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*)://`).FindString(path)
	switch {
	case strings.TrimSpace(path) == "":
		return errors.New("it must name a folder, a glob or a file.")
	case scheme != "":
		return fmt.Errorf("paths that begin with %s are not read in this version; give a path of this machine.", scheme)
	}
	if _, err := parseGlobs([]string{filepath.ToSlash(path)}); err != nil {
		return errors.New(sentence(err))
	}
	return nil
}

func checkGlobs(globs []string) error {
	for _, g := range globs {
		if strings.TrimSpace(g) == "" {
			return errors.New("a glob must not be empty.")
		}
	}
	if _, err := parseGlobs(globs); err != nil {
		return errors.New(sentence(err))
	}
	return nil
}

func checkColumns(columns map[string]string) error {
	seen := map[string]string{}
	for _, name := range sortedKeys(columns) {
		folded := strings.ToLower(name)
		switch {
		case name == "":
			return errors.New("a column has no name.")
		case strings.TrimSpace(columns[name]) == "":
			return fmt.Errorf("column %q has no type.", name)
		case seen[folded] != "":
			return fmt.Errorf("columns %q and %q differ only in case; SQL cannot tell them apart.", seen[folded], name)
		}
		seen[folded] = name
	}
	if columns != nil && len(columns) == 0 {
		return errors.New("it lists no column; leave it out to have the columns inferred.")
	}
	return nil
}

func checkTime(text string) error {
	_, err := parseTime(text)
	return err
}

// parseTime reads a time as people write it; one without a zone is UTC, and the empty text is no time.
func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time; write a date or a date and a time, such as \"2024-05-01\" or \"2024-05-01T08:00:00Z\".", text)
}

// sentence closes a message with a full stop.
func sentence(err error) string { return strings.TrimSuffix(err.Error(), ".") + "." }
