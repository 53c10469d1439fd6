package files

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	delta "github.com/streamform/streamform/runtime/delta/schema"
)

// Modes of sink.files.
const (
	modeAppend  = "append"
	modeReplace = "replace"
)

// sinkConfig is a sink "files" block.
type sinkConfig struct {
	From        schema.Ref
	Path        string
	Format      string
	Mode        string
	Compression string
	Since       string
	History     string
	Description string
}

// SinkDefinition is the kind sink.files and what opens it.
func SinkDefinition() connector.Definition {
	return connector.Definition{Kind: sinkKind(), Sink: openSink}
}

func sinkKind() schema.Kind {
	return schema.Kind{
		Block: addr.Sink, Type: "files",
		Doc: "Writes a relation to a folder: one file per epoch of a stream, or one file that always holds a whole view.",
		New: func() schema.Config { return &sinkConfig{Format: "parquet"} },
		Example: `sink "files" "valid_purchases" {
  from   = stream.valid_purchases
  path   = "out/valid_purchases"
  format = "json"
}
`,
	}
}

// Fields lists the attributes of sink.files.
func (c *sinkConfig) Fields() []schema.Field {
	return []schema.Field{
		schema.Required("from", &c.From, "The source, stream or view that is written.",
			schema.Refs(addr.Source, addr.Stream, addr.View), schema.OnChange(schema.CostRebuild)),
		schema.Required("path", &c.Path, "Folder to write to, made when it is missing; a relative path starts at the configuration's folder.",
			schema.OnChange(schema.CostRebuild), schema.Check(connector.CheckFolder), schema.Normal(connector.CleanPath)),
		schema.Optional("format", &c.Format, "What is written: parquet, json (one object per line) or csv (with a header).",
			schema.OneOf("parquet", "json", "csv"), schema.OnChange(schema.CostRebuild)),
		schema.Optional("mode", &c.Mode, "Whether each epoch of a stream gets a file of its own (append, the default for a source or stream), or one file, `data.json` or the like, always holds the whole view (replace, the default for a view).",
			schema.OneOf(modeAppend, modeReplace), schema.OnChange(schema.CostRebuild)),
		schema.Optional("compression", &c.Compression, "How Parquet files are compressed from now on: zstd (the default), snappy, gzip or uncompressed.",
			schema.OneOf(connector.Compressions()...), schema.OnChange(schema.CostNone)),
		schema.Since(&c.Since),
		schema.History(&c.History),
		schema.Optional("description", &c.Description, "What the sink is for, for people.", schema.OnChange(schema.CostNone)),
	}
}

// sink is an open sink.files.
type sink struct {
	dir         string
	format      string
	mode        string
	compression string // of Parquet files
}

func openSink(_ context.Context, cfg schema.Config, env connector.Env) (connector.Sink, error) {
	c := cfg.(*sinkConfig)
	if err := connector.CheckSince(string(c.From), c.Since); err != nil {
		return nil, err
	}
	if c.Compression != "" && c.Format != "parquet" {
		return nil, &connector.UserError{Summary: "Only Parquet files are compressed", Attr: "compression",
			Detail: fmt.Sprintf("Files of format %q are written as they are. Leave compression out, or use format = \"parquet\".", c.Format)}
	}
	s := &sink{dir: absolute(env.Dir, c.Path), format: c.Format, mode: c.Mode, compression: cmp.Or(c.Compression, connector.Compressions()[0])}
	view := strings.HasPrefix(string(c.From), string(addr.View)+".")
	switch {
	case s.mode == "" && view:
		s.mode = modeReplace
	case s.mode == "":
		s.mode = modeAppend
	case s.mode == modeAppend && view:
		return nil, &connector.UserError{Summary: "A view cannot be appended to files",
			Detail: fmt.Sprintf("%s corrects rows it has delivered, and a file that was written stays as it is. Use mode = \"replace\", or a sink that can change rows, such as sink \"delta\".", c.From)}
	case s.mode == modeReplace && !view:
		return nil, &connector.UserError{Summary: "Only a view can be replaced",
			Detail: fmt.Sprintf("%s only ever gains rows and its earlier ones are not held. Use mode = \"append\", or write a view.", c.From)}
	}
	return s, nil
}

// Dirs is the folder written to.
func (s *sink) Dirs() []string { return []string{s.dir} }

// Close does nothing.
func (s *sink) Close() error { return nil }

// staged is the payload: what Publish does, in order. Names are relative to the sink's folder, so that
// it may be moved along with the project.
type staged struct {
	Moves  []move   `json:"moves,omitempty"`
	Remove []string `json:"remove,omitempty"` // files of earlier deliveries that these replace
	Owner  *owner   `json:"owner,omitempty"`  // replace: whose content the folder then holds
	Rows   int64    `json:"rows"`

	counts batch.Counts // of the change
}

// move gives a finished hidden file its name.
type move struct {
	From string `json:"from"`
	To   string `json:"to"`
	mark
}

