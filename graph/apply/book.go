package apply

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// book is the recorded state while it changes.
type book struct {
	store     state.Store
	head      state.Document // without resources
	resources map[addr.Resource]state.Resource
	unsaved   int // steps that are not in the store yet
}

func openBook(in Input, d *state.Document) book {
	b := book{store: in.Store, head: *d.Clone(), resources: make(map[addr.Resource]state.Resource, len(d.Resources))}
	b.head.Resources, b.head.StreamformVersion = nil, in.Version
	for _, r := range d.Resources {
		b.resources[r.Addr] = r
	}
	return b
}

func (b *book) put(r state.Resource) {
	b.resources[r.Addr] = r
	b.unsaved++
}

func (b *book) remove(a addr.Resource) {
	delete(b.resources, a)
	b.unsaved++
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
		b.unsaved++
	}
	for _, c := range p.Changes {
		if c.Action == plan.NoOp && c.Class == plan.Noop && c.Desired != nil && !same(c.Prior, c.Desired) {
			b.put(*c.Desired)
		}
	}
}

// sameAttributes compares what resources say, whatever the white space.
func sameAttributes(a, b *state.Resource) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a.Attributes) != nil || json.Compact(&y, b.Attributes) != nil {
		return false
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
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

// stepsPerSave is how large a state may be for every step to be saved: one of n times as many resources is saved every
// n steps, so that writing the whole document again and again does not take the most time.
const stepsPerSave = 200

// saveStep saves after a step, unless the state is large and there were few steps since the last time.
func (r *run) saveStep(ctx context.Context) error {
	if r.book.unsaved*stepsPerSave <= len(r.book.resources) {
		return nil
	}
	return r.save(ctx)
}

// save writes what is not written yet, also when the command was interrupted.
func (r *run) save(ctx context.Context) error {
	b := &r.book
	if b.unsaved == 0 {
		return nil
	}
	b.unsaved = 0 // should it fail, a second try would only say the same again
	d := b.document()
	r.result.Document = d
	if err := b.store.Save(context.WithoutCancel(ctx), d); err != nil {
		return &SaveError{Document: d, Err: err}
	}
	b.head.Serial = d.Serial
	return nil
}
