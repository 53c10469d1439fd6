package host

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/job"
)

// network is the catalog seen as a graph: who reads whom. It holds addresses, so it outlives changes of generations.
type network struct {
	catalog *catalog
	all     []addr.Resource // sorted
	byName  map[string]addr.Resource
	inputs  map[addr.Resource][]addr.Resource // what a resource reads, live or building
}

func (c *catalog) network() (*network, error) {
	n := &network{catalog: c, byName: map[string]addr.Resource{}, inputs: map[addr.Resource][]addr.Resource{}}
	for a := range c.records {
		n.all = append(n.all, a)
		if a.Block.IsRelation() {
			n.byName[strings.ToLower(a.Name)] = a
		}
	}
	slices.SortFunc(n.all, addr.Resource.Compare)
	for _, a := range n.all {
		for _, g := range []*generation{c.records[a].Live, c.records[a].Building} {
			names, err := g.reads(a)
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", a, err)
			}
			for _, name := range names {
				if in, ok := n.byName[strings.ToLower(name)]; ok && !slices.Contains(n.inputs[a], in) {
					n.inputs[a] = append(n.inputs[a], in)
				}
			}
		}
	}
	return n, nil
}

// reads lists the bare names of the relations a generation reads.
func (g *generation) reads(a addr.Resource) ([]string, error) {
	switch {
	case g == nil || !carries(a):
		return nil, nil
	case a.Block == addr.Sink:
		from, err := g.from()
		return []string{from.Name}, err
	case g.Relation == nil:
		return nil, nil
	}
	var names []string
	for _, name := range g.Relation.Reads {
		bare, _, _ := strings.Cut(name, ".")
		names = append(names, bare)
	}
	return names, nil
}

// from is the relation that a sink delivers.
func (g *generation) from() (addr.Resource, error) {
	w, err := g.wanted()
	if err != nil {
		return addr.Resource{}, err
	}
	return addr.Parse(w.From)
}

// pipeline is a connected set of relations and sinks.
type pipeline struct {
	id      string
	name    string          // for people
	members []addr.Resource // what is read before what reads it
	trigger job.Trigger
}

// pipelines finds the connected sets, in the order of their smallest addresses.
func (n *network) pipelines() ([]*pipeline, error) {
	group := map[addr.Resource]addr.Resource{}
	root := func(a addr.Resource) addr.Resource {
		for group[a] != a {
			group[a] = group[group[a]]
			a = group[a]
		}
		return a
	}
	for _, a := range n.all {
		group[a] = a
	}
	for _, a := range n.all {
		for _, in := range n.inputs[a] {
			group[root(a)] = root(in)
		}
	}
	var all []*pipeline
	of := map[addr.Resource]*pipeline{}
	for _, a := range n.all {
		if !carries(a) {
			continue
		}
		p := of[root(a)]
		if p == nil {
			p = &pipeline{}
			of[root(a)] = p
			all = append(all, p)
		}
		p.members = append(p.members, a)
	}
	taken := map[string]bool{}
	for _, p := range all {
		p.members = n.ordered(p.members)
		p.id = n.identity(p, taken)
		if err := n.bindTrigger(p); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// identity is the smallest ID a member had that no earlier pipeline has taken; a new one when there is none.
func (n *network) identity(p *pipeline, taken map[string]bool) string {
	id := ""
	for _, a := range p.members {
		if had := n.catalog.records[a].Pipeline; had != "" && !taken[had] && (id == "" || had < id) {
			id = had
		}
	}
	if id == "" {
		id = uuid.NewString()
	}
	taken[id] = true
	return id
}

// ordered puts what is read before what reads it.
func (n *network) ordered(members []addr.Resource) []addr.Resource {
	var out []addr.Resource
	done := map[addr.Resource]bool{}
	var visit func(a addr.Resource)
	visit = func(a addr.Resource) {
		if done[a] {
			return
		}
		done[a] = true
		for _, in := range n.inputs[a] {
			visit(in)
		}
		out = append(out, a)
	}
	for _, a := range members {
		visit(a)
	}
	return out
}

// bindTrigger finds the trigger that a member names, and the pipeline's name.
func (n *network) bindTrigger(p *pipeline) error {
	p.name = p.members[0].String()
	for _, a := range p.members {
		w, err := n.catalog.records[a].newest().wanted()
		if err != nil {
			return fmt.Errorf("reading %s: %w", a, err)
		}
		if w.Trigger == "" {
			continue
		}
		named, err := addr.Parse(w.Trigger)
		if err != nil {
			return fmt.Errorf("reading %s: %w", a, err)
		}
		r, ok := n.catalog.records[named]
		if !ok {
			continue // an apply that was cut short has deleted it, and not yet changed what names it
		}
		p.name = w.Trigger
		p.trigger, err = triggerOf(r)
		return err
	}
	return nil
}

func triggerOf(r *record) (job.Trigger, error) {
	w, err := r.Live.wanted()
	if err != nil {
		return job.Trigger{}, fmt.Errorf("reading %s: %w", r.Addr, err)
	}
	t := job.Trigger{Paused: w.Paused, Once: r.Addr.Type == "available_now"}
	if w.Interval != "" {
		d, err := schema.ParseDuration(w.Interval)
		if err != nil {
			return t, fmt.Errorf("reading the interval of %s: %w", r.Addr, err)
		}
		t.Interval = time.Duration(d)
	}
	return t, nil
}

// regroup finds the pipelines and records who belongs to which. A pipeline that was joined with another, or split,
// delivers what it has decided first.
func (h *Host) regroup(ctx context.Context) (*network, []*pipeline, error) {
	n, err := h.catalog.network()
	if err != nil {
		return nil, nil, fmt.Errorf("finding pipelines: %w", err)
	}
	all, err := n.pipelines()
	if err != nil {
		return nil, nil, fmt.Errorf("finding pipelines: %w", err)
	}
	left := map[string]bool{} // IDs that lost a member
	for _, p := range all {
		for _, a := range p.members {
			if had := h.catalog.records[a].Pipeline; had != "" && had != p.id {
				left[had] = true
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(left)) {
		if err := h.drain(ctx, id); err != nil {
			return nil, nil, fmt.Errorf("finding pipelines: %w", err)
		}
	}
	e := h.catalog.edit()
	defer e.close()
	if err := e.regroup(all, left); err != nil {
		return nil, nil, fmt.Errorf("finding pipelines: %w", err)
	}
	return n, all, nil
}

// regroup commits the membership. A pipeline goes on from the greatest epoch of those its members come from.
func (e *edit) regroup(all []*pipeline, left map[string]bool) error {
	for _, p := range all {
		var epoch int64
		moved := false
		for _, a := range p.members {
			r := e.catalog.records[a]
			was, err := job.Epoch(e.view, r.Pipeline)
			if err != nil {
				return err
			}
			epoch = max(epoch, was)
			if r.Pipeline != p.id {
				moved = true
				next := *r
				next.Pipeline = p.id
				e.save(&next)
			}
		}
		delete(left, p.id)
		if !moved {
			continue
		}
		if err := job.SetEpoch(e.batch, p.id, epoch); err != nil {
			return err
		}
	}
	if len(e.put) == 0 {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(left)) {
		job.ForgetPipeline(e.batch, id)
		e.batch.DeleteMeta("build/" + id)
	}
	return e.commit()
}
