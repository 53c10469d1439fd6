package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"github.com/streamform/streamform/runtime/query/compile"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/scan"
	"github.com/streamform/streamform/runtime/query/stage"
	"github.com/streamform/streamform/runtime/query/table"
)

// change is a relation's net difference inside the engine.
type change struct {
	columns    batch.Schema
	inserted   string // usable after FROM
	deleted    string // empty: nothing was taken back
	appendOnly bool
	counts     batch.Counts // -1: not counted yet
	stored     bool         // inserted is a table, cheap to read again
	// The rows of both sides as they are remembered, where the difference was made of them.
	gained, lost [][]byte
	encoded      bool
}

// epoch is one Run under way.
type epoch struct {
	*Engine
	work    Work
	changes map[string]*change // by leaf
	shared  map[uint64]joint   // by Step.Shared
	readers map[string]int     // by leaf: how often its change is read
	inputs  []*inputRun
	result  *Result
	meter   meter
	place   int // of the input or operator at work, among all of the epoch
}

// Run computes one epoch: every Step's net change, given the inputs and what the
// operators remember. Nothing outside the engine changes but files that Deliver stages.
func (e *Engine) Run(ctx context.Context, w Work) (*Result, error) {
	ep := &epoch{Engine: e, work: w, changes: map[string]*change{}, readers: map[string]int{}, meter: newMeter(w),
		result: &Result{Relations: map[string]batch.Counts{}, Remember: map[string][]Remember{}, Due: map[string]int64{}, Taken: map[string]*evolve.Taken{}}}
	small := w.small(e.options.Small)
	err := e.use(ctx, small)
	if err == nil {
		err = e.Begin(ctx, small, !w.Careful)
	}
	e.Light = w.small(e.options.Light)
	if err == nil {
		err = ep.run(ctx)
	}
	if err != nil {
		e.Doubt()
	}
	if clearErr := e.Clear(context.WithoutCancel(ctx)); clearErr != nil {
		err = errors.Join(err, clearErr)
	}
	if err != nil {
		return nil, ep.explain(err)
	}
	return ep.result, nil
}

// smallBytes is the size of the files up to which an epoch is small by default: its rows fit into memory many times over.
const smallBytes = 8 << 20

// lightShare is the part of the memory up to which files may be that an epoch reads into vectors, as a divisor.
const lightShare = 16

func (w Work) small(most int64) bool {
	if w.Careful || slices.ContainsFunc(w.Steps, func(s Step) bool { return s.Former != nil || s.Seed != nil }) {
		return false
	}
	bytes := int64(0)
	for _, in := range w.Inputs {
		for _, f := range in.Files {
			bytes += f.Size
		}
		for _, r := range in.Held {
			bytes += r.Memory()
		}
	}
	return bytes <= most
}

// next goes on to the place of the next input or operator.
func (ep *epoch) next() {
	ep.place++
	ep.At(ep.place)
}

func (ep *epoch) run(ctx context.Context) error {
	met := map[uint64]bool{}
	for _, s := range ep.work.Steps {
		if s.Whole || s.Former != nil {
			continue
		}
		for leaf, n := range s.Program.LeafUses(s.done(met)) {
			ep.readers[leaf] += n
		}
		if s.Deliver != nil {
			ep.readers[strings.ToLower(s.Relation)]++
		}
		if s.Program.HoldsResult() {
			ep.readers[strings.ToLower(s.Relation)]++
		}
	}
	for _, in := range ep.work.Inputs {
		if in.Deliver != nil || in.Keep {
			ep.readers[strings.ToLower(in.Relation)]++
		}
	}
	for _, in := range ep.work.Inputs {
		ep.next()
		if !in.Again && !ep.work.Careful {
			if unknown, err := scan.Unknown(ctx, ep.Conn, in.Scan, in.Files); err != nil || unknown {
				return cmp.Or(err, ErrCareful)
			}
		}
		in.Scan = ep.narrowed(in)
		done := ep.gauge(in.Relation, ScanID, nil)
		if err := ep.openInput(ctx, in); err != nil {
			return err
		}
		if err := done(ctx, ep.changes[strings.ToLower(in.Relation)]); err != nil {
			return err
		}
	}
	for i, in := range ep.work.Inputs {
		if in.Deliver != nil {
			if err := ep.deliver(ctx, in.Relation, in.Deliver); err != nil {
				return fmt.Errorf("delivering %s: %w", ep.work.Inputs[i].Relation, err)
			}
		}
	}
	for _, s := range ep.work.Steps {
		if err := ep.step(ctx, s); err != nil {
			return &stepError{relation: s.Relation, err: err}
		}
	}
	if err := ep.closeInputs(ctx); err != nil {
		return err
	}
	ep.result.Operators = ep.measured()
	return nil
}

