package job

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/streamform/streamform/runtime/query"
)

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
	StateOperators         []StateOperator  `json:"stateOperators,omitempty"` // in the order they ran
	Sources                []SourceProgress `json:"sources"`
	Sink                   *SinkProgress    `json:"sink,omitempty"`
	Streamform             Extension        `json:"streamform"`
	Operators              []query.Measured `json:"-"` // every operator, exact where Options.Measure is set
}

// SourceProgress is how far one source was read.
type SourceProgress struct {
	Description            string            `json:"description"` // its address
	StartOffset            Position          `json:"startOffset"`
	EndOffset              Position          `json:"endOffset"`
	LatestOffset           Position          `json:"latestOffset"`
	NumInputRows           int64             `json:"numInputRows"`
	InputRowsPerSecond     *float64          `json:"inputRowsPerSecond,omitempty"`
	ProcessedRowsPerSecond *float64          `json:"processedRowsPerSecond,omitempty"`
	Metrics                map[string]string `json:"metrics,omitempty"` // numFilesOutstanding, numBytesOutstanding
	Files                  int64             `json:"-"`                 // read in this epoch
	Bytes                  int64             `json:"-"`
	Malformed              int64             `json:"-"` // records set aside or dropped
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
	Generation map[string]int64 `json:"generation,omitempty"` // of streams and views
	WaitReason *string          `json:"waitReason"`           // no_data, paused, limit; null otherwise
	Files      int64            `json:"files"`                // read in this epoch
	Bytes      int64            `json:"bytes"`
	Sinks      []SinkDetail     `json:"sinks,omitempty"`
	Relations  []RelationDetail `json:"relations,omitempty"`
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
	Address     string `json:"address"`
	RowsRead    *int64 `json:"rows_read,omitempty"` // sources: rows_out + malformed
	RowsOut     int64  `json:"rows_out"`
	RowsRemoved int64  `json:"rows_removed,omitempty"` // rows a view no longer holds
	Malformed   int64  `json:"malformed"`
}

// Reasons for waiting.
const (
	waitNoData = "no_data"
	waitPaused = "paused"
	waitLimit  = "limit"
)

// idleEvery is how often an idle pipeline reports.
const idleEvery = 10 * time.Second

// spans are the parts of an epoch's time, under Structured Streaming's names.
type spans map[string]time.Duration

const (
	latestOffset     = "latestOffset" // choosing ranges
	addBatch         = "addBatch"     // reading and running
	walCommit        = "walCommit"    // the synced commit
	commitOffsets    = "commitOffsets"
	triggerExecution = "triggerExecution"
)

func (j *Job) report(p Progress) {
	j.reported = j.Now()
	j.Report(p)
}

func (j *Job) blank(at time.Time) Progress {
	p := Progress{ID: j.ID, RunID: j.runID, Name: j.Name, Timestamp: at.UTC().Format("2006-01-02T15:04:05.000Z"), BatchID: j.epoch, Sources: []SourceProgress{}}
	p.Streamform.Epoch = j.epoch
	if len(j.Relations) > 0 {
		p.Streamform.Generation = map[string]int64{}
	}
	for _, r := range j.Relations {
		p.Streamform.Generation[r.Addr.String()] = r.Generation
	}
	return p
}

// idleProgress has the last epoch's number, and no rates.
func (j *Job) idleProgress(reason string) Progress {
	p := j.blank(j.Now())
	p.Streamform.WaitReason = &reason
	for _, r := range j.sources {
		at := Position{r.state.Position}
		p.Sources = append(p.Sources, SourceProgress{Description: r.Addr.String(), StartOffset: at, EndOffset: at, LatestOffset: Position{r.ledger.last}})
	}
	return p
}

// progress is what an epoch did, after its commit and deliveries.
func (j *Job) progress(o *outcome) Progress {
	p := j.summed(o)
	j.lastBegun = o.begun
	j.addOperators(&p, o)
	return p
}

