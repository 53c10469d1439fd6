package job

import "time"

// Progress is what one epoch did. Field names are those of Structured
// Streaming's query progress; what it has no name for is under streamform.
type Progress struct {
	ID                     string           `json:"id"`    // of the pipeline; survives restarts and rebuilds
	RunID                  string           `json:"runId"` // of this process or available-now run
	Name                   string           `json:"name,omitempty"`
	Timestamp              string           `json:"timestamp"` // the epoch's start, UTC, milliseconds
	BatchID                int64            `json:"batchId"`
	BatchDuration          int64            `json:"batchDuration"` // milliseconds
	NumInputRows           int64            `json:"numInputRows"`
	InputRowsPerSecond     *float64         `json:"inputRowsPerSecond,omitempty"`
	ProcessedRowsPerSecond *float64         `json:"processedRowsPerSecond,omitempty"`
	DurationMs             map[string]int64 `json:"durationMs,omitempty"`
	Sources                []SourceProgress `json:"sources"`
	Sink                   *SinkProgress    `json:"sink,omitempty"`
	Streamform             Extension        `json:"streamform"`
}

// SourceProgress is how far one source was read.
type SourceProgress struct {
	Description            string            `json:"description"` // its address
	StartOffset            *Position         `json:"startOffset"`
	EndOffset              *Position         `json:"endOffset"`
	LatestOffset           *Position         `json:"latestOffset"`
	NumInputRows           int64             `json:"numInputRows"`
	InputRowsPerSecond     *float64          `json:"inputRowsPerSecond,omitempty"`
	ProcessedRowsPerSecond *float64          `json:"processedRowsPerSecond,omitempty"`
	Metrics                map[string]string `json:"metrics,omitempty"`
}

// Position is how far a source with a ledger has been read.
type Position struct {
	Ordinal int64 `json:"ordinal"`
}

// SinkProgress sums up the sinks: the only one, or all.
type SinkProgress struct {
	Description   string `json:"description"`
	NumOutputRows int64  `json:"numOutputRows"` // inserted and deleted rows
}

// Extension is what streamform tells beyond Structured Streaming.
type Extension struct {
	Epoch      int64            `json:"epoch"`
	Generation map[string]int64 `json:"generation,omitempty"`
	WaitReason *string          `json:"waitReason"` // no_data, paused, outbox, backfill; null while there is work
	Files      int64            `json:"files"`      // read in this epoch
	Bytes      int64            `json:"bytes"`
	Sinks      []SinkDetail     `json:"sinks,omitempty"`
	Relations  []RelationDetail `json:"relations,omitempty"`
	Started    time.Time        `json:"-"`
}

// SinkDetail is what one sink was given.
type SinkDetail struct {
	Address       string         `json:"address"`
	NumOutputRows int64          `json:"numOutputRows"`
	OutboxEpochs  int64          `json:"outboxEpochs"` // decided but not delivered
	Receipt       map[string]any `json:"receipt,omitempty"`
}

// RelationDetail counts the rows of one relation in this epoch.
type RelationDetail struct {
	Address   string `json:"address"`
	RowsRead  int64  `json:"rows_read"`
	RowsOut   int64  `json:"rows_out"`
	Deleted   int64  `json:"rows_deleted,omitempty"`
	Malformed int64  `json:"malformed"`
}
