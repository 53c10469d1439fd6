package nexmark

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
)

// config is a source "nexmark" block.
type config struct {
	Table            string
	Events           int64
	EventsPerSecond  int64
	StartsAt         string
	Seed             int64
	EventsPerFile    int64
	MaxFilesPerEpoch int64
	Keep             string
	Trigger          schema.Ref
	Description      string
}

// Definition is the kind source.nexmark and what opens it.
func Definition() connector.Definition {
	return connector.Definition{Kind: kind(), Source: open}
}

func kind() schema.Kind {
	return schema.Kind{
		Block: addr.Source, Type: "nexmark",
		Doc: "Makes the events of Nexmark, an auction site used to compare streaming engines: the same rows on every machine.",
		New: func() schema.Config {
			return &config{Events: 200_000, EventsPerSecond: 2500, StartsAt: "2023-11-14T23:59:13Z", EventsPerFile: 50_000, MaxFilesPerEpoch: 1000, Keep: "none"}
		},
		Sides: []string{"files", "malformed"},
		Example: `source "nexmark" "bid" {
  table  = "bid"
  events = 100000
}
`,
	}
}

// Fields lists the attributes of source.nexmark.
func (c *config) Fields() []schema.Field {
	return []schema.Field{
		schema.Required("table", &c.Table, "Which events the relation holds; of 50 events, 1 is a person, 3 are auctions and 46 are bids.",
			schema.OnChange(schema.CostReplay), schema.OneOf("person", "auction", "bid")),
		schema.Optional("events", &c.Events, "Events there are in all, of all three tables together.",
			schema.OnChange(schema.CostReplay), schema.Min(int64(1))),
		schema.Optional("events_per_second", &c.EventsPerSecond, "How many events share a second of their own time, `dateTime`; it says nothing of how fast they are made.",
			schema.OnChange(schema.CostReplay), schema.Min(int64(1)), schema.Max(int64(10_000_000))),
		schema.Optional("starts_at", &c.StartsAt, "The time of the first event, such as 2023-11-14T23:59:13Z.",
			schema.OnChange(schema.CostReplay), schema.Check(checkStart)),
		schema.Optional("seed", &c.Seed, "Which of many data sets this is; sources of one seed, rate and start belong together.",
			schema.OnChange(schema.CostReplay), schema.Min(int64(0))),
		schema.Optional("events_per_file", &c.EventsPerFile, "Events of all tables behind one file: the smallest step in which they arrive.",
			schema.OnChange(schema.CostReplay), schema.Min(int64(50))),
		schema.Optional("max_files_per_epoch", &c.MaxFilesPerEpoch, "Files that one epoch takes at most.", schema.Min(int64(1))),
		schema.Keep(&c.Keep),
		schema.Optional("trigger", &c.Trigger, "When epochs run; without one, as soon as there is data.", schema.Refs(addr.Trigger)),
		schema.Optional("description", &c.Description, "What the source is, for people.", schema.OnChange(schema.CostNone)),
	}
}

func checkStart(text string) error {
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		return fmt.Errorf("%q is not a time; write it like \"2023-11-14T23:59:13Z\".", text)
	}
	return nil
}

// source makes its events as files in the spool, once; a file that is missing is made again, byte for byte.
type source struct {
	config    *config
	dir       string
	generator *Generator
	now       func() time.Time
}

func open(_ context.Context, cfg schema.Config, env connector.Env) (connector.Source, error) {
	c := cfg.(*config)
	start, err := time.Parse(time.RFC3339, c.StartsAt)
	if err != nil {
		return nil, &connector.UserError{Summary: "Invalid starts_at", Detail: err.Error() + "."}
	}
	start = start.UTC().Truncate(time.Millisecond)
	set := fmt.Sprintf("%d-%d-%d", c.Seed, c.EventsPerSecond, start.UnixMilli())
	return &source{config: c, dir: filepath.Join(env.Spool, "nexmark", set), now: env.Now,
		generator: New(Options{Seed: uint64(c.Seed), Rate: c.EventsPerSecond, Base: start})}, nil
}

// Discover makes the files that are missing, and enters those the ledger does not know.
func (s *source) Discover(ctx context.Context, ledger connector.Ledger) ([]connector.Entry, error) {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, fmt.Errorf("making events: %w", err)
	}
	var out []connector.Entry
	for from := int64(0); from < s.config.Events; from += s.config.EventsPerFile {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := min(from+s.config.EventsPerFile, s.config.Events)
		path := filepath.Join(s.dir, fmt.Sprintf("%s-%012d-%012d.json", s.config.Table, from, to))
		size, err := s.file(path, from, to)
		if err != nil {
			return nil, fmt.Errorf("making events: %w", err)
		}
		if _, known, err := ledger.Lookup(path); err != nil {
			return nil, fmt.Errorf("looking up %s in the ledger: %w", path, err)
		} else if known {
			continue
		}
		out = append(out, connector.Entry{Path: path, Version: version(size), SizeBytes: size, ModifiedAt: s.generator.options.Base,
			DiscoveredAt: s.now().UTC(), Ordinal: ledger.LastOrdinal() + int64(len(out)) + 1, Rows: -1, Status: connector.Pending})
	}
	return out, nil
}

// version says nothing of times: the bytes of a file follow from its name.
func version(size int64) string { return fmt.Sprintf("%d bytes", size) }

// file makes the events of [from, to) unless they are there, and returns their size. It appears whole or not at all.
func (s *source) file(path string, from, to int64) (int64, error) {
	if info, err := os.Stat(path); err == nil {
		return info.Size(), nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	f, err := os.CreateTemp(s.dir, ".new-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	w := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	for e := from; e < to; e++ {
		if Table(e) != s.config.Table {
			continue
		}
		line = s.generator.Append(line[:0], e)
		if _, err := w.Write(line); err != nil {
			return 0, errors.Join(err, f.Close())
		}
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		return 0, err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Scan decodes the files as they were made.
func (s *source) Scan() (batch.Scan, connector.Limits) {
	return batch.Scan{Format: batch.Format{Name: "json"}, Columns: Columns(s.config.Table), OnMalformed: "quarantine"},
		connector.Limits{MaxFiles: s.config.MaxFilesPerEpoch}
}

// Verify looks whether the file is as it was made.
func (s *source) Verify(_ context.Context, e connector.Entry) error {
	info, err := os.Stat(e.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", e.Path, connector.ErrVanished)
	case err != nil:
		return fmt.Errorf("looking at %s: %w", e.Path, err)
	case version(info.Size()) != e.Version:
		return fmt.Errorf("%s: %w", e.Path, connector.ErrChanged)
	}
	return nil
}

// Dirs is the folder of the files.
func (s *source) Dirs() []string { return []string{s.dir} }

// Close has nothing to free.
func (s *source) Close() error { return nil }
