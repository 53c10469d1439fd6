package job

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/store"
)

// section is what one epoch computes.
type section struct {
	intakes   []intake
	views     []Relation // read as they stand
	exchanged []Exchange // change by what tells their rows from the former ones
	relations []Relation
	first     bool               // of a replay
	seeds     map[string]Carried // by name, of the relations that take over keyed data
	sinks     []Sink
	forget    bool // relations start empty, and what they would remember is dropped
}

// outcome is a computed epoch, not yet committed.
type outcome struct {
	section
	epoch   int64
	clock   int64  // see Work.Now
	seen    uint64 // the commit it was computed upon
	tick    bool   // nothing was read: the clock alone changes rows
	begun   time.Time
	result  *query.Result
	parcels []parcel // in the order they are to be delivered
	spent   spans
}

// compute runs a section and checks that its files stayed as they were; after a failure,
// too: a file that went away explains it better than the engine does.
func (j *Job) compute(ctx context.Context, s section) (*outcome, error) {
	o := &outcome{section: s, epoch: j.next(), clock: j.clock(), begun: j.Now(), spent: spans{}}
	err := j.run(ctx, o, false)
	if errors.Is(err, query.ErrCareful) {
		err = j.run(ctx, o, true)
	}
	o.spent[addBatch] = j.Now().Sub(o.begun)
	if moved := j.verify(ctx, s.intakes); moved != nil {
		return nil, moved
	}
	if err != nil {
		return nil, j.failure(j.Name, fmt.Errorf("running epoch %d of %s: %w", o.epoch, j.Name, err))
	}
	o.countParcels()
	return o, nil
}

// countParcels sets how many rows sinks were given, which the engine may know only when it is done; a change that
// turned out to be empty is not delivered.
func (o *outcome) countParcels() {
	counts := map[string]batch.Counts{}
	for i, in := range o.intakes {
		counts[in.reader.Addr.Relation()] = batch.Counts{Inserted: o.result.Inputs[i].Rows}
	}
	for name, n := range o.result.Relations {
		counts[name] = n
	}
	for i, p := range o.parcels {
		if o.parcels[i].Rows = counts[p.from]; p.overwrite && p.Staged.Rows.Inserted >= 0 {
			o.parcels[i].Rows = p.Staged.Rows
		}
	}
	o.parcels = slices.DeleteFunc(o.parcels, func(p parcel) bool { return p.Rows == (batch.Counts{}) && !p.overwrite })
}

func (j *Job) run(ctx context.Context, o *outcome, careful bool) error {
	view := j.Store.View()
	defer view.Close()
	o.seen = view.Commit()
	o.parcels = nil
	work := j.work(o, careful)
	for _, in := range o.intakes {
		input := query.Input{Relation: in.reader.Addr.Relation(), Scan: in.reader.Scan, Again: in.replay, Keep: in.keeps(), Held: in.heldRows(view), Epoch: o.epoch, Deliver: j.deliverer(o, in.reader.Addr.Relation())}
		for _, r := range in.records {
			input.Files = append(input.Files, r.File())
		}
		work.Inputs = append(work.Inputs, input)
	}
	for _, v := range o.views {
		work.Steps = append(work.Steps, query.Step{Relation: v.Addr.Relation(), Program: v.Program, Memory: memory(view, v, false), Whole: true})
	}
	for _, x := range o.exchanged {
		former := query.Held{Relation: x.Former.Addr.Relation(), Program: x.Former.Program, Memory: memory(view, x.Former, false)}
		work.Steps = append(work.Steps, query.Step{Relation: x.Addr.Relation(), Program: x.Program, Memory: memory(view, x.Relation, false),
			Former: &former, Wide: x.Wide, Deliver: j.deliverer(o, x.Addr.Relation())})
	}
	several := o.several()
	for _, r := range o.relations {
		step := query.Step{Relation: r.Addr.Relation(), Program: r.Program, Memory: memory(view, r, o.forget), Deliver: j.deliverer(o, r.Addr.Relation()),
			Shared: several[r.Addr.Relation()]}
		if from, ok := o.seeds[r.Addr.Relation()]; ok {
			j.seed(&step, from, view)
		}
		if len(r.Shared) > 0 {
			settle(&step, r, o.first)
		}
		work.Steps = append(work.Steps, step)
	}
	var err error
	o.result, err = j.Engine.Run(ctx, work)
	return err
}

func memory(v *store.View, r Relation, forget bool) func(string) query.Memory {
	return func(operator string) query.Memory {
		table, ok := r.Tables[operator]
		if forget || !ok {
			return nothing{}
		}
		return v.Table(table)
	}
}

// nothing is the memory of an operator that starts empty.
type nothing struct{}

func (nothing) Read(n int, _ func(int) []byte, fn func(int, []byte)) error {
	for i := range n {
		fn(i, nil)
	}
	return nil
}
func (nothing) Scan(func(key, value []byte) error) error { return nil }
func (nothing) Blocks(func(block []byte) error) error    { return nil }
func (nothing) Pieces(names [][]byte) ([][]byte, error)  { return make([][]byte, len(names)), nil }

type deliverFunc = func(ctx context.Context, change batch.Change, counts batch.Counts, s *query.Stager) error

// deliverer stages a relation's change for each of its sinks; nil when it has none.
func (j *Job) deliverer(o *outcome, relation string) deliverFunc {
	var sinks []Sink
	for _, s := range o.sinks {
		if s.From == relation {
			sinks = append(sinks, s)
		}
	}
	if len(sinks) == 0 {
		return nil
	}
	return func(ctx context.Context, change batch.Change, counts batch.Counts, st *query.Stager) error {
		for _, s := range sinks {
			p, err := j.stage(ctx, s, connector.Delivery{Epoch: o.epoch, Change: change, Counts: counts}, stager{st})
			if err != nil {
				return err
			}
			o.parcels = append(o.parcels, p)
		}
		return nil
	}
}