// stepError remembers where a statement failed, for explain.
type stepError struct {
	relation string
	err      error
}

func (e *stepError) Error() string { return "computing " + e.relation + ": " + e.err.Error() }

func (e *stepError) Unwrap() error { return e.err }

// explain tells what the same input would do again from what another try may cure. A strict
// scan that meets a bad record asks for the careful one.
func (ep *epoch) explain(err error) error {
	var data *DataError
	if errors.As(err, &data) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	text := compile.FirstLine(err.Error())
	// Conversion errors may come from the SQL above a strict scan or from the scan: the careful run tells.
	if !ep.work.Careful && len(ep.work.Inputs) > 0 && duck.Unreadable(text) {
		return ErrCareful
	}
	var step *stepError
	if errors.As(err, &step) && duck.DataFault(text) {
		return &DataError{Relation: step.relation, Summary: "The SQL fails on its input", Detail: text}
	}
	return err
}

// changeOf returns the change of a leaf; one nobody computed this epoch is empty.
func (ep *epoch) changeOf(leaf string, columns batch.Schema) *change {
	if c, ok := ep.changes[leaf]; ok {
		return c
	}
	return &change{columns: columns, inserted: emptyRows(columns), appendOnly: true}
}

func emptyRows(columns batch.Schema) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = "CAST(NULL AS " + c.Type + ") AS " + bound.Ident(c.Name)
	}
	return "(SELECT " + strings.Join(parts, ", ") + " WHERE false)"
}

// counted makes sure that a relation's change is counted, and computed once: it becomes a
// table unless a sink alone reads it, whose copy counts it, or nobody does.
func (ep *epoch) counted(ctx context.Context, s Step, c *change) error {
	readers := ep.readers[strings.ToLower(s.Relation)]
	switch {
	case c.stored || readers == 1 && s.Deliver != nil && c.counts.Inserted < 0 && c.deleted == "":
		return nil
	case readers == 0 && c.counts.Inserted >= 0:
		return nil
	case readers == 0 && !ep.Small:
		return ep.countChange(ctx, c)
	}
	return ep.materialize(ctx, c)
}

// store makes sure that a change that is read more than once is computed once.
func (ep *epoch) store(ctx context.Context, leaf string, c *change) error {
	if c.stored || ep.readers[leaf] <= 1 {
		return nil
	}
	return ep.materialize(ctx, c)
}

func (ep *epoch) materialize(ctx context.Context, c *change) error {
	if c.stored {
		return nil
	}
	name, err := ep.Make(ctx, "FROM "+c.inserted)
	if err != nil {
		return err
	}
	c.inserted, c.stored = name, true
	if c.deleted != "" {
		if c.deleted, err = ep.Make(ctx, "FROM "+c.deleted); err != nil {
			return err
		}
	}
	return ep.countChange(ctx, c)
}

// countChange counts both sides of a change.
func (ep *epoch) countChange(ctx context.Context, c *change) error {
	inserted, known := ep.Rows(c.inserted)
	deleted, also := ep.Rows(c.deleted)
	if known && (also || c.deleted == "") {
		c.counts = batch.Counts{Inserted: inserted, Deleted: deleted}
		return nil
	}
	sql := "SELECT CAST(count(*) AS VARCHAR), '0' FROM " + c.inserted
	if c.deleted != "" {
		sql = fmt.Sprintf("SELECT CAST((SELECT count(*) FROM %s) AS VARCHAR), CAST((SELECT count(*) FROM %s) AS VARCHAR)", c.inserted, c.deleted)
	}
	rows, err := ep.Conn.Text(ctx, sql)
	if err != nil {
		return err
	}
	_, err = fmt.Sscan(*rows[0][0]+" "+*rows[0][1], &c.counts.Inserted, &c.counts.Deleted)
	return err
}

