// Package catalog records what was applied: resources, their generations, and how they form pipelines.
package catalog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/store"
)

// What the catalog keeps in the store's named values, beside what jobs keep:
//
//	res/ADDRESS     Record
//	host/next       the next number for IDs and tables
//	host/form       keyedForm
//	build/PIPELINE  how far a build has come; the host's

// Resource is one applied resource, as the host is given it.
type Resource struct {
	Addr  addr.Resource   `json:"address"`
	Value json.RawMessage `json:"value"` // complete value by the kind's type
	// Relation is set for sources, streams and views.
	Relation *Relation `json:"relation,omitempty"`
	// Generation is the one that the value belongs to. A generation that the host does not have yet is built
	// beside the live one; the live one's number replaces its value in place.
	Generation int64 `json:"generation"`
	// Carry says how a new generation of a view takes over the keyed data of the live one, as the plan had
	// it from comparing both queries. Without it the new generation is computed from what it reads.
	Carry json.RawMessage `json:"carry,omitempty"`
	// Keep: a query of the live generation's number that differs takes its place at the next epoch. Rows given before
	// stay as they are, and a Boundary is recorded.
	Keep bool `json:"keep,omitempty"`
	// Apart: a new generation of a view is computed from what it reads, whatever other views hold that serve, as one of them may be about to go.
	Apart bool `json:"apart,omitempty"`
	// Recorded is what whoever puts the resource knows of it; Rollback gives it back.
	Recorded json.RawMessage `json:"recorded,omitempty"`
}

// Relation is what SQL sees of a source, stream or view.
type Relation struct {
	Columns    batch.Schema            `json:"columns"`         // a source's metadata columns included
	Sides      map[string]batch.Schema `json:"sides,omitempty"` // sources: columns of side relations by name ("malformed")
	AppendOnly bool                    `json:"append_only"`
	Key        []string                `json:"key,omitempty"`
	Reads      []string                `json:"reads,omitempty"` // relation names its SQL reads, purchases.malformed for a side relation
	Identity   string                  `json:"identity,omitempty"`
	// ID stays over moves and edits: queries are compiled over the IDs of what they read. Empty: Identity stands for it.
	ID string `json:"id,omitempty"`
}

// Record is one resource of the catalog.
type Record struct {
	Addr     addr.Resource `json:"address"`
	Live     *Generation   `json:"live,omitempty"`     // the one that serves
	Building *Generation   `json:"building,omitempty"` // the one Backfill computes and makes live
	Former   []Former      `json:"former,omitempty"`   // replaced, kept for a rollback; the latest last
	Pipeline string        `json:"pipeline,omitempty"` // the one it was last a member of
	Life     string        `json:"life"`               // stays over generations, pipelines and addresses, until it is deleted
	// Origin is the address it was created under, where it has moved since: its deliveries go on under that name.
	Origin *addr.Resource `json:"origin,omitempty"`
}

// Name is the address that names the deliveries of a sink: the first it had.
func (r *Record) Name() addr.Resource {
	if r.Origin != nil {
		return *r.Origin
	}
	return r.Addr
}

// Generation is one incarnation of a resource.
type Generation struct {
	ID       string            `json:"id"` // unique in this runtime; names ledger, sums and receipts
	Number   int64             `json:"generation"`
	Value    json.RawMessage   `json:"value"`
	Relation *Relation         `json:"relation,omitempty"`
	Tables   map[string]uint64 `json:"tables,omitempty"` // streams and views: by operator
	Sides    map[string]uint64 `json:"sides,omitempty"`  // sources: tables of side relations by name
	Kept     uint64            `json:"kept,omitempty"`   // sources: table of the rows that are held; 0: none are
	// Carry and Apart are Resource's, while the generation is being built.
	Carry json.RawMessage `json:"carry,omitempty"`
	Apart bool            `json:"apart,omitempty"`
	// Recorded is Resource.Recorded.
	Recorded json.RawMessage `json:"recorded,omitempty"`
	// Boundaries are the changes of the query that kept the rows given before.
	Boundaries []Boundary `json:"boundaries,omitempty"`
	// Passing: it was made as a stream, whose address has become that of a view, and serves until the view's rows are computed. Nobody holds its rows.
	Passing bool `json:"passing,omitempty"`
	// Touched: being built, and given rows. Should its build start over, they must be replaced.
	Touched bool `json:"touched,omitempty"`
	// Restored: being built, as a rollback goes back to it.
	Restored bool `json:"restored,omitempty"`
	// Replace: a sink being built that is given everything at cut-over, in place of what it had.
	Replace bool `json:"replace,omitempty"`
}

// Boundary is where a stream's query changed and its rows stayed: those up to the epoch follow the former query.
type Boundary struct {
	Epoch int64     `json:"epoch"` // the pipeline's last one before the change
	At    time.Time `json:"at"`
	Was   string    `json:"was"` // identity of the former query, SHA-256, hexadecimal
	Is    string    `json:"is"`  // of the one that followed
	// What the former query was, and how far it has read: by source ID, the last ordinal.
	Value    json.RawMessage  `json:"value,omitempty"`
	Relation *Relation        `json:"relation,omitempty"`
	Read     map[string]int64 `json:"read,omitempty"`
}

