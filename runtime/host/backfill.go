package host

import (
	"context"
	"errors"
	"time"

	"github.com/streamform/streamform/lang/addr"
)

// Progress tells how far a backfill has come. Numbers are of one pipeline.
type Progress struct {
	Pipeline   string          // its name for people
	Relations  []addr.Resource // being built or brought up to date
	Rows       int64           // admitted so far
	Files      int64
	TotalFiles int64
	Bytes      int64 // as stored
	TotalBytes int64
	Elapsed    time.Duration
}

// Summary is what a backfill did.
type Summary struct {
	Sources   []SourceSummary   // by address
	Relations []RelationSummary // by address
	Sinks     []SinkSummary     // by address
}

// SourceSummary is what was read of one source. A file read for two generations counts twice.
type SourceSummary struct {
	Addr      addr.Resource
	Files     int64
	Bytes     int64
	Rows      int64 // admitted
	Malformed int64 // records set aside or dropped
}

// RelationSummary is how one stream or view changed.
type RelationSummary struct {
	Addr     addr.Resource
	Inserted int64
	Deleted  int64
}

// SinkSummary is what one sink was given.
type SinkSummary struct {
	Addr     addr.Resource
	Inserted int64
	Deleted  int64
	Receipt  map[string]any // of the last delivery, nil when there was none
}

// Backfill computes what is being built, cuts over, and then reads everything the sources
// have not been read for, once. It reports at least after each epoch, from several goroutines one at a time.
//
// It can be stopped or killed at any point: the live generations go on serving,
// and the next Backfill resumes or restarts what was being built. A pipeline's data failure
// does not stop the others; the error then joins one *job.Failure per failed pipeline.
func (h *Host) Backfill(ctx context.Context, report func(Progress)) (Summary, error) {
	return Summary{}, errors.New("not built yet")
}
