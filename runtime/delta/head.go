package delta

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/delta/schema"
	"github.com/streamform/streamform/runtime/delta/snapshot"
)

// head is what a writer must know of the newest version: everything but the files.
type head struct {
	version    int64 // NoTable before there is one
	protocol   action.Protocol
	metadata   action.Metadata
	schema     schema.Schema
	txns       map[string]int64
	timestamp  int64 // in-commit timestamp of version, ms; 0 unknown
	checkpoint int64 // newest one known; -1 none
	// To notice that the table was replaced: who wrote version, and the file of its table commit, once it was listed.
	txnID  string
	listed logstore.Entry
}

func headOf(s *Snapshot) *head {
	if s == nil {
		return &head{version: NoTable, checkpoint: -1, txns: map[string]int64{}}
	}
	h := &head{
		version: s.Version, protocol: s.Protocol, metadata: s.Metadata, schema: s.Schema,
		txns: map[string]int64{}, timestamp: s.Timestamp, checkpoint: s.CheckpointVersion,
	}
	for _, t := range s.Txns() {
		h.txns[t.AppID] = t.Version
	}
	return h
}

// exists tells whether there is a table.
func (h *head) exists() bool { return h.version != NoTable }

// take moves the head to the next version and tells how that changes the table.
func (h *head) take(version int64, actions []action.Action) (winner, error) {
	w := winner{version: version, actions: actions, sameTable: true, sameProtocol: true}
	h.version, h.timestamp = version, 0
	h.txnID, h.listed = committedBy(actions), logstore.Entry{}
	for _, a := range actions {
		switch {
		case a.Protocol != nil:
			next := a.Protocol.Normal()
			w.sameProtocol = h.protocol.Equal(next)
			h.protocol = next
		case a.Metadata != nil:
			parsed, err := schema.Parse(a.Metadata.SchemaString)
			if err != nil {
				return w, fmt.Errorf("version %d: %w", version, err)
			}
			w.sameTable = sameTable(h.metadata, *a.Metadata)
			h.metadata, h.schema = *a.Metadata, parsed
		case a.Txn != nil:
			h.txns[a.Txn.AppID] = a.Txn.Version
		case a.CommitInfo != nil && a.CommitInfo.InCommitTimestamp != nil:
			h.timestamp = *a.CommitInfo.InCommitTimestamp
		}
	}
	return w, snapshot.CheckRead(h.protocol)
}

// sameTable tells whether files staged for one metadata are right for the other.
func sameTable(a, b action.Metadata) bool {
	return a.SchemaString == b.SchemaString && slices.Equal(a.PartitionColumns, b.PartitionColumns) &&
		maps.Equal(a.Configuration, b.Configuration)
}

// refresh brings the head up to the newest version in the store. The listing also guards against a log that was cleaned up
// or replaced since: writing behind a gap would hide the table's rows.
func (t *Table) refresh(ctx context.Context) (*head, error) {
	if h, err := t.loaded(ctx); h != nil || err != nil {
		return h, err
	}
	if h := t.head; h != nil && h.exists() {
		log, err := snapshot.List(ctx, t.store, h.version)
		if err != nil {
			return nil, err
		}
		same, err := t.continues(ctx, h, log)
		if err != nil {
			return nil, err
		}
		if same {
			err := t.follow(ctx, h, log.Newest())
			h.listed = log.Commit(h.version)
			return h, err
		}
	}
	s, err := t.Load(ctx)
	if err != nil {
		return nil, err
	}
	t.head = headOf(s)
	return t.head, nil
}

// loaded is the head by the newest snapshot made, if that is still of the newest version; else nil.
func (t *Table) loaded(ctx context.Context) (*head, error) {
	t.loading.Lock()
	last := t.last
	t.loading.Unlock()
	if last == nil || t.head != nil && t.head.version > last.Version {
		return nil, nil
	}
	newest, err := last.Newest(ctx, t.store)
	if err != nil || !newest {
		return nil, err
	}
	h := headOf(last)
	if t.head != nil && t.head.metadata.ID == h.metadata.ID {
		h.checkpoint = max(h.checkpoint, t.head.checkpoint)
	}
	t.head = h
	return h, nil
}

// continues tells whether a listing is of the head's table, without a gap.
func (t *Table) continues(ctx context.Context, h *head, log snapshot.Log) (bool, error) {
	found := log.Commit(h.version)
	if found.Name == "" || !log.Has(h.version, log.Newest()) {
		return false, nil
	}
	if h.listed.Name != "" {
		return h.listed == found, nil
	}
	actions, err := snapshot.ReadCommit(ctx, t.store, h.version)
	if err != nil {
		return false, err
	}
	return committedBy(actions) == h.txnID, nil
}

// follow reads the versions after the head up to the newest.
func (t *Table) follow(ctx context.Context, h *head, newest int64) error {
	for v := h.version + 1; v <= newest; v++ {
		actions, err := snapshot.ReadCommit(ctx, t.store, v)
		if err == nil {
			_, err = h.take(v, actions)
		}
		if err != nil {
			t.head = nil
			return err
		}
	}
	return nil
}

// previousTimestamp is the in-commit timestamp of the head's version.
func (t *Table) previousTimestamp(ctx context.Context, h *head) (int64, error) {
	if h.timestamp != 0 || !h.exists() {
		return h.timestamp, nil
	}
	actions, err := snapshot.ReadCommit(ctx, t.store, h.version)
	if snapshot.Missing(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, a := range actions {
		if a.CommitInfo != nil && a.CommitInfo.InCommitTimestamp != nil {
			h.timestamp = *a.CommitInfo.InCommitTimestamp
		}
	}
	return h.timestamp, nil
}

// committedBy is the id of the transaction that wrote a table commit; empty when it does not say.
func committedBy(actions []action.Action) string {
	for _, a := range actions {
		if a.CommitInfo != nil {
			return a.CommitInfo.TxnID
		}
	}
	return ""
}

// commitKey is where a version's table commit lies.
func commitKey(version int64) string { return logstore.CommitKey(version) }
