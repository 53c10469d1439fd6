// Package console prints what changes, for a look at a pipeline while it is built.
package console

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
)

// config is a sink "console" block.
type config struct {
	From        schema.Ref
	Rows        int64
	Since       string
	History     string
	Description string
}

// Definition is the kind sink.console and what opens it.
func Definition() connector.Definition {
	return connector.Definition{Kind: kind(), Sink: open, Adapts: func(_, _ batch.Schema) string { return "" }}
}

func kind() schema.Kind {
	return schema.Kind{
		Block: addr.Sink, Type: "console",
		Doc: "Prints each epoch's new (+) and removed (-) rows; after a crash an epoch may be printed twice.",
		New: func() schema.Config { return &config{Rows: 100} },
		Example: `sink "console" "look" {
  from = view.sales_by_customer
}
`,
	}
}

// Fields lists the attributes of sink.console.
func (c *config) Fields() []schema.Field {
	return []schema.Field{
		schema.Required("from", &c.From, "The source, stream or view that is printed.",
			schema.Refs(addr.Source, addr.Stream, addr.View), schema.OnChange(schema.CostRebuild)),
		schema.Optional("rows", &c.Rows, "Rows of one epoch that are printed at most; the others are only counted.", schema.Min(int64(1)), schema.Max(int64(10_000))),
		schema.Since(&c.Since),
		schema.History(&c.History),
		schema.Optional("description", &c.Description, "What the sink is for, for people.", schema.OnChange(schema.CostNone)),
	}
}

// sink is an open sink.console.
type sink struct {
	rows int64
	out  func(line string)
}

func open(_ context.Context, cfg schema.Config, env connector.Env) (connector.Sink, error) {
	return &sink{rows: cfg.(*config).Rows, out: env.Out}, nil
}

// Dirs is nothing: no file is written.
func (s *sink) Dirs() []string { return nil }

// Close does nothing.
func (s *sink) Close() error { return nil }

// Stage puts the lines to be printed into the payload.
func (s *sink) Stage(ctx context.Context, d connector.Delivery, st connector.Stager) (connector.Staged, error) {
	d, err := d.Counted(ctx, st)
	if err != nil {
		return connector.Staged{}, err
	}
	rows, err := st.Query(ctx, query(d, s.rows))
	if err != nil {
		return connector.Staged{}, fmt.Errorf("reading the rows to print: %w", err)
	}
	headings := make([]string, len(d.Change.Columns))
	numeric := make([]bool, len(d.Change.Columns))
	for i, c := range d.Change.Columns {
		headings[i], numeric[i] = c.Name, isNumber(c.Type)
	}
	lines := append([]string{title(d)}, table(headings, numeric, rows)...)
	if rest := d.Counts.Inserted + d.Counts.Deleted - int64(len(rows)); rest > 0 {
		lines = append(lines, fmt.Sprintf("  … and %d more", rest))
	}
	payload, err := json.Marshal(lines)
	if err != nil {
		return connector.Staged{}, fmt.Errorf("writing the payload of %s: %w", d.Sink, err)
	}
	return connector.Staged{Payload: payload, Rows: d.Counts}, nil
}

// Publish prints. It cannot know whether it has printed before, so a delivery is printed at least once.
func (s *sink) Publish(_ context.Context, st connector.Staged) (connector.Receipt, error) {
	var lines []string
	if err := json.Unmarshal(st.Payload, &lines); err != nil {
		return nil, fmt.Errorf("reading the payload of a delivery to the console: %w", err)
	}
	for _, line := range lines {
		s.out(line)
	}
	return connector.Receipt{"rows": st.Rows.Inserted + st.Rows.Deleted}, nil
}

func title(d connector.Delivery) string {
	text := fmt.Sprintf("%s, epoch %d: +%d", d.Sink, d.Epoch, d.Counts.Inserted)
	if d.Counts.Deleted > 0 {
		text += fmt.Sprintf(" -%d", d.Counts.Deleted)
	}
	if d.Overwrite {
		text += ", replacing all rows before"
	}
	return text
}

// query is the rows to print, each after its sign. A stream keeps its order; the rows of a view stand by key, the old
// one before the new one.
func query(d connector.Delivery, limit int64) string {
	text := "SELECT '+' AS sign, * FROM " + d.Change.Inserted
	if d.Change.Deleted != "" {
		text = "SELECT '-' AS sign, * FROM " + d.Change.Deleted + " UNION ALL " + text
	}
	if !d.AppendOnly {
		text += " ORDER BY " + strings.Join(append(order(d), "1 DESC"), ", ")
	}
	return text + " LIMIT " + strconv.FormatInt(limit, 10)
}

// order lists the places of the columns that rows are ordered by, counted after the sign.
func order(d connector.Delivery) []string {
	isKey := map[string]bool{}
	for _, k := range d.Key {
		isKey[strings.ToLower(k)] = true
	}
	var places []string
	for i, c := range d.Change.Columns {
		if len(d.Key) == 0 || isKey[strings.ToLower(c.Name)] {
			places = append(places, strconv.Itoa(i+2))
		}
	}
	return places
}
