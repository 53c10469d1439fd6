package host

import (
	"context"
	"fmt"
	"slices"

	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/host/redelivery"
	"github.com/streamform/streamform/runtime/job"
)

// Rewind gives rows of a stream or source to its sinks once more: see redelivery.Rewinder. After an error the next Rewind goes on where this one ended.
func (h *Host) Rewind(ctx context.Context, q redelivery.Request) (redelivery.Rewind, error) {
	h.busy.Lock()
	defer h.busy.Unlock()
	n, all, err := h.regroup(ctx)
	if err != nil {
		return redelivery.Rewind{}, err
	}
	i := slices.IndexFunc(all, func(p *catalog.Pipeline) bool { return slices.Contains(p.Members, q.Addr) })
	switch {
	case i < 0:
		return redelivery.Rewind{}, &connector.UserError{Summary: "Nothing to rewind", Detail: fmt.Sprintf("The runtime has no stream or source %s.", q.Addr)}
	case h.isBuilding(all[i]):
		return redelivery.Rewind{}, underBuild(q.Addr)
	}
	if err := h.drain(ctx, all[i].ID); err != nil {
		return redelivery.Rewind{}, fmt.Errorf("rewinding %s: %w", q.Addr, err)
	}
	o := job.Options{ID: all[i].ID, Name: all[i].Name, Store: h.store, Now: h.opts.Now, Wait: h.opts.Wait, Retrying: h.opts.Retrying, Attempts: attempts}
	r := redelivery.Rewinder{Open: h.open, Network: n, Pipeline: all[i], Job: o}
	return r.Rewind(ctx, q)
}
