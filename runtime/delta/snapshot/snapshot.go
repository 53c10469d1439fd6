// Package snapshot reads a Delta table's log: it finds the newest usable checkpoint, replays what follows, and holds the result.
package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/delta/schema"
)

// Snapshot is a table at one version. It never changes once it is made.
type Snapshot struct {
	Version  int64
	Protocol action.Protocol
	Metadata action.Metadata
	// Schema is nil when the log has none, as some old ones: such a table cannot be scanned.
	Schema schema.Schema
	Mode   schema.Mode
	// CheckpointVersion is that of the checkpoint the replay began with; -1 for none.
	CheckpointVersion int64
	// Timestamp is that of the newest table commit (ms since 1970): the in-commit one
	// where the table has it. It is 0 when that commit is known from a checkpoint only.
	Timestamp int64
	// Root is the table's folder (absolute) when its store is a local one.
	Root string

	state  state
	sorted sync.Once
	files  []action.Add // see Files
	// commit is the file of Version's table commit, to notice that the table was replaced.
	commit logstore.Entry
}

// Txn returns how far an application has delivered.
func (s *Snapshot) Txn(appID string) (version int64, ok bool) {
	t, ok := s.state.txns[appID]
	return t.Version, ok
}

// Txns returns how far all applications have delivered, sorted by their ids.
func (s *Snapshot) Txns() []action.Txn {
	return sorted(s.state.txns, func(t action.Txn) string { return t.AppID })
}

// Domains returns the settings of table features that were not removed, sorted by name.
func (s *Snapshot) Domains() []action.DomainMetadata {
	return sorted(s.state.domains, func(d action.DomainMetadata) string { return d.Domain })
}

// Tombstones returns the files known to have been removed and not added again, sorted by path.
func (s *Snapshot) Tombstones() []action.Remove {
	removed := maps.Collect(s.state.removed.all())
	return sorted(removed, func(r action.Remove) string { return r.Path + "\x00" + r.DeletionVector.ID() })
}

// Live returns the live file of a decoded path and deletion vector id.
func (s *Snapshot) Live(key action.FileKey) (action.Add, bool) {
	return s.state.live.get(key)
}

func sorted[K comparable, V any](m map[K]V, by func(V) string) []V {
	return slices.SortedFunc(maps.Values(m), func(a, b V) int { return cmp.Compare(by(a), by(b)) })
}

// state is what replay collects.
type state struct {
	protocol *action.Protocol
	metadata *action.Metadata
	live     layered[action.Add]
	removed  layered[action.Remove]
	txns     map[string]action.Txn
	domains  map[string]action.DomainMetadata
	info     *action.CommitInfo // of the newest table commit, when that was replayed
}

func newState() *state {
	return &state{txns: map[string]action.Txn{}, domains: map[string]action.DomainMetadata{}}
}

func (s *state) clone() *state {
	return &state{
		protocol: s.protocol, metadata: s.metadata, info: s.info,
		live: s.live.clone(), removed: s.removed.clone(),
		txns: maps.Clone(s.txns), domains: maps.Clone(s.domains),
	}
}

// apply takes the actions of one version, or of a checkpoint, on top of what came before.
func (s *state) apply(actions []action.Action) {
	for _, a := range actions {
		switch {
		case a.Add != nil:
			key := a.Add.Key()
			s.live.set(key, *a.Add)
			s.removed.remove(key)
		case a.Remove != nil:
			key := a.Remove.Key()
			s.live.remove(key)
			s.removed.set(key, *a.Remove)
		case a.Protocol != nil:
			p := a.Protocol.Normal()
			s.protocol = &p
		case a.Metadata != nil:
			s.metadata = a.Metadata
		case a.Txn != nil:
			s.txns[a.Txn.AppID] = *a.Txn
		case a.DomainMetadata != nil && a.DomainMetadata.Removed:
			delete(s.domains, a.DomainMetadata.Domain)
		case a.DomainMetadata != nil:
			s.domains[a.DomainMetadata.Domain] = *a.DomainMetadata
		}
	}
}

// commit takes one table commit.
func (s *state) commit(actions []action.Action) {
	s.info = nil
	for _, a := range actions {
		if a.CommitInfo != nil {
			s.info = a.CommitInfo
		}
	}
	s.apply(actions)
}

// snapshot checks the state and makes it a snapshot. Features come first: nothing else can be relied on when one is unknown.
func (s *state) snapshot(version, checkpoint int64) (*Snapshot, error) {
	if s.protocol == nil {
		return nil, fmt.Errorf("version %d of the table has no protocol action: its log is broken", version)
	}
	if err := CheckRead(*s.protocol); err != nil {
		return nil, err
	}
	if s.metadata == nil {
		return nil, fmt.Errorf("version %d of the table has no metaData action: its log is broken", version)
	}
	out := &Snapshot{Version: version, Protocol: *s.protocol, Metadata: *s.metadata, CheckpointVersion: checkpoint, state: *s}
	if err := out.describe(); err != nil {
		return nil, err
	}
	if s.info != nil {
		out.Timestamp = s.info.Timestamp
		if s.info.InCommitTimestamp != nil {
			out.Timestamp = *s.info.InCommitTimestamp
		}
	}
	return out, nil
}

// Files are the live files, sorted by path; do not change them. They are put in order for the first who asks: one who only adds to
// the table need not pay for all its files.
func (s *Snapshot) Files() []action.Add {
	s.sorted.Do(func() { s.files = s.state.files() })
	return s.files
}

func (s *state) files() []action.Add {
	var out []action.Add
	for _, a := range s.live.all() {
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b action.Add) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.DeletionVector.ID(), b.DeletionVector.ID()))
	})
	return out
}

// describe derives the schema and the mapping mode from the metadata.
func (s *Snapshot) describe() (err error) {
	if provider := s.Metadata.Format.Provider; provider != "parquet" && provider != "" {
		return fmt.Errorf("the table's files are in format %q; only parquet is known", provider)
	}
	if s.Mode, err = schema.ModeOf(s.Metadata.Configuration); err != nil {
		return err
	}
	if s.Metadata.SchemaString == "" {
		return nil
	}
	if s.Schema, err = schema.Parse(s.Metadata.SchemaString); err != nil {
		return err
	}
	return s.Schema.Supported()
}

// ErrNoSchema says that a table's log has no schema.
var ErrNoSchema = errors.New("the table's metaData has no schemaString, so its rows cannot be read")