func (j *Job) stage(ctx context.Context, s Sink, d connector.Delivery, st connector.Stager) (parcel, error) {
	d.Pipeline, d.Sink, d.Origin, d.Generation = s.Life, s.Addr.String(), s.Origin.String(), s.Generation
	d.Key, d.AppendOnly, d.Overwrite = s.Key, s.AppendOnly, s.Overwrite
	d.Previous = j.receipts[s.ID].Receipt
	staged, err := s.To.Stage(ctx, d, st)
	if err != nil {
		return parcel{}, j.failure(s.Addr.String(), fmt.Errorf("staging for %s: %w", s.Addr, err))
	}
	rows := d.Counts
	if s.Overwrite {
		rows = staged.Rows
	}
	return parcel{Sink: s.ID, Address: s.Addr, Epoch: d.Epoch, Staged: staged, Rows: rows, from: s.From, overwrite: s.Overwrite}, nil
}

// stager is the engine as a sink sees it.
type stager struct{ engine *query.Stager }

func (s stager) Copy(ctx context.Context, q, path string, format batch.Format) (connector.Written, error) {
	w, err := s.engine.Copy(ctx, q, path, format)
	return connector.Written(w), err
}

func (s stager) Query(ctx context.Context, q string) ([][]*string, error) {
	return s.engine.Query(ctx, q)
}

func (s stager) Hold(ctx context.Context, q string) (string, error) { return s.engine.Hold(ctx, q) }

func (s stager) HoldFiles(ctx context.Context, q string, files []string, columns batch.Schema) (string, error) {
	return s.engine.HoldFiles(ctx, q, files, columns)
}

// commit decides a computed epoch: one synced batch. admit adds what belongs to the positions it moved.
func (j *Job) commit(o *outcome, admit func(b *store.Batch) error) error {
	began := j.Now()
	b := j.Store.NewBatch()
	if err := admit(b); err != nil {
		return err
	}
	if !o.forget {
		if err := o.remember(b); err != nil {
			return fmt.Errorf("committing epoch %d of %s: %w", o.epoch, j.Name, err)
		}
	}
	clocks, err := o.writeClocks(b)
	if err != nil {
		return err
	}
	counters := j.count(o)
	for id, c := range counters {
		if err := writeJSON(b, "cnt/"+id, c); err != nil {
			return err
		}
	}
	for i := range o.parcels {
		o.parcels[i].Seq = int64(i)
		if err := writeJSON(b, o.parcels[i].key(j.ID), o.parcels[i]); err != nil {
			return err
		}
	}
	all := j.Sequence
	all.mu.Lock()
	defer all.mu.Unlock()
	last, pace := max(all.committed, o.epoch), j.paced(o)
	if err := writeJSON(b, "pipe/"+j.ID, pipelineRecord{Epoch: last, Pace: pace}); err != nil {
		return err
	}
	if err := j.commitBatch(b); err != nil {
		return fmt.Errorf("committing epoch %d of %s: %w", o.epoch, j.Name, err)
	}
	maps.Copy(j.counters, counters)
	maps.Copy(j.clocks, clocks)
	all.committed, all.pace = last, pace
	if j.epoch = o.epoch; o.epoch == j.taken {
		j.taken = 0
	}
	j.outbox = append(j.outbox, o.parcels...)
	o.spent[walCommit] = j.Now().Sub(began)
	return nil
}

// paced is the pipeline's pace with an epoch; one that read nothing says nothing. The sequence is locked.
func (j *Job) paced(o *outcome) Pace {
	var rows, bytes int64
	for i, in := range o.intakes {
		rows += o.result.Inputs[i].Rows
		for _, r := range in.records {
			bytes += r.SizeBytes
		}
	}
	if rows == 0 {
		return j.Sequence.pace
	}
	return j.Sequence.pace.after(rows, bytes, j.Now().Sub(o.begun))
}

func (o *outcome) remember(b *store.Batch) error {
	for _, r := range o.relations {
		for _, m := range o.result.Remember[r.Addr.Relation()] {
			table, ok := r.Tables[m.Operator]
			if !ok {
				return fmt.Errorf("%s has no table for what its operator %s remembers", r.Addr, m.Operator)
			}
			b.Expect(table, m.Len(), m.Changes.Bytes())
			m.Each(func(key, value []byte, was int) {
				switch {
				case was != query.Unknown:
					b.Replace(table, key, value, store.Former{Commit: o.seen, Bytes: was})
				case value == nil:
					b.Delete(table, key)
				default:
					b.Put(table, key, value)
				}
			})
			for _, block := range m.Blocks {
				b.AppendBlock(table, block)
			}
			for _, p := range m.Pieces {
				b.PutPiece(table, p.Name, p.Value)
			}
		}
	}
	return nil
}

func (j *Job) count(o *outcome) map[string]Counters {
	sums := map[string]Counters{}
	for _, r := range o.relations {
		n, had := o.result.Relations[r.Addr.Relation()], j.counters[r.ID]
		if first := r.Program.Initial && had.Epochs == 0; r.ID != "" && (first || n != (batch.Counts{})) {
			sums[r.ID] = had.plus(n)
		}
	}
	for _, p := range o.parcels {
		sums[p.Sink] = j.counters[p.Sink].plus(p.Rows)
	}
	return sums
}
