package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/store"
)

// What the host keeps in the store's named values, beside what its jobs keep:
//
//	res/ADDRESS     record
//	host/next       the next number for IDs and tables
//	build/PIPELINE  buildRecord, while generations are being built

// record is one resource of the catalog.
type record struct {
	Addr     addr.Resource `json:"address"`
	Live     *generation   `json:"live,omitempty"`     // the one that serves
	Building *generation   `json:"building,omitempty"` // the one Backfill computes and makes live
	Pipeline string        `json:"pipeline,omitempty"` // the one it was last a member of
	Life     string        `json:"life"`               // stays over generations and pipelines, until it is deleted
}

// generation is one incarnation of a resource.
type generation struct {
	ID       string            `json:"id"` // unique in this runtime; names ledger, sums and receipts
	Number   int64             `json:"generation"`
	Value    json.RawMessage   `json:"value"`
	Relation *Relation         `json:"relation,omitempty"`
	Tables   map[string]uint64 `json:"tables,omitempty"` // streams and views: by operator
	Sides    map[string]uint64 `json:"sides,omitempty"`  // sources: tables of side relations by name
	// Touched: a sink being built that was given rows. Should its build start over, the rows must be replaced.
	Touched bool `json:"touched,omitempty"`
	// Replace: a sink being built that is given everything at cut-over, in place of what it had.
	Replace bool `json:"replace,omitempty"`
}

// wanted is what the host reads out of a value, whatever the kind.
type wanted struct {
	SQL      string   `json:"sql"`
	Keys     []string `json:"keys"`
	From     string   `json:"from"`
	Trigger  string   `json:"trigger"`
	Interval string   `json:"interval"`
	Paused   bool     `json:"paused"`
}

func (g *generation) wanted() (w wanted, err error) {
	if err := json.Unmarshal(g.Value, &w); err != nil {
		return w, fmt.Errorf("reading a recorded value: %w", err)
	}
	return w, nil
}

// newest is the generation being built, or else the live one.
func (r *record) newest() *generation {
	if r.Building != nil {
		return r.Building
	}
	return r.Live
}

// catalog is every applied resource. The copy in memory equals what is committed.
type catalog struct {
	store   *store.Store
	records map[addr.Resource]*record
	next    uint64
}

func loadCatalog(s *store.Store) (*catalog, error) {
	view := s.View()
	defer view.Close()
	return readCatalog(s, view)
}

func readCatalog(s *store.Store, v *store.View) (*catalog, error) {
	c := &catalog{store: s, records: map[addr.Resource]*record{}, next: 1}
	err := v.MetaPrefix("res/", func(key string, value []byte) error {
		var r record
		if err := json.Unmarshal(value, &r); err != nil {
			return fmt.Errorf("reading %s: %w", key, err)
		}
		c.records[r.Addr] = &r
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the catalog: %w", err)
	}
	data, ok, err := v.Meta("host/next")
	if err == nil && ok {
		c.next, err = strconv.ParseUint(string(data), 10, 64)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the catalog: %w", err)
	}
	return c, nil
}

// sorted lists the records by address.
func (c *catalog) sorted() []*record {
	all := make([]*record, 0, len(c.records))
	for _, r := range c.records {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *record) int { return a.Addr.Compare(b.Addr) })
	return all
}

// edit is a set of changes to the catalog that become real with one commit.
type edit struct {
	catalog *catalog
	view    *store.View
	batch   *store.Batch
	next    uint64
	put     map[addr.Resource]*record
	gone    map[addr.Resource]bool
}

// edit starts a change. close must be called.
func (c *catalog) edit() *edit {
	return &edit{catalog: c, view: c.store.View(), batch: c.store.NewBatch(), next: c.next,
		put: map[addr.Resource]*record{}, gone: map[addr.Resource]bool{}}
}

func (e *edit) close() { e.view.Close() }

// number gives out a number that was never given before.
func (e *edit) number() uint64 {
	e.next++
	return e.next - 1
}

func (e *edit) fresh(r Resource) *generation {
	g := &generation{ID: "g" + strconv.FormatUint(e.number(), 10), Number: r.Generation, Value: r.Value, Relation: r.Relation}
	if r.Addr.Block == addr.Source {
		g.Sides = map[string]uint64{}
		for _, name := range sideNames() {
			g.Sides[name] = e.number()
		}
	}
	return g
}

// again is a generation that starts what g was over.
func (e *edit) again(a addr.Resource, g *generation) *generation {
	n := e.fresh(Resource{Addr: a, Value: g.Value, Relation: g.Relation, Generation: g.Number})
	n.Replace = g.Replace || g.Touched
	return n
}

// save notes a record's new content.
func (e *edit) save(r *record) { e.put[r.Addr] = r }

// remove notes that a record is gone.
func (e *edit) remove(a addr.Resource) {
	delete(e.put, a)
	e.gone[a] = true
}

// drop forgets what a generation remembers; nil is allowed.
func (e *edit) drop(g *generation) error {
	if g == nil {
		return nil
	}
	for _, tables := range []map[string]uint64{g.Tables, g.Sides} {
		for _, name := range slices.Sorted(maps.Keys(tables)) {
			e.batch.DropTable(tables[name])
		}
	}
	if err := job.Forget(e.view, e.batch, g.ID); err != nil {
		return fmt.Errorf("forgetting a generation: %w", err)
	}
	return nil
}

// write puts the changed records into the batch.
func (e *edit) write() error {
	for a, r := range e.put {
		data, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("writing the catalog entry of %s: %w", a, err)
		}
		e.batch.SetMeta("res/"+a.String(), data)
	}
	for a := range e.gone {
		e.batch.DeleteMeta("res/" + a.String())
	}
	if e.next != e.catalog.next {
		e.batch.SetMeta("host/next", []byte(strconv.FormatUint(e.next, 10)))
	}
	return nil
}

// settle makes the committed changes known.
func (e *edit) settle() {
	for a, r := range e.put {
		e.catalog.records[a] = r
	}
	for a := range e.gone {
		delete(e.catalog.records, a)
	}
	e.catalog.next = e.next
}

// commit writes, commits and settles.
func (e *edit) commit() error {
	if err := e.write(); err != nil {
		return err
	}
	if err := e.catalog.store.Commit(e.batch); err != nil {
		return fmt.Errorf("committing the catalog: %w", err)
	}
	e.settle()
	return nil
}

func sameRelation(a, b *Relation) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// sideNames are the side relations a source keeps.
func sideNames() []string { return []string{"malformed", "rescued"} }
