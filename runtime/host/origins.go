package host

import (
	"slices"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/job"
)

// origins are the sources, and the views whose rows are held, that a resource of the round is computed from.
func (b *builder) origins(a address) []address {
	var out []address
	seen := map[address]bool{}
	var walk func(a address)
	walk = func(a address) {
		for _, in := range b.network.Inputs[a] {
			switch {
			case seen[in] || !b.reads(a, in):
			case in.Block == addr.Source || b.isHeld(in):
				seen[in] = true
				out = append(out, in)
			default:
				seen[in] = true
				walk(in)
			}
		}
	}
	walk(a)
	return out
}

// computedAnew lists what the round computes without taking over keyed data.
func (b *builder) computedAnew() []address {
	var out []address
	for _, a := range b.pipeline.Members {
		if b.building(a) != nil && !b.carried(a) && a.Block != addr.Source {
			out = append(out, a)
		}
	}
	return out
}

// tellOrigins tells the tally what is computed anew, and from what.
func (b *builder) tellOrigins() {
	for _, a := range b.computedAnew() {
		b.tally.Computed(a, b.origins(a))
	}
}

// from lists what a replay of a source is for.
func (b *builder) from(source address) []address {
	return slices.DeleteFunc(b.computedAnew(), func(a address) bool {
		return b.replayedApart(a) || !slices.Contains(b.origins(a), source)
	})
}

// whole lists the sinks that are given everything of what a source has given.
func (b *builder) whole(source address) []address {
	return slices.DeleteFunc(b.computedAnew(), func(a address) bool {
		return !b.replayedApart(a) || !slices.Contains(b.origins(a), source)
	})
}

// replayedApart reports whether a sink is given everything a stream or source has given, which is read for it at cut-over.
func (b *builder) replayedApart(a address) bool {
	if !isSink(a) || b.alongside(a) {
		return false
	}
	from, err := b.building(a).From()
	return err == nil && from.Block != addr.View
}

// tellHeld tells the tally of views that were read as they stand.
func (b *builder) tellHeld(rows map[address]int64) {
	for _, a := range b.computedAnew() {
		for _, in := range b.origins(a) {
			if n, read := rows[in]; read && !(isSink(a) && !b.alongside(a)) {
				b.tally.Held(a, n)
			}
		}
	}
}

// tellCarried tells the tally of keyed data that was taken over.
func (b *builder) tellCarried(c job.Carry) {
	for _, r := range c.Relations {
		taken, ok := b.record.Took.Taken[r.Addr]
		if !ok {
			continue
		}
		views := int64(0)
		for leaf, from := range r.How.Leaves {
			if from.From == nil {
				views += b.record.Took.Views[b.named(leaf)]
			}
		}
		b.tally.Carried(r.Addr, taken, views)
	}
}