// deliver hands a relation's change to its sinks. A change that was not counted
// before is counted by what the one sink that reads it copies.
func (ep *epoch) deliver(ctx context.Context, relation string, fn func(context.Context, batch.Change, batch.Counts, *Stager) error) error {
	c := ep.changes[strings.ToLower(relation)]
	if c == nil || c.counts == (batch.Counts{}) {
		return nil
	}
	st := stage.New(ep.Set)
	err := fn(ctx, batch.Change{Columns: c.columns, Inserted: c.inserted, Deleted: c.deleted}, c.counts, st)
	if err != nil {
		return err
	}
	if c.counts.Inserted >= 0 {
		return nil
	}
	if n := st.Copied(); n >= 0 {
		c.counts.Inserted = n
		return nil
	}
	return ep.countChange(ctx, c)
}

// step computes one relation.
func (ep *epoch) step(ctx context.Context, s Step) error {
	switch {
	case s.Whole:
		return ep.whole(ctx, s)
	case s.Former != nil:
		return ep.exchange(ctx, s)
	}
	leaf := strings.ToLower(s.Relation)
	var c *change
	var err error
	done := ep.gauge(s.Relation, compile.ResultID, nil)
	if s.Program.FullRefresh != "" {
		c, err = ep.refresh(ctx, s)
		ep.meter.last = ep.leafChanges(s.Program)
	} else {
		c, err = ep.incremental(ctx, s)
	}
	if err != nil {
		return err
	}
	ep.changes[leaf] = c
	if err := ep.counted(ctx, s, c); err != nil {
		return err
	}
	if s.Program.HoldsResult() && s.Program.FullRefresh == "" && !s.keeps(compile.ResultID) {
		if err := ep.holdResult(ctx, s, c); err != nil {
			return err
		}
	}
	if err := done(ctx, c); err != nil {
		return err
	}
	if s.Deliver != nil {
		if err := ep.deliver(ctx, s.Relation, s.Deliver); err != nil {
			return err
		}
	}
	ep.result.Relations[s.Relation] = c.counts
	return nil
}

// incremental runs a program over the changes of what it reads.
func (ep *epoch) incremental(ctx context.Context, s Step) (*change, error) {
	if s.Seed != nil {
		return ep.seeded(ctx, s)
	}
	p := s.Program
	inputs := map[string]*change{}
	for leaf, columns := range p.LeafColumns {
		inputs[leaf] = ep.changeOf(leaf, columns)
	}
	for _, o := range p.Steps {
		ep.next()
		out, err := ep.once(ctx, s, o, inputs)
		if err != nil {
			return nil, fmt.Errorf("operator %s: %w", o.Name(), err)
		}
		inputs[o.Name()] = out
	}
	ep.next()
	ep.meter.last = inputsOf(leavesOf(p), inputs)
	return ep.finish(ctx, p, inputs)
}

func (ep *epoch) operator(ctx context.Context, s Step, o compile.Stateful, inputs map[string]*change) (*change, error) {
	switch o := o.(type) {
	case compile.Keyed:
		return ep.keyed(ctx, s, o, inputs)
	case compile.Temporal:
		return ep.temporal(ctx, s, o, inputs)
	}
	brought, err := ep.aggregate(ctx, s, o.(compile.Aggregate), inputs)
	return rowsChanged(o.(compile.Aggregate), brought), err
}

