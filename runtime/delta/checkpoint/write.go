// Package checkpoint writes classic checkpoints of a Delta table's log and removes what they make superfluous.
package checkpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/delta/snapshot"
)

// Store is what writing checkpoints and cleaning up need.
type Store interface {
	logstore.Store
	logstore.Overwriter
}

// rowsPerBatch bounds how many actions are held in columns at a time.
const rowsPerBatch = 8192

// Write writes the checkpoint of a snapshot's version, checks what was stored, and points _last_checkpoint to it
// unless that points higher already. Two writers of one version do no harm: both files hold the same table.
func Write(ctx context.Context, store Store, s *snapshot.Snapshot, now time.Time) error {
	actions := Actions(s, now)
	body, err := encode(actions)
	if err != nil {
		return fmt.Errorf("encoding the checkpoint of version %d: %w", s.Version, err)
	}
	key := logstore.CheckpointKey(s.Version)
	if err := store.Put(ctx, key, body); err != nil {
		return fmt.Errorf("writing the checkpoint of version %d: %w", s.Version, err)
	}
	if err := verify(ctx, store, key, len(actions)); err != nil {
		return fmt.Errorf("checking the checkpoint of version %d: %w", s.Version, err)
	}
	hint, ok, err := snapshot.Hint(ctx, store)
	if err != nil {
		return err
	}
	if ok && hint.Version >= s.Version {
		return nil
	}
	text, err := json.Marshal(snapshot.LastCheckpoint{
		Version: s.Version, Size: int64(len(actions)), SizeInBytes: int64(len(body)), NumOfAddFiles: int64(len(s.Files())),
	})
	if err != nil {
		return err
	}
	if err := store.Put(ctx, logstore.LastCheckpoint, text); err != nil {
		return fmt.Errorf("writing _last_checkpoint: %w", err)
	}
	return nil
}

func verify(ctx context.Context, store Store, key string, rows int) error {
	stored, err := store.Get(ctx, key)
	if err != nil {
		return err
	}
	f, err := file.NewParquetReader(bytes.NewReader(stored))
	if err != nil {
		return err
	}
	defer f.Close()
	if f.NumRows() != int64(rows) {
		return fmt.Errorf("it holds %d rows instead of %d", f.NumRows(), rows)
	}
	return nil
}

// Actions lists what the checkpoint of a snapshot holds: everything needed to go on from its version. Tombstones
// that no reader of older versions can need any more are left out. Statistics are always kept as text, also where
// delta.checkpoint.writeStatsAsJson is off: dropping them would lose what deletion vectors and skipping need.
func Actions(s *snapshot.Snapshot, now time.Time) []action.Action {
	var out []action.Action
	protocol, metadata := s.Protocol.Normal(), s.Metadata
	if slices.Contains(protocol.Features(), action.V2Checkpoint) {
		out = append(out, action.Action{CheckpointMetadata: &action.CheckpointMetadata{Version: s.Version}})
	}
	out = append(out, action.Action{Protocol: &protocol}, action.Action{Metadata: &metadata})
	for _, t := range s.Txns() {
		out = append(out, action.Action{Txn: &t})
	}
	for _, d := range s.Domains() {
		out = append(out, action.Action{DomainMetadata: &d})
	}
	for _, f := range s.Files() {
		f.DataChange = false
		out = append(out, action.Action{Add: &f})
	}
	expired := now.Add(-span(metadata.Configuration, deletedFileRetention, deletedFileRetentionTime)).UnixMilli()
	for _, r := range s.Tombstones() {
		if r.DeletionTimestamp > expired {
			r.DataChange = false
			out = append(out, action.Action{Remove: &r})
		}
	}
	return out
}

// encode writes actions as the Parquet file of a classic checkpoint.
func encode(actions []action.Action) (body []byte, err error) {
	schema := layout()
	var out bytes.Buffer
	writer, err := pqarrow.NewFileWriter(schema, &out,
		parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryDefault(false)), pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, err
	}
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	columns := parts(schema.Fields(), builder.Field)
	for chunk := range slices.Chunk(actions, rowsPerBatch) {
		for _, a := range chunk {
			appendAction(columns, a)
		}
		batch := builder.NewRecordBatch()
		err := writer.WriteBuffered(batch)
		batch.Release()
		if err != nil {
			return nil, err
		}
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
