package looking

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/job"
)

// Inspect looks at the object that a source or sink stands for when it has a value, which need not be applied; a nil value is
// that of the generation that serves. What was delivered is compared with what is there when the sink serves with this value.
// A connector that cannot tell answers with nothing. Mistakes of the user are *connector.UserError.
func (l *Looker) Inspect(ctx context.Context, a addr.Resource, value json.RawMessage) (found connector.Inspection, err error) {
	view := l.store.View()
	defer view.Close()
	r, err := catalog.Find(view, a)
	if err != nil {
		return found, err
	}
	known := connector.Delivered{Sink: a.String()}
	if r != nil && r.Live != nil && (value == nil || bytes.Equal(value, r.Live.Value)) {
		value, known.Sink = r.Live.Value, r.Name().String()
		receipt, _, err := job.ReadReceipt(view, r.Live.ID)
		if err != nil {
			return found, fmt.Errorf("reading what %s has delivered: %w", a, err)
		}
		known.Receipt = receipt.Receipt
	}
	if value == nil {
		return found, nil
	}
	object, err := l.opened(ctx, a, value)
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, object.Close()) }()
	inspector, ok := object.(connector.Inspector)
	if !ok {
		return found, nil
	}
	if found, err = inspector.Inspect(ctx, known); err != nil {
		return found, fmt.Errorf("looking at %s: %w", a, err)
	}
	return found, nil
}

// opened opens a source or sink without making a place for what it stages.
func (l *Looker) opened(ctx context.Context, a addr.Resource, value json.RawMessage) (interface{ Close() error }, error) {
	if a.Block == addr.Source {
		return l.open.Source(ctx, a, &catalog.Generation{Value: value})
	}
	return l.open.Look(ctx, a, &catalog.Generation{Value: value})
}

// Values are the attributes that each resource was last put with.
func (l *Looker) Values() (map[addr.Resource]json.RawMessage, error) {
	view := l.store.View()
	defer view.Close()
	c, err := catalog.Read(l.store, view)
	if err != nil {
		return nil, err
	}
	out := make(map[addr.Resource]json.RawMessage, len(c.Records))
	for a, r := range c.Records {
		if g := r.Newest(); g != nil {
			out[a] = g.Value
		}
	}
	return out, nil
}