// Former is a generation that was replaced and can be gone back to.
type Former struct {
	Generation *Generation      `json:"generation"`
	CutOver    string           `json:"cut_over"` // ID of the cut-over; what it replaced goes back together
	Until      time.Time        `json:"until"`    // when it is dropped
	Done       map[string]int64 `json:"done"`     // by source ID: ordinal up to which it has read
}

// Wanted is what the host reads out of a value, whatever the kind.
type Wanted struct {
	SQL            string   `json:"sql"`
	Keys           []string `json:"keys"`
	From           string   `json:"from"`
	Trigger        string   `json:"trigger"`
	Interval       string   `json:"interval"`
	Paused         bool     `json:"paused"`
	RollbackWindow string   `json:"rollback_window"`
	FullRefresh    string   `json:"full_refresh"`
	Since          string   `json:"since"`
	Keep           string   `json:"keep"`
}

// Wanted reads a generation's value.
func (g *Generation) Wanted() (w Wanted, err error) {
	if err := json.Unmarshal(g.Value, &w); err != nil {
		return w, fmt.Errorf("reading a recorded value: %w", err)
	}
	return w, nil
}

// SinceNow reports that a sink is never given rows from before its generation.
func (g *Generation) SinceNow() (bool, error) {
	w, err := g.Wanted()
	return w.Since == "now", err
}

// Newest is the generation being built, or else the live one.
func (r *Record) Newest() *Generation {
	if r.Building != nil {
		return r.Building
	}
	return r.Live
}

// Generations are all that a resource has.
func (r *Record) Generations() []*Generation {
	var all []*Generation
	for _, g := range []*Generation{r.Live, r.Building} {
		if g != nil {
			all = append(all, g)
		}
	}
	for _, f := range r.Former {
		all = append(all, f.Generation)
	}
	return all
}

// Holds reports whether the rows of the generation that serves can be read from what it remembers.
func (r *Record) Holds() bool { return r.Addr.Block == addr.View && r.Live != nil && !r.Live.Passing }

// Catalog is every applied resource. The copy in memory equals what is committed.
type Catalog struct {
	Records map[addr.Resource]*Record
	store   *store.Store
	next    uint64
}

// Load reads the catalog of a store.
func Load(s *store.Store) (*Catalog, error) {
	view := s.View()
	defer view.Close()
	return Read(s, view)
}

// Find reads one record as of a view; nil where there is none.
func Find(v *store.View, a addr.Resource) (*Record, error) {
	data, ok, err := v.Meta("res/" + a.String())
	if err != nil || !ok {
		return nil, err
	}
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("reading %s: %w", a, err)
	}
	return &r, nil
}

// Read reads the catalog as of a view.
func Read(s *store.Store, v *store.View) (*Catalog, error) {
	c := &Catalog{store: s, Records: map[addr.Resource]*Record{}, next: 1}
	err := v.MetaPrefix("res/", func(key string, value []byte) error {
		var r Record
		if err := json.Unmarshal(value, &r); err != nil {
			return fmt.Errorf("reading %s: %w", key, err)
		}
		c.Records[r.Addr] = &r
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the catalog: %w", err)
	}
	data, ok, err := v.Meta("host/next")
	if err == nil && ok {
		if c.next, err = strconv.ParseUint(string(data), 10, 64); err == nil {
			err = checkForm(v)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the catalog: %w", err)
	}
	return c, nil
}

// keyedForm counts the forms that operators' keyed data has had. What was written in another one cannot be read.
const keyedForm = "6"

// FormError tells that keyed data is there in a form that this version does not read. Nothing was changed.
type FormError struct {
	Form  string // the one it has
	Reads string // the one that can be read
	Dir   string // the runtime's folder, where it is known
}

func (e *FormError) Error() string {
	return fmt.Sprintf("its keyed data was written by another build of streamform, in form %s; this one reads form %s", e.Form, e.Reads)
}

func checkForm(v *store.View) error {
	form, _, err := v.Meta("host/form")
	if err != nil || string(form) == keyedForm {
		return err
	}
	return &FormError{Form: cmp.Or(string(form), "1"), Reads: keyedForm}
}

// Sorted lists the records by address.
func (c *Catalog) Sorted() []*Record {
	all := make([]*Record, 0, len(c.Records))
	for _, r := range c.Records {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *Record) int { return a.Addr.Compare(b.Addr) })
	return all
}

// SameRelation reports whether two relations are told apart by nothing.
func SameRelation(a, b *Relation) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// Carries reports whether rows flow through a resource.
func Carries(a addr.Resource) bool { return a.Block.IsRelation() || a.Block == addr.Sink }

// sideNames are the side relations a source keeps.
func sideNames() []string { return []string{"malformed", "rescued"} }
