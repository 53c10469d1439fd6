package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/query"
)

// whole computes streams over all they have read, as one change. It returns what sinks are given, and what was computed for that.
func (j *Job) whole(ctx context.Context, c CutOver) (given []parcel, read []*outcome, err error) {
	if len(c.Sinks) == 0 {
		return nil, nil, nil
	}
	if len(c.Former) > 0 {
		return j.joined(ctx, c)
	}
	o, err := j.part(ctx, c, Stretch{Relations: c.Relations}, c.Sinks, nil)
	if err != nil {
		return nil, nil, err
	}
	return o.parcels, []*outcome{o}, nil
}

// part computes streams as they were in a stretch: over what was read after done, up to the stretch's ends. A stretch without ends goes up to
// those of the cut-over.
func (j *Job) part(ctx context.Context, c CutOver, in Stretch, sinks []Sink, done map[string]int64) (*outcome, error) {
	s := section{relations: in.Relations, sinks: sinks, forget: true}
	for _, reader := range j.sources {
		end, ok := c.Ends[reader.ID]
		if !ok {
			continue
		}
		if in.Ends != nil {
			end = min(end, max(in.Ends[reader.ID], done[reader.ID]))
		}
		intake, err := j.choose(ctx, span{reader: reader, from: done[reader.ID], to: end, replay: true, all: true})
		if err != nil {
			return nil, err
		}
		s.intakes = append(s.intakes, intake)
	}
	return j.compute(ctx, s)
}

// joined is whole where streams have read a part of their input by queries they had before: each part is computed by the query of then, and
// its rows wait in files until all are there.
func (j *Job) joined(ctx context.Context, c CutOver) (given []parcel, read []*outcome, err error) {
	dir, err := os.MkdirTemp(c.Spool, "parts-")
	if err != nil {
		return nil, nil, fmt.Errorf("making a folder for rows that wait: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	rooms := map[string]*waiting{}
	var collectors []Sink
	for _, s := range c.Sinks {
		if rooms[s.From] == nil {
			rooms[s.From] = &waiting{dir: filepath.Join(dir, strconv.Itoa(len(rooms)))}
			collectors = append(collectors, Sink{Addr: s.Addr, From: s.From, To: rooms[s.From]})
		}
	}
	done := map[string]int64{}
	for _, stretch := range append(c.Former[:len(c.Former):len(c.Former)], Stretch{Relations: c.Relations}) {
		o, err := j.part(ctx, c, stretch, collectors, done)
		if err != nil {
			return nil, nil, err
		}
		for _, in := range o.intakes {
			done[in.reader.ID] = in.to
		}
		read = append(read, o)
	}
	for _, s := range c.Sinks {
		if rooms[s.From].rows == 0 {
			continue
		}
		err := j.Engine.Nothing(ctx, s.Columns, func(ctx context.Context, change batch.Change, counts batch.Counts, st *query.Stager) error {
			change.Inserted, counts.Inserted = rooms[s.From].all(), rooms[s.From].rows
			p, err := j.stage(ctx, s, connector.Delivery{Epoch: j.next(), Change: change, Counts: counts}, stager{st})
			given = append(given, p)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return given, read, nil
}

// waiting is a sink whose rows only wait in files, to be given to others together.
type waiting struct {
	dir   string // what the files' names begin with
	files []string
	rows  int64
}

// Stage writes one more file.
func (w *waiting) Stage(ctx context.Context, d connector.Delivery, st connector.Stager) (connector.Staged, error) {
	path := fmt.Sprintf("%s-%d.parquet", w.dir, len(w.files))
	written, err := st.Copy(ctx, "SELECT * FROM "+d.Change.Inserted, path, batch.Format{Name: "parquet", Options: map[string]string{"compression": "zstd"}})
	if err == nil && written.Rows > 0 {
		w.files = append(w.files, path)
		w.rows += written.Rows
	}
	return connector.Staged{}, err
}

// all is what stands after FROM to read every row.
func (w *waiting) all() string {
	var quoted []string
	for _, f := range w.files {
		quoted = append(quoted, "'"+strings.ReplaceAll(f, "'", "''")+"'")
	}
	return "(SELECT * FROM read_parquet([" + strings.Join(quoted, ", ") + "]))"
}

// Publish is never called: nothing of it is put into the outbox.
func (w *waiting) Publish(context.Context, connector.Staged) (connector.Receipt, error) {
	return nil, nil
}

func (w *waiting) Dirs() []string { return nil }

func (w *waiting) Close() error { return nil }
