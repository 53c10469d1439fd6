// Package delta writes streams and views to Delta Lake tables.
package delta

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	deltalake "github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/logstore"
)

// Modes of sink.delta.
const (
	modeAppend  = "append"
	modeUpsert  = "upsert"
	modeReplace = "replace"
)

// config is a sink "delta" block.
type config struct {
	From        schema.Ref
	Path        string
	Mode        string
	OnForeign   string
	Compression string
	Since       string
	History     string
	Description string
}

// Definition is the kind sink.delta and what opens it.
func Definition() connector.Definition {
	return connector.Definition{Kind: kind(), Sink: open, Adapts: adapts}
}

// adapts: a table can get further columns. Without column mapping, which few readers know, it cannot lose one, and no type of one can change.
func adapts(was, is batch.Schema) string {
	for _, before := range was {
		i := slices.IndexFunc(is, func(c batch.Column) bool { return strings.EqualFold(c.Name, before.Name) })
		switch {
		case i < 0:
			return fmt.Sprintf("a Delta table cannot lose a column (%s)", before.Name)
		case is[i].Type != before.Type:
			return fmt.Sprintf("a Delta table cannot change the type of a column (%s, from %s to %s)", before.Name, before.Type, is[i].Type)
		}
	}
	return ""
}

func kind() schema.Kind {
	return schema.Kind{
		Block: addr.Sink, Type: "delta",
		Doc: "Writes a relation to a Delta Lake table, each epoch exactly once.",
		New: func() schema.Config { return &config{} },
		Example: `sink "delta" "sales" {
  from = view.sales_by_customer
  path = "lake/sales_by_customer"
}
`,
	}
}

// Fields lists the attributes of sink.delta.
func (c *config) Fields() []schema.Field {
	return []schema.Field{
		schema.Required("from", &c.From, "The source, stream or view that is written.",
			schema.Refs(addr.Source, addr.Stream, addr.View), schema.OnChange(schema.CostRebuild)),
		schema.Required("path", &c.Path, "Folder of the table, which is made when there is none; a relative path starts at the configuration's folder.",
			schema.OnChange(schema.CostRebuild), schema.Check(connector.CheckFolder), schema.Normal(connector.CleanPath)),
		schema.Optional("mode", &c.Mode, "Whether new rows are added (append, the default for a source or stream), the table follows every change of a view (upsert, the default for a view), or is written anew as a whole when the view has changed (replace).",
			schema.OneOf(modeAppend, modeUpsert, modeReplace), schema.OnChange(schema.CostRebuild)),
		schema.Optional("on_foreign", &c.OnForeign, "What becomes of the table when another writer has changed rows of it: overwrite writes it anew, accept leaves it as it is and goes on, until a row that has to change is not there. Without a choice the plan stops and explains both. Rows that others add to a table in mode append, OPTIMIZE, VACUUM and the like are no such change.",
			schema.OneOf("overwrite", "accept"), schema.OnChange(schema.CostNone)),
		schema.Optional("compression", &c.Compression, "How data files are compressed from now on: zstd (the default), snappy, gzip or uncompressed.",
			schema.OneOf(connector.Compressions()...), schema.OnChange(schema.CostNone)),
		schema.Since(&c.Since),
		schema.History(&c.History),
		schema.Optional("description", &c.Description, "What the sink is for, for people.", schema.OnChange(schema.CostNone)),
	}
}

// sink is an open sink.delta.
type sink struct {
	dir         string
	mode        string
	compression string // of data files
	table       *deltalake.Table
	now         func() time.Time
}

