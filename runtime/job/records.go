package job

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/job/kept"
	"github.com/streamform/streamform/runtime/store"
)

// What a job keeps in the store's named values:
//
//	pipe/PIPELINE            pipelineRecord
//	end/PIPELINE             endRecord, while an available-now run is under way
//	out/PIPELINE/EPOCH/SEQ   parcel, until it is known to be delivered
//	rep/PIPELINE             unreported, from an epoch's commit until it is known to be reported
//	src/SOURCE               SourceState
//	led/SOURCE/o/ORDINAL     Record
//	kept/SOURCE/ORDINAL      kept.Part, by the ordinal before its first
//	led/SOURCE/p/PATHHASH    ordinal of the path's newest entry
//	cnt/ID                   Counters of a relation or sink
//	clk/ID                   clockRecord of a relation whose rows the clock changes
//	rcp/SINK                 receiptRecord of the last delivery
//	rew/ID                   how far a rewind has come, while it is under way; the host's
//
// SOURCE, SINK and ID are the IDs of generations. Numbers in keys are 16 hexadecimal digits.

// SourceState is how far a source has been read, and the sums over what was.
type SourceState struct {
	Last         int64 `json:"last"`          // greatest ordinal given
	Position     int64 `json:"position"`      // everything up to this ordinal is read or never will be
	Files        int64 `json:"files"`         // read
	Bytes        int64 `json:"bytes"`         // as stored
	PendingFiles int64 `json:"pending_files"` // entered, not read
	PendingBytes int64 `json:"pending_bytes"`
	RowsRead     int64 `json:"rows_read"` // rows_out + malformed
	RowsOut      int64 `json:"rows_out"`
	Malformed    int64 `json:"malformed"`
}

// Counters are the rows a relation produced, or a sink was given, since its generation began.
type Counters struct {
	batch.Counts
	Epochs int64 `json:"epochs"` // that changed it
}

func (c Counters) plus(n batch.Counts) Counters {
	c.Inserted += n.Inserted
	c.Deleted += n.Deleted
	c.Epochs++
	return c
}

type pipelineRecord struct {
	Epoch int64 `json:"epoch"`
	Pace  Pace  `json:"pace,omitzero"`
}

// Pace is what a pipeline read, and how long that took, over its last epochs: older ones count less.
type Pace struct {
	Read    float64 `json:"rows"`
	Stored  float64 `json:"bytes"`
	Seconds float64 `json:"seconds"`
}

// memorable is how many seconds of work a pace goes back.
const memorable = 600

// after is the pace after one more epoch.
func (p Pace) after(rows, bytes int64, took time.Duration) Pace {
	if p.Seconds > memorable {
		p.Read, p.Stored, p.Seconds = p.Read/2, p.Stored/2, p.Seconds/2
	}
	return Pace{Read: p.Read + float64(rows), Stored: p.Stored + float64(bytes), Seconds: p.Seconds + took.Seconds()}
}

// Rows is how many rows are admitted per second; 0: unknown.
func (p Pace) Rows() float64 { return p.per(p.Read) }

// Bytes is how many bytes, as stored, are read per second; 0: unknown.
func (p Pace) Bytes() float64 { return p.per(p.Stored) }

func (p Pace) per(n float64) float64 {
	if p.Seconds <= 0 {
		return 0
	}
	return n / p.Seconds
}

// ReadPace returns how fast a pipeline has worked; zero when nothing is known.
func ReadPace(v *store.View, pipeline string) (Pace, error) {
	var r pipelineRecord
	_, err := readJSON(v, "pipe/"+pipeline, &r)
	return r.Pace, err
}

// ReadSourceState returns what is known of a source; zero when nothing is.
func ReadSourceState(v *store.View, id string) (s SourceState, err error) {
	_, err = readJSON(v, "src/"+id, &s)
	return s, err
}

// ReadCounters returns the sums of a relation or sink; zero when there are none.
func ReadCounters(v *store.View, id string) (c Counters, err error) {
	_, err = readJSON(v, "cnt/"+id, &c)
	return c, err
}

// Epoch returns the last epoch a pipeline committed; 0 before the first.
func Epoch(v *store.View, pipeline string) (int64, error) {
	var r pipelineRecord
	_, err := readJSON(v, "pipe/"+pipeline, &r)
	return r.Epoch, err
}

// SetEpoch makes a pipeline go on from an epoch: of one that it was split from or joined with.
func SetEpoch(b *store.Batch, pipeline string, epoch int64) error {
	return writeJSON(b, "pipe/"+pipeline, pipelineRecord{Epoch: epoch})
}

// Forget removes everything kept under the ID of a generation: its ledger, position, sums and receipts.
func Forget(v *store.View, b *store.Batch, id string) error {
	for _, key := range []string{"src/" + id, "cnt/" + id, "clk/" + id, "rcp/" + id, "rew/" + id} {
		b.DeleteMeta(key)
	}
	if err := kept.Forget(v, b, id); err != nil {
		return err
	}
	return v.MetaPrefix("led/"+id+"/", func(key string, _ []byte) error {
		b.DeleteMeta(key)
		return nil
	})
}

// ForgetPipeline removes what is kept under a pipeline that no longer exists. Its outbox must be empty.
func ForgetPipeline(b *store.Batch, pipeline string) {
	b.DeleteMeta("pipe/" + pipeline)
	b.DeleteMeta("end/" + pipeline)
	b.DeleteMeta("rep/" + pipeline)
}

func readJSON(v *store.View, key string, target any) (bool, error) {
	data, found, err := v.Meta(key)
	if err != nil || !found {
		return false, err
	}
	return true, decode(key, data, target)
}

func decode(key string, data []byte, target any) error {
	if err := json.Unmarshal(data, target); err != nil {
		return fmt.Errorf("reading %s: %w", key, err)
	}
	return nil
}

func writeJSON(b *store.Batch, key string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("writing %s: %w", key, err)
	}
	b.SetMeta(key, data)
	return nil
}

func number(n int64) string { return fmt.Sprintf("%016x", n) }
