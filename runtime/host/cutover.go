package host

import (
	"context"
	"fmt"
	"slices"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/host/redelivery"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/store"
)

// alongside reports whether a sink being built is given rows while they are replayed, rather than all at cut-over: those of a stream or
// source, which nobody holds, where it had none before.
func (b *builder) alongside(sink address) bool {
	g := b.building(sink)
	from, err := g.From()
	return err == nil && !g.Replace && from.Block != addr.View
}

// beginsWith reports whether a sink being built begins with a view that is computed anew, too: there is nothing to be given while that is empty.
func (b *builder) beginsWith(sink address) bool {
	g := b.building(sink)
	from, err := g.From()
	return err == nil && !g.Replace && from.Block == addr.View && b.building(from) != nil && !b.carried(from)
}

// cutOver makes what was built live. Sinks that had rows before, or deliver a view that was live already, are given everything.
func (b *builder) cutOver(ctx context.Context, ends map[string]int64) error {
	c := job.CutOver{Ends: map[string]int64{}, Given: b.tally.Held}
	c.Report = func(p job.ReplayProgress) { b.tally.Replayed(p, b.whole(p.Source)) }
	if err := b.exchange(ctx, &c); err != nil {
		return err
	}
	whole := map[address]bool{}
	for _, a := range b.pipeline.Members {
		r := b.workshop.record(a)
		if !isSink(a) || b.building(a) == nil || b.alongside(a) {
			continue
		}
		from, err := r.Building.From()
		if err != nil {
			return fmt.Errorf("reading %s: %w", a, err)
		}
		s, err := b.sink(ctx, a, b.newest)
		if err != nil {
			return err
		}
		if from.Block != addr.View {
			c.Sinks = append(c.Sinks, s)
			whole[from] = true
			continue
		}
		view, err := b.relation(ctx, from, b.newest)
		if err != nil {
			return err
		}
		c.Views = append(c.Views, job.Handover{Relation: view, Sinks: []job.Sink{s}})
	}
	if err := b.streams(ctx, &c, whole, ends); err != nil {
		return err
	}
	return b.commit(ctx, c)
}

// exchange adds the views whose former rows are compared with the new ones, and what serves and receives the difference.
func (b *builder) exchange(ctx context.Context, c *job.CutOver) error {
	for _, a := range b.pipeline.Members {
		switch {
		case b.round.exchanged[a]:
			now, err := b.relation(ctx, a, b.newest)
			if err != nil {
				return err
			}
			former, err := b.relation(ctx, a, live)
			if err != nil {
				return err
			}
			c.Exchanged = append(c.Exchanged, job.Exchange{Relation: now, Former: former, Wide: b.feedsSink(a)})
		case b.round.reached[a] && isSink(a):
			s, err := b.sink(ctx, a, b.newest)
			if err != nil {
				return err
			}
			from, err := b.workshop.record(a).Live.From()
			if err != nil {
				return fmt.Errorf("reading %s: %w", a, err)
			}
			if of := b.workshop.record(from); b.building(from) != nil && !slices.Equal(of.Live.Relation.Key, of.Building.Relation.Key) {
				s.Key = nil // rows of both generations are told apart by their content
			}
			c.Receivers = append(c.Receivers, s)
		case b.round.reached[a]:
			r, err := b.relation(ctx, a, b.newest)
			if err != nil {
				return err
			}
			c.Readers = append(c.Readers, r)
		}
	}
	return nil
}

// feedsSink reports whether a sink is given the difference of a view.
func (b *builder) feedsSink(view address) bool {
	return slices.ContainsFunc(b.pipeline.Members, func(a address) bool { return isSink(a) && b.round.reached[a] && b.reads(a, view) })
}

// streams adds the streams that sinks are given whole, what they read, and the files they are computed from.
func (b *builder) streams(ctx context.Context, c *job.CutOver, whole map[address]bool, ends map[string]int64) error {
	for _, a := range slices.Backward(b.again) {
		if !whole[a] {
			continue
		}
		if a.Block == addr.Source {
			id := b.newest(b.workshop.record(a)).ID
			c.Ends[id] = ends[id]
			continue
		}
		r, err := b.relation(ctx, a, b.newest)
		if err != nil {
			return err
		}
		r.ID = ""
		c.Relations = append(c.Relations, r)
		for _, in := range b.network.Inputs[a] {
			whole[in] = true
		}
	}
	slices.Reverse(c.Relations)
	var err error
	c.Spool = b.host.open.SpoolRoot()
	c.Former, err = redelivery.Stretches(ctx, b.host.open, b.network, c.Relations, b.anew)
	return err
}

// commit decides the cut-over, makes the catalog show it, and delivers.
func (b *builder) commit(ctx context.Context, c job.CutOver) error {
	var flipped *catalog.Edit
	c.Unread = !b.pipeline.Trigger.Paused
	c.Save = func(batch *store.Batch) (err error) {
		if flipped != nil {
			flipped.Close()
		}
		flipped, err = b.flip(batch)
		return err
	}
	err := b.job.CutOver(ctx, c)
	if flipped != nil {
		defer flipped.Close()
	}
	if err != nil {
		return err
	}
	flipped.Settle()
	return b.job.Deliver(ctx)
}

// flip puts into a batch that what is being built serves, and that what served is forgotten.
func (b *builder) flip(batch *store.Batch) (*catalog.Edit, error) {
	e := b.host.catalog.Edit()
	e.Batch = batch
	for _, a := range b.pipeline.Members {
		r := b.workshop.record(a)
		if b.building(a) == nil {
			continue
		}
		next := *r
		g := *r.Building
		g.Touched, g.Replace, g.Restored, g.Apart, g.Carry = false, false, false, false, nil
		next.Live, next.Building = &g, nil
		if err := b.leave(e, r.Live, &next); err != nil {
			return e, err
		}
		e.Save(&next)
	}
	for _, g := range b.record.Scratch {
		if err := e.Drop(g); err != nil {
			return e, err
		}
	}
	batch.DeleteMeta(job.BuildKey(b.pipeline.ID))
	return e, e.Write()
}