func newMove(d connector.Delivery, name string) move {
	return move{From: fmt.Sprintf(".staged-%d-%d-%s.tmp", d.Generation, d.Epoch, strings.TrimPrefix(name, ".")), To: name}
}

// mark tells a file from another of the same name.
type mark struct {
	Size     int64 `json:"size"`
	Modified int64 `json:"modified"` // nanoseconds since 1970
}

func markOf(info fs.FileInfo) mark { return mark{info.Size(), info.ModTime().UnixNano()} }

// Stage writes the epoch's file, or the whole view, under a hidden name.
func (s *sink) Stage(ctx context.Context, d connector.Delivery, st connector.Stager) (connector.Staged, error) {
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return connector.Staged{}, connector.WriteError(s.dir, err)
	}
	stage := s.stageAppend
	if s.mode == modeReplace {
		stage = s.stageReplace
	}
	plan, err := stage(ctx, d, st)
	if err != nil {
		return connector.Staged{}, err
	}
	payload, err := json.Marshal(plan)
	if err != nil {
		return connector.Staged{}, fmt.Errorf("writing the payload of %s: %w", d.Sink, err)
	}
	return connector.Staged{Payload: payload, Rows: plan.counts}, nil
}

// write copies a query's rows to a hidden file that is complete and synced when it returns. The
// hidden name is that of the epoch, so that an epoch staged again leaves nothing behind.
func (s *sink) write(ctx context.Context, st connector.Stager, query string, m move) (move, connector.Written, error) {
	format := strings.TrimPrefix(filepath.Ext(m.To), ".")
	path := filepath.Join(s.dir, m.From)
	written, err := st.Copy(ctx, query, path, batch.Format{Name: format, Options: s.copyOptions(format)})
	if err != nil {
		return m, written, errors.Join(connector.WriteError(s.dir, err), removeAll(path))
	}
	if err := sync(path); err != nil {
		return m, written, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return m, written, fmt.Errorf("writing %s: %w", path, err)
	}
	m.mark = markOf(info)
	return m, written, nil
}

// copyOptions are how files are written.
func (s *sink) copyOptions(format string) map[string]string {
	switch format {
	case "parquet":
		return map[string]string{"compression": s.compression}
	case "csv":
		return map[string]string{"header": "true"}
	}
	return nil
}

// columnList is the select list that gives the columns the types of the format. Parquet has no
// equal of some DuckDB types; they are written as Delta tables hold them (HUGEINT as DECIMAL(38,0)).
func columnList(columns batch.Schema, format string) (string, error) {
	in := make([]delta.Column, len(columns))
	for i, c := range columns {
		in[i] = delta.Column{Name: c.Name, Type: c.Type}
	}
	casts := make([]string, len(columns))
	if format == "parquet" {
		converted, err := delta.FromDuckDB(in)
		if err != nil {
			return "", &connector.UserError{Summary: "A column cannot be written to Parquet", Detail: sentence(err)}
		}
		for i, c := range converted {
			casts[i] = c.Cast
		}
	}
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = delta.Identifier(c.Name)
		if casts[i] != "" {
			list[i] = fmt.Sprintf("CAST(%s AS %s) AS %s", list[i], casts[i], list[i])
		}
	}
	return strings.Join(list, ", "), nil
}

// Publish gives the staged files their names. A step that was done before is passed over.
func (s *sink) Publish(_ context.Context, st connector.Staged) (connector.Receipt, error) {
	var plan staged
	if err := json.Unmarshal(st.Payload, &plan); err != nil {
		return nil, fmt.Errorf("reading the payload of a delivery to %s: %w", s.dir, err)
	}
	receipt := connector.Receipt{"rows": plan.Rows}
	for _, m := range plan.Moves {
		if err := s.move(m); err != nil {
			return nil, err
		}
		receipt["file"] = m.To
	}
	for _, name := range plan.Remove {
		if err := removeAll(filepath.Join(s.dir, name)); err != nil {
			return nil, err
		}
	}
	if plan.Owner != nil {
		if err := s.writeOwner(*plan.Owner); err != nil {
			return nil, err
		}
	}
	if err := sync(s.dir); err != nil {
		return nil, err
	}
	return receipt, nil
}

func (s *sink) move(m move) error {
	from, to := filepath.Join(s.dir, m.From), filepath.Join(s.dir, m.To)
	err := os.Rename(from, to)
	if !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			return connector.WriteError(s.dir, err)
		}
		return nil
	}
	if info, err := os.Stat(to); err == nil && markOf(info) == m.mark {
		return nil // moved before
	}
	return &connector.UserError{Summary: "A file that was to be delivered is gone",
		Detail: fmt.Sprintf("%s was written and has disappeared before it became %s. Something else removes files there; give the sink a folder of its own and apply it again with -replace.", from, to)}
}

// removeAll removes files that may be gone already.
func removeAll(paths ...string) error {
	for _, p := range paths {
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing %s: %w", p, err)
		}
	}
	return nil
}

// sync makes a file, or the names in a folder, survive a crash of the machine.
func sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("syncing %s: %w", path, err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("syncing %s: %w", path, err)
	}
	return nil
}
