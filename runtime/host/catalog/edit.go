package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/store"
)

// Edit is a set of changes to the catalog that become real with one commit.
type Edit struct {
	View    *store.View
	Batch   *store.Batch
	catalog *Catalog
	next    uint64
	put     map[addr.Resource]*Record
	gone    map[addr.Resource]bool
	left    []uint64 // tables that something gave up
}

// Edit starts a change. Close must be called.
func (c *Catalog) Edit() *Edit {
	return &Edit{catalog: c, View: c.store.View(), Batch: c.store.NewBatch(), next: c.next,
		put: map[addr.Resource]*Record{}, gone: map[addr.Resource]bool{}}
}

// Close frees the edit, committed or not.
func (e *Edit) Close() { e.View.Close() }

// Number gives out a number that was never given before.
func (e *Edit) Number() uint64 {
	e.next++
	return e.next - 1
}

// Fresh is a new generation of a resource, without any rows.
func (e *Edit) Fresh(r Resource) *Generation {
	g := &Generation{ID: "g" + strconv.FormatUint(e.Number(), 10), Number: r.Generation, Value: r.Value, Relation: r.Relation, Carry: r.Carry, Apart: r.Apart, Recorded: r.Recorded}
	if r.Addr.Block == addr.Source {
		g.Sides = map[string]uint64{}
		for _, name := range sideNames() {
			g.Sides[name] = e.Number()
		}
		e.keeps(g)
	}
	return g
}

// Again is a generation that starts what g was over.
func (e *Edit) Again(a addr.Resource, g *Generation) *Generation {
	n := e.Fresh(Resource{Addr: a, Value: g.Value, Relation: g.Relation, Generation: g.Number, Carry: g.Carry, Recorded: g.Recorded})
	n.Replace, n.Boundaries = g.Replace || a.Block == addr.Sink && g.Touched, g.Boundaries
	return n
}

// Record is a resource as the edit leaves it; nil when there is none.
func (e *Edit) Record(a addr.Resource) *Record {
	if r, ok := e.put[a]; ok {
		return r
	}
	if e.gone[a] {
		return nil
	}
	return e.catalog.Records[a]
}

// Saved is how many records the edit changes.
func (e *Edit) Saved() int { return len(e.put) }

// Save notes a record's new content.
func (e *Edit) Save(r *Record) {
	delete(e.gone, r.Addr)
	e.put[r.Addr] = r
}

// Remove notes that a record is gone.
func (e *Edit) Remove(a addr.Resource) {
	delete(e.put, a)
	e.gone[a] = true
}

// Drop forgets what a generation remembers, but not the tables that another one has, of whichever resource; nil is allowed.
func (e *Edit) Drop(g *Generation) error {
	if g == nil {
		return nil
	}
	e.Leave(g.Tables)
	e.Leave(g.Sides)
	e.Leave(g.keptTables())
	if err := job.Forget(e.View, e.Batch, g.ID); err != nil {
		return fmt.Errorf("forgetting a generation: %w", err)
	}
	return nil
}

// Leave gives tables up. Those that no generation has, once the edit is made, are dropped.
func (e *Edit) Leave(tables map[string]uint64) {
	e.left = slices.AppendSeq(e.left, maps.Values(tables))
}

// holders are the generations that have each table, as the edit leaves the catalog, by their IDs.
func (e *Edit) holders() map[uint64]map[string]bool {
	out := map[uint64]map[string]bool{}
	hold := func(r *Record) {
		for _, g := range r.Generations() {
			for _, tables := range []map[string]uint64{g.Tables, g.Sides, g.keptTables()} {
				for _, t := range tables {
					if out[t] == nil {
						out[t] = map[string]bool{}
					}
					out[t][g.ID] = true
				}
			}
		}
	}
	for a := range e.catalog.Records {
		if r := e.Record(a); r != nil && e.put[a] == nil {
			hold(r)
		}
	}
	for _, r := range e.put {
		hold(r)
	}
	return out
}

// Apart is a generation that has its tables alone: those that others have as well are copied as they are in the edit's view.
func (e *Edit) Apart(g *Generation) (*Generation, error) {
	alone := *g
	alone.Tables = maps.Clone(g.Tables)
	holders, copies := e.holders(), map[uint64]uint64{}
	for _, operator := range slices.Sorted(maps.Keys(g.Tables)) {
		from := g.Tables[operator]
		if delete(holders[from], g.ID); len(holders[from]) == 0 {
			continue
		}
		if _, made := copies[from]; !made {
			copies[from] = e.Number()
			if err := e.Batch.CopyTable(copies[from], e.View.Table(from)); err != nil {
				return nil, err
			}
		}
		alone.Tables[operator] = copies[from]
	}
	return &alone, nil
}

// Write puts the changed records into the batch.
func (e *Edit) Write() error {
	if err := e.keep(); err != nil {
		return err
	}
	holders := e.holders()
	slices.Sort(e.left)
	for _, t := range slices.Compact(e.left) {
		if len(holders[t]) == 0 {
			e.Batch.DropTable(t)
		}
	}
	for a := range e.gone {
		e.Batch.DeleteMeta("res/" + a.String())
	}
	for a, r := range e.put {
		data, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("writing the catalog entry of %s: %w", a, err)
		}
		e.Batch.SetMeta("res/"+a.String(), data)
	}
	if e.next != e.catalog.next {
		e.Batch.SetMeta("host/next", []byte(strconv.FormatUint(e.next, 10)))
		e.Batch.SetMeta("host/form", []byte(keyedForm))
	}
	return nil
}

// Settle makes the committed changes known.
func (e *Edit) Settle() {
	for a := range e.gone {
		delete(e.catalog.Records, a)
	}
	for a, r := range e.put {
		e.catalog.Records[a] = r
	}
	e.catalog.next = e.next
}

// Commit writes, commits and settles.
func (e *Edit) Commit() error {
	if err := e.Write(); err != nil {
		return err
	}
	if err := e.catalog.store.Commit(e.Batch); err != nil {
		return fmt.Errorf("committing the catalog: %w", err)
	}
	e.Settle()
	return nil
}

// Positions say how far the sources of a pipeline have been read: by source ID, the last ordinal.
func (e *Edit) Positions(pipeline string) (map[string]int64, error) {
	out := map[string]int64{}
	for _, r := range e.catalog.Records {
		if r.Pipeline != pipeline || r.Addr.Block != addr.Source || r.Live == nil {
			continue
		}
		state, err := job.ReadSourceState(e.View, r.Live.ID)
		if err != nil {
			return nil, err
		}
		out[r.Live.ID] = state.Position
	}
	return out, nil
}
