// Package delta is the Delta Lake table protocol as a library: open a table, read a version of it, and commit to it exactly once.
//
// It knows logs, not rows: DuckDB writes and reads the data files with the statements made here.
package delta

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/checkpoint"
	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/delta/schema"
	"github.com/streamform/streamform/runtime/delta/snapshot"
)

// Snapshot is a table at one version.
type Snapshot = snapshot.Snapshot

// Table is a Delta table that may or may not exist yet. Its methods may be called from several goroutines; commits
// through one Table follow one another.
type Table struct {
	store   logstore.Store
	version string
	now     func() time.Time

	committing sync.Mutex
	head       *head // newest version known to the writer; guarded by committing

	loading sync.Mutex
	last    *Snapshot // newest snapshot made; guarded by loading
}

// Option changes how a Table works.
type Option func(*Table)

// WithVersion sets the version of streamform that table commits name as their engine.
func WithVersion(version string) Option { return func(t *Table) { t.version = version } }

// WithClock replaces the clock.
func WithClock(now func() time.Time) Option { return func(t *Table) { t.now = now } }

// OpenTable returns the table that the store holds. Nothing is read yet.
func OpenTable(store logstore.Store, options ...Option) (*Table, error) {
	if store == nil {
		return nil, errors.New("a Delta table needs a log store")
	}
	t := &Table{store: store, version: "dev", now: time.Now}
	for _, o := range options {
		o(t)
	}
	return t, nil
}

// Load reads the newest version. It returns nil and no error when there is no table.
func (t *Table) Load(ctx context.Context) (*Snapshot, error) {
	t.loading.Lock()
	defer t.loading.Unlock()
	s, err := snapshot.Advance(ctx, t.store, t.last, snapshot.Latest)
	if err != nil {
		return nil, fmt.Errorf("loading the Delta table: %w", err)
	}
	t.last = s
	return s, nil
}

// LoadAt reads one version. It returns nil and no error when there is no table at all.
func (t *Table) LoadAt(ctx context.Context, version int64) (*Snapshot, error) {
	if version < 0 {
		return nil, fmt.Errorf("a Delta table has no version %d", version)
	}
	t.loading.Lock()
	defer t.loading.Unlock()
	s, err := snapshot.Advance(ctx, t.store, t.last, version)
	if err != nil {
		return nil, fmt.Errorf("loading version %d of the Delta table: %w", version, err)
	}
	if s != nil && (t.last == nil || s.Version > t.last.Version) {
		t.last = s
	}
	return s, nil
}

// Checkpoint writes the checkpoint of a version.
func (t *Table) Checkpoint(ctx context.Context, version int64) error {
	store, ok := t.store.(checkpoint.Store)
	if !ok {
		return errors.New("the table's store cannot write checkpoints")
	}
	s, err := t.LoadAt(ctx, version)
	if err != nil {
		return err
	}
	if s == nil {
		return errors.New("there is no Delta table to write a checkpoint of")
	}
	return checkpoint.Write(ctx, store, s, t.now())
}

// noReader is the bound of Cleanup when nobody stands at an old version.
const noReader = int64(-1)

// Cleanup deletes log files older than the table's retention, down to what retained versions need, and returns
// how many. Versions from keep on stay (negative: no such bound): pass the lowest version a reader still stands at.
func (t *Table) Cleanup(ctx context.Context, keep int64) (int, error) {
	store, ok := t.store.(checkpoint.Store)
	if !ok {
		return 0, errors.New("the table's store cannot delete files")
	}
	s, err := t.Load(ctx)
	if err != nil || s == nil {
		return 0, err
	}
	return checkpoint.Cleanup(ctx, store, s, t.now(), keep)
}

// NewMetadata describes a new table. Column names are checked; partition columns must be columns, not all of them, and not nested.
func NewMetadata(s schema.Schema, partitions []string, configuration map[string]string, now time.Time) (action.Metadata, error) {
	m := action.Metadata{
		ID: uuid.NewString(), Format: action.Format{Provider: "parquet"}, PartitionColumns: []string{},
		Configuration: map[string]string{}, CreatedTime: now.UnixMilli(),
	}
	for key, value := range configuration {
		m.Configuration[key] = value
	}
	mode, err := schema.ModeOf(m.Configuration)
	if err != nil {
		return action.Metadata{}, err
	}
	if err := s.Check(mode != schema.ByLogicalName); err != nil {
		return action.Metadata{}, err
	}
	for _, name := range partitions {
		f, ok := s.Field(name)
		if !ok {
			return action.Metadata{}, fmt.Errorf("partition column %q is not among the columns", name)
		}
		if _, err := schema.PartitionText("x", f.Type); err != nil {
			return action.Metadata{}, fmt.Errorf("partition column %q: %w", name, err)
		}
		m.PartitionColumns = append(m.PartitionColumns, f.Name)
	}
	if len(s) == 0 || len(partitions) >= len(s) {
		return action.Metadata{}, errors.New("a Delta table needs a column that is not a partition column")
	}
	if s, m.Configuration, err = schema.AssignMapping(s, m.Configuration); err != nil {
		return action.Metadata{}, err
	}
	m.SchemaString = s.String()
	return m, nil
}

// Evolve returns the metadata that adds to a table what incoming columns have beyond it; nil when nothing is missing.
// It is an error when the columns do not fit the table: see schema.Merge.
func Evolve(s *Snapshot, incoming schema.Schema) (*action.Metadata, error) {
	merged, changed, err := schema.Merge(s.Schema, incoming)
	if err != nil || !changed {
		return nil, err
	}
	if err := merged.Check(s.Mode != schema.ByLogicalName); err != nil {
		return nil, err
	}
	m := s.Metadata
	if merged, m.Configuration, err = schema.AssignMapping(merged, m.Configuration); err != nil {
		return nil, err
	}
	m.SchemaString = merged.String()
	return &m, nil
}