// finish runs a program's last, linear part over its inputs' changes: once over
// what was inserted, once over what was taken back.
func (ep *epoch) finish(ctx context.Context, p *Program, inputs map[string]*change) (*change, error) {
	c := &change{columns: p.Columns, appendOnly: p.AppendOnly, counts: batch.Counts{Inserted: -1}}
	var err error
	if p.Linear {
		c.inserted, err = ep.runBody(ctx, p, inputs)
		c.stored = true
		if err == nil {
			err = ep.countChange(ctx, c)
		}
		return c, err
	}
	leaves := logical.Leaves(p.Final)
	if quiet(leaves, inputs) {
		c.inserted, c.counts, c.stored = emptyRows(p.Columns), batch.Counts{}, true
		return c, nil
	}
	if c.inserted, err = side(p.Final, inputs, func(in *change) string { return in.inserted }); err != nil {
		return nil, err
	}
	if n := inputs[leaves[0]].counts; p.EachGroup && n.Inserted >= 0 {
		c.counts = n
	}
	if !anyDeleted(leaves, inputs) {
		return c, nil
	}
	deleted, err := side(p.Final, inputs, deletedRows)
	if err != nil {
		return nil, err
	}
	if p.Faithful {
		c.deleted = deleted
		return c, nil
	}
	return c, ep.consolidate(ctx, c, deleted)
}

// consolidate leaves the net difference: a row both taken back and inserted is no change.
func (ep *epoch) consolidate(ctx context.Context, c *change, deleted string) error {
	if !ep.Small {
		return ep.consolidateIn(ctx, c, deleted)
	}
	is, err := ep.Make(ctx, "FROM "+c.inserted)
	if err != nil {
		return err
	}
	was, err := ep.Make(ctx, "FROM "+deleted)
	if err != nil {
		return err
	}
	names, types := namesAndTypes(c.columns)
	d, ok, err := ep.Differ(ctx, is, was, table.Columns{Names: names, Types: types})
	if err != nil {
		return err
	}
	if !ok {
		c.inserted = is
		return ep.consolidateIn(ctx, c, was)
	}
	c.inserted, c.deleted, c.stored = d.Inserted, d.Deleted, true
	c.gained, c.lost, c.encoded = d.Gained, d.Lost, true
	c.counts = batch.Counts{Inserted: int64(len(d.Gained)), Deleted: int64(len(d.Lost))}
	return nil
}

// consolidateIn is consolidate by a statement.
func (ep *epoch) consolidateIn(ctx context.Context, c *change, deleted string) error {
	names, types := namesAndTypes(c.columns)
	d, plus, minus, err := ep.Net(ctx, c.inserted, deleted, table.Columns{Names: names, Types: types})
	c.inserted, c.deleted, c.stored, c.counts = d.Inserted, d.Deleted, true, batch.Counts{Inserted: plus, Deleted: minus}
	return err
}

// side puts one side of each input's change in the place of its leaf.
func side(sql string, inputs map[string]*change, pick func(*change) string) (string, error) {
	text, err := logical.Replace(sql, func(name string) (string, error) {
		in, ok := inputs[name]
		if !ok {
			return "", fmt.Errorf("nothing is known of %s", name)
		}
		return pick(in), nil
	})
	return "(" + text + ")", err
}

func deletedRows(in *change) string {
	if in.deleted == "" {
		return emptyRows(in.columns)
	}
	return in.deleted
}

func quiet(leaves []string, inputs map[string]*change) bool {
	for _, l := range leaves {
		if in := inputs[l]; in == nil || in.counts != (batch.Counts{}) {
			return false
		}
	}
	return true
}

func anyDeleted(leaves []string, inputs map[string]*change) bool {
	for _, l := range leaves {
		if in := inputs[l]; in != nil && in.deleted != "" && in.counts.Deleted != 0 {
			return true
		}
	}
	return false
}

// runBody runs the text as written over the new rows of what it reads.
func (ep *epoch) runBody(ctx context.Context, p *Program, inputs map[string]*change) (string, error) {
	for leaf := range p.LeafColumns {
		if err := ep.bindName(ctx, leaf, "SELECT * FROM "+inputs[leaf].inserted); err != nil {
			return "", err
		}
	}
	return ep.MakeOnce(ctx, "SELECT * FROM ("+p.Body+"\n)", compile.ColumnList(p.Columns))
}

// bindName makes a relation's name mean the rows of a query until it is bound again.
func (e *Engine) bindName(ctx context.Context, leaf, sql string) error {
	schema, name, ok := strings.Cut(leaf, ".")
	if !ok {
		schema, name = "", leaf
	}
	return e.Bind(ctx, schema, name, sql)
}
