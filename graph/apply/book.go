package apply

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// book is the recorded state while it changes.
type book struct {
	store     state.Store
	head      state.Document // without resources
	resources map[addr.Resource]state.Resource
	dirty     bool
	savedAt   time.Time
	cost      time.Duration // of the last save
}

func openBook(in Input, d *state.Document) book {
	b := book{store: in.Store, head: *d.Clone(), resources: make(map[addr.Resource]state.Resource, len(d.Resources))}
	b.head.Resources, b.head.StreamformVersion = nil, in.Version
	for _, r := range d.Resources {
		b.resources[r.Addr] = r
	}
	return b
}

func (b *book) put(r state.Resource) { b.resources[r.Addr], b.dirty = r, true }

func (b *book) remove(a addr.Resource) {
	delete(b.resources, a)
	b.dirty = true
}

// settle records what changed without anything to do: outputs, and new spellings of what means the same.
func (b *book) settle(p *plan.Plan) {
	for _, o := range p.Outputs {
		switch o.Action {
		case plan.NoOp:
			continue
		case plan.Delete:
			delete(b.head.Outputs, o.Name)
		default:
			b.head.Outputs[o.Name] = state.Output{Value: o.After, Type: o.Type, Sensitive: o.Sensitive, Digest: o.Digest}
		}
		b.dirty = true
	}
	for _, c := range p.Changes {
		if c.Action == plan.NoOp && c.Class == plan.Noop && c.Desired != nil && !same(c.Prior, c.Desired) {
			b.put(*c.Desired)
		}
	}
}

func same(a, b *state.Resource) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// document is the state as it is now, with the next serial.
func (b *book) document() *state.Document {
	d := b.head.Clone()
	d.Serial++
	d.Resources = make([]state.Resource, 0, len(b.resources))
	for _, r := range b.resources {
		d.Resources = append(d.Resources, r)
	}
	slices.SortFunc(d.Resources, func(x, y state.Resource) int { return x.Addr.Compare(y.Addr) })
	return d
}

// Saves that take longer than slowSave are made only when restFactor times as long has passed since the last.
const (
	slowSave   = 5 * time.Millisecond
	restFactor = 10
)

// saveNow saves after a step, unless that is too much work so soon after the last time.
func (r *run) saveNow(ctx context.Context) error {
	b := &r.book
	if b.cost > slowSave && time.Since(b.savedAt) < restFactor*b.cost {
		return nil
	}
	return r.save(ctx)
}

// save writes what is not written yet, also when the command was interrupted.
func (r *run) save(ctx context.Context) error {
	b := &r.book
	if !b.dirty {
		return nil
	}
	d := b.document()
	r.result.Document = d
	start := time.Now()
	if err := b.store.Save(context.WithoutCancel(ctx), d); err != nil {
		b.dirty = false // a second try would only say the same again
		return &SaveError{Document: d, Err: err}
	}
	b.head.Serial, b.dirty, b.savedAt = d.Serial, false, time.Now()
	b.cost = b.savedAt.Sub(start)
	return nil
}
