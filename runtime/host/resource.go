package host

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
)

// Resource is one applied resource, as the host is given it.
type Resource struct {
	Addr     addr.Resource   `json:"address"`
	Value    json.RawMessage `json:"value"`              // complete value by the kind's type
	Relation *Relation       `json:"relation,omitempty"` // sources, streams and views only
}

// Relation is what SQL sees of a source, stream or view.
type Relation struct {
	Columns    batch.Schema `json:"columns"`
	AppendOnly bool         `json:"append_only"`
	Key        []string     `json:"key,omitempty"`
	Reads      []string     `json:"reads,omitempty"` // relation names its SQL reads, with .malformed for a side relation
	Identity   string       `json:"identity,omitempty"`
}

// Effect is what a Put does to the rows a resource holds or has delivered.
type Effect string

// Effects.
const (
	// Keep replaces the value; it takes effect at the next epoch. A resource that is new ignores it and is built.
	Keep Effect = "keep"
	// Rebuild makes a new generation beside the live one. Backfill computes it and cuts over.
	Rebuild Effect = "rebuild"
)

// Put creates or changes a resource. What it reads must have been put before.
// A relation or sink that is new, or is rebuilt, holds nothing until Backfill.
func (h *Host) Put(ctx context.Context, r Resource, e Effect) error {
	return errors.New("not built yet")
}

// Delete forgets a resource and drops what it remembers. Output that is decided but not delivered is delivered
// first; what a sink has delivered stays. Deleting what is not there is no error.
func (h *Host) Delete(ctx context.Context, a addr.Resource) error {
	return errors.New("not built yet")
}