func (j *Job) summed(o *outcome) Progress {
	ended := j.Now()
	p := j.blank(o.begun)
	took := ended.Sub(o.begun)
	between := took
	if !j.lastBegun.IsZero() {
		between = o.begun.Sub(j.lastBegun)
	}
	p.BatchDuration = took.Milliseconds()
	p.DurationMs = map[string]int64{triggerExecution: took.Milliseconds()}
	for name, d := range o.spent {
		p.DurationMs[name] = d.Milliseconds()
	}
	for i, in := range o.intakes {
		rows := o.result.Inputs[i].Rows
		s := SourceProgress{Description: in.reader.Addr.String(), StartOffset: Position{in.from}, EndOffset: Position{in.to}, LatestOffset: Position{in.reader.ledger.last},
			Files: int64(len(in.records)), Malformed: o.result.Inputs[i].Malformed, NumInputRows: rows, InputRowsPerSecond: rate(rows, between), ProcessedRowsPerSecond: rate(rows, took)}
		s.Metrics = map[string]string{"numFilesOutstanding": strconv.FormatInt(in.reader.state.PendingFiles, 10),
			"numBytesOutstanding": strconv.FormatInt(in.reader.state.PendingBytes, 10)}
		for _, r := range in.records {
			s.Bytes += r.SizeBytes
		}
		p.Sources = append(p.Sources, s)
		p.NumInputRows += rows
		p.Streamform.Files += s.Files
		p.Streamform.Bytes += s.Bytes
		if in.more {
			reason := waitLimit
			p.Streamform.WaitReason = &reason
		}
	}
	p.InputRowsPerSecond, p.ProcessedRowsPerSecond = rate(p.NumInputRows, between), rate(p.NumInputRows, took)
	j.addRelations(&p, o)
	j.addSinks(&p, o)
	return p
}

func (j *Job) addRelations(p *Progress, o *outcome) {
	for i, in := range o.intakes {
		got := o.result.Inputs[i]
		read := got.Rows + got.Malformed
		p.Streamform.Relations = append(p.Streamform.Relations, RelationDetail{Address: in.reader.Addr.String(), RowsRead: &read, RowsOut: got.Rows, Malformed: got.Malformed})
	}
	for _, r := range o.relations {
		n := o.result.Relations[r.Addr.Relation()]
		p.Streamform.Relations = append(p.Streamform.Relations, RelationDetail{Address: r.Addr.String(), RowsOut: n.Inserted, RowsRemoved: n.Deleted})
	}
}

func (j *Job) addSinks(p *Progress, o *outcome) {
	var total int64
	for _, s := range j.Sinks {
		d := SinkDetail{Address: s.Addr.String()}
		for _, parcel := range o.parcels {
			if parcel.Sink == s.ID {
				d.NumOutputRows += parcel.Rows.Inserted + parcel.Rows.Deleted
			}
		}
		for _, parcel := range j.outbox {
			if parcel.Sink == s.ID {
				d.OutboxEpochs++
			}
		}
		if d.NumOutputRows > 0 {
			d.Receipt = j.receipts[s.ID].Receipt
		}
		total += d.NumOutputRows
		p.Streamform.Sinks = append(p.Streamform.Sinks, d)
	}
	switch len(j.Sinks) {
	case 0:
	case 1:
		p.Sink = &SinkProgress{Description: j.Sinks[0].Addr.String(), NumOutputRows: total}
	default:
		p.Sink = &SinkProgress{Description: fmt.Sprintf("%d sinks", len(j.Sinks)), NumOutputRows: total}
	}
}

// rate is rows per second, rounded half up to one decimal; nil where it would not be a number.
func rate(rows int64, over time.Duration) *float64 {
	if over <= 0 {
		return nil
	}
	r := math.Floor(float64(rows)/over.Seconds()*10+0.5) / 10
	return &r
}
