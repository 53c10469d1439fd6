package bind

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// identify gives every resource its ID: the recorded one, or a new one that nothing recorded has.
func (b *binder) identify() {
	taken := make(map[string]bool, len(b.recorded))
	for _, r := range b.recorded {
		taken[r.ID] = true
	}
	for _, r := range b.in.Config.Resources {
		id := ""
		if prior := b.recorded[r.Addr]; prior != nil {
			id = prior.ID
		}
		if id == "" {
			id = state.NewID(r.Addr, func(id string) bool { return taken[id] })
			taken[id] = true
		}
		b.out.IDs[r.Addr] = id
	}
}

// evolve compares an edited query with the recorded one. It is nil where both mean the same and read the same.
func (b *binder) evolve(ctx context.Context, prior *state.Resource, after Query, now *state.Relation) (*plan.Evolution, error) {
	if prior == nil || prior.Relation == nil || prior.Relation.Identity == "" || prior.Addr.Block == addr.Source {
		return nil, nil
	}
	was := prior.Relation
	before, ok := b.recordedQuery(prior)
	if ok && was.Identity == now.Identity && sameRelation(was, now) && sameReading(before.Relations, after.Relations) {
		return nil, nil
	}
	if !ok {
		return &plan.Evolution{Class: plan.ReplayFromSource, Reason: "what its former query read is not recorded any more"}, nil
	}
	e, err := b.in.Compiler.Compare(ctx, before, after)
	if err != nil {
		return nil, fmt.Errorf("comparing the queries of %s: %w", prior.Addr, err)
	}
	if e.Class == plan.Noop {
		return nil, nil
	}
	return &e, nil
}

// sameRelation compares what readers see.
func sameRelation(a, b *state.Relation) bool {
	return a.AppendOnly == b.AppendOnly && slices.Equal(a.Columns, b.Columns) && slices.Equal(a.Key, b.Key)
}

// sameReading reports whether what is read has the columns it had, and takes rows back as little, or as much. Relations pair by identity.
func sameReading(before, after []Relation) bool {
	was := map[string]Relation{}
	for _, r := range before {
		was[r.Identity] = r
	}
	for _, r := range after {
		if old, read := was[r.Identity]; read && (old.AppendOnly != r.AppendOnly || !slices.Equal(old.Columns, r.Columns)) {
			return false
		}
	}
	return true
}

// recordedQuery is the query as it was recorded, over its relations as they were recorded.
func (b *binder) recordedQuery(prior *state.Resource) (Query, bool) {
	q := recordedText(prior)
	q.Addr, q.Stream = prior.Addr, prior.Addr.Block == addr.Stream
	for _, name := range prior.Relation.Reads {
		bare, side, _ := strings.Cut(name, ".")
		r := b.byName[strings.ToLower(bare)]
		if r == nil || r.Relation == nil {
			return q, false
		}
		read, ok := relationOf(r.Addr, side, source{*r.Relation, r.ID, r.Status == state.Applied})
		if !ok {
			return q, false
		}
		read.Name = name
		q.Relations = append(q.Relations, read)
	}
	return q, q.SQL != ""
}

// nameRecords finds recorded relations by the names that recorded queries read them by.
func (b *binder) nameRecords() {
	for a, r := range b.recorded {
		if former, moved := b.in.Former[a]; moved {
			a = former
		}
		if a.Block.IsRelation() {
			b.byName[strings.ToLower(a.Relation())] = r
		}
	}
}
