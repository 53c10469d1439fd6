package host

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/job"
)

// regroup finds the pipelines and records who belongs to which. A pipeline that was joined with another, or split,
// delivers what it has decided first.
func (h *Host) regroup(ctx context.Context) (*catalog.Network, []*catalog.Pipeline, error) {
	n, err := h.catalog.Network()
	if err != nil {
		return nil, nil, fmt.Errorf("finding pipelines: %w", err)
	}
	all, err := n.Pipelines()
	if err == nil {
		err = h.stopOthers(all)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("finding pipelines: %w", err)
	}
	left := map[string]bool{} // IDs that lost a member
	for _, p := range all {
		for _, a := range p.Members {
			if had := h.catalog.Records[a].Pipeline; had != "" && had != p.ID {
				left[had] = true
			}
		}
	}
	h.busy.Stop(slices.Collect(maps.Keys(left))...)
	for _, id := range slices.Sorted(maps.Keys(left)) {
		if err := h.drain(ctx, id); err != nil {
			return nil, nil, fmt.Errorf("finding pipelines: %w", err)
		}
	}
	e := h.catalog.Edit()
	defer e.Close()
	if err := h.assign(e, all, left); err != nil {
		return nil, nil, fmt.Errorf("finding pipelines: %w", err)
	}
	return n, all, nil
}

// stopOthers stops what runs and is no longer among the pipelines, or made of something else.
func (h *Host) stopOthers(all []*catalog.Pipeline) error {
	shapes := map[string]string{}
	for _, p := range all {
		shape, err := h.shape(p)
		if err != nil {
			return err
		}
		shapes[p.ID] = shape
	}
	h.busy.StopOthers(shapes)
	return nil
}

// assign commits the membership. A pipeline goes on from the greatest epoch of those its members come from.
func (h *Host) assign(e *catalog.Edit, all []*catalog.Pipeline, left map[string]bool) error {
	for _, p := range all {
		own, err := job.Epoch(e.View, p.ID)
		if err != nil {
			return err
		}
		epoch := own
		for _, a := range p.Members {
			r := h.catalog.Records[a]
			was, err := job.Epoch(e.View, r.Pipeline)
			if err != nil {
				return err
			}
			epoch = max(epoch, was)
			if r.Pipeline != p.ID {
				next := *r
				next.Pipeline = p.ID
				e.Save(&next)
			}
		}
		delete(left, p.ID)
		if epoch == own { // and a pipeline that runs counts on
			continue
		}
		if err := job.SetEpoch(e.Batch, p.ID, epoch); err != nil {
			return err
		}
	}
	if e.Saved() == 0 {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(left)) {
		job.ForgetPipeline(e.Batch, id)
		e.Batch.DeleteMeta(job.BuildKey(id))
	}
	return e.Commit()
}