func open(_ context.Context, cfg schema.Config, env connector.Env) (connector.Sink, error) {
	c := cfg.(*config)
	if err := connector.CheckSince(string(c.From), c.Since); err != nil {
		return nil, err
	}
	view := strings.HasPrefix(string(c.From), string(addr.View)+".")
	mode := c.Mode
	switch {
	case mode == "" && view:
		mode = modeUpsert
	case mode == "":
		mode = modeAppend
	case mode == modeAppend && view:
		return nil, &connector.UserError{Summary: "A view cannot be appended",
			Detail: fmt.Sprintf("%s corrects rows it has delivered. Use mode = \"upsert\" (the table follows each change) or \"replace\" (it is written anew).", c.From)}
	case mode != modeAppend && !view:
		return nil, &connector.UserError{Summary: fmt.Sprintf("Mode %q needs a view", mode),
			Detail: fmt.Sprintf("%s only ever gains rows. Use mode = \"append\"; where later rows are to replace earlier ones, declare a view that says how.", c.From)}
	}
	dir := c.Path
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env.Dir, dir)
	}
	dir = filepath.Clean(dir)
	table, err := deltalake.OpenTable(logstore.NewLocal(dir), deltalake.WithVersion(env.Version), deltalake.WithClock(env.Now))
	if err != nil {
		return nil, fmt.Errorf("opening the Delta table %s: %w", dir, err)
	}
	return &sink{dir: dir, mode: mode, compression: cmp.Or(c.Compression, connector.Compressions()[0]), table: table, now: env.Now}, nil
}

// Dirs is the folder of the table.
func (s *sink) Dirs() []string { return []string{s.dir} }

// Close does nothing.
func (s *sink) Close() error { return nil }

// staged is the payload: the table commit that Publish makes. Its data files are there already, under names
// that nothing else uses and no reader knows.
type staged struct {
	Transaction *deltalake.Transaction `json:"transaction,omitempty"` // nil: nothing changed
}

// Stage writes the data files of the epoch and decides its table commit.
func (s *sink) Stage(ctx context.Context, d connector.Delivery, st connector.Stager) (connector.Staged, error) {
	if err := os.MkdirAll(s.dir, 0o777); err != nil {
		return connector.Staged{}, connector.WriteError(s.dir, err)
	}
	if s.mode != modeAppend || d.Change.Deleted != "" {
		var err error
		if d, err = d.Counted(ctx, st); err != nil {
			return connector.Staged{}, err
		}
	}
	target, err := s.target(ctx, d, st)
	if err != nil {
		return connector.Staged{}, err
	}
	var p staged
	if p.Transaction, err = target.stage(ctx, s.mode); err != nil {
		return connector.Staged{}, err
	}
	payload, err := json.Marshal(p)
	if err != nil {
		return connector.Staged{}, fmt.Errorf("writing the payload of %s: %w", d.Sink, err)
	}
	if d.Overwrite { // what the table held already does not count
		d.Counts = target.delivery.Counts
	}
	if d.Counts.Inserted < 0 { // an append has counted them by writing them
		d.Counts.Inserted = target.written
	}
	return connector.Staged{Payload: payload, Rows: d.Counts}, nil
}

// Publish makes the table commit, unless it is in the log already.
func (s *sink) Publish(ctx context.Context, st connector.Staged) (connector.Receipt, error) {
	var p staged
	if err := json.Unmarshal(st.Payload, &p); err != nil {
		return nil, fmt.Errorf("reading the payload of a delivery to %s: %w", s.dir, err)
	}
	if p.Transaction == nil {
		return connector.Receipt{}, nil
	}
	done, err := s.table.Commit(ctx, *p.Transaction)
	if err != nil {
		return nil, s.commitError(err)
	}
	return connector.Receipt{"version": done.Version}, nil
}

// commitError tells what the user can mend from what is tried again.
func (s *sink) commitError(err error) error {
	var fenced deltalake.ErrFenced
	var conflict deltalake.ErrConflict
	switch {
	case errors.As(err, &fenced):
		return &connector.UserError{Summary: "Another process delivers to the Delta table under this sink's name",
			Detail: fmt.Sprintf("%s: %s. Stop the other process; two runtimes must not run the same pipeline.", s.dir, err)}
	case errors.As(err, &conflict):
		return &connector.UserError{Summary: "The Delta table was changed by another writer",
			Detail: fmt.Sprintf("%s: %s. What this epoch changes was decided on the table as it was before. Let nothing else write to it, and apply the sink again with -replace to write it anew.", s.dir, err)}
	}
	return s.tableError(err)
}
