package catalog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/job"
)

// Network is the catalog seen as a graph: who reads whom. It holds addresses, so it outlives changes of generations.
type Network struct {
	ByName  map[string]addr.Resource          // relations by bare name, lower case
	Inputs  map[addr.Resource][]addr.Resource // what a resource reads, live or building
	catalog *Catalog
	all     []addr.Resource // sorted
}

// Network is the catalog as it stands, seen as a graph.
func (c *Catalog) Network() (*Network, error) {
	n := &Network{catalog: c, ByName: map[string]addr.Resource{}, Inputs: map[addr.Resource][]addr.Resource{}}
	for a := range c.Records {
		n.all = append(n.all, a)
		if a.Block.IsRelation() {
			n.ByName[strings.ToLower(a.Relation())] = a
		}
	}
	slices.SortFunc(n.all, addr.Resource.Compare)
	for _, a := range n.all {
		for _, g := range []*Generation{c.Records[a].Live, c.Records[a].Building} {
			names, err := g.Reads(a)
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", a, err)
			}
			for _, name := range names {
				if in, ok := n.ByName[strings.ToLower(name)]; ok && !slices.Contains(n.Inputs[a], in) {
					n.Inputs[a] = append(n.Inputs[a], in)
				}
			}
		}
	}
	return n, nil
}

// Record is a resource of the network's catalog; nil when there is none.
func (n *Network) Record(a addr.Resource) *Record { return n.catalog.Records[a] }

// Reads lists the bare names of the relations a generation reads.
func (g *Generation) Reads(a addr.Resource) ([]string, error) {
	switch {
	case g == nil || !Carries(a):
		return nil, nil
	case a.Block == addr.Sink:
		from, err := g.From()
		return []string{from.Relation()}, err
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

// From is the relation that a sink delivers.
func (g *Generation) From() (addr.Resource, error) {
	w, err := g.Wanted()
	if err != nil {
		return addr.Resource{}, err
	}
	return addr.Parse(w.From)
}

// Pipeline is a connected set of relations and sinks.
type Pipeline struct {
	ID      string
	Name    string          // for people
	Members []addr.Resource // what is read before what reads it
	Trigger job.Trigger
}

// Pipelines finds the connected sets, in the order of their smallest addresses.
func (n *Network) Pipelines() ([]*Pipeline, error) {
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
		for _, in := range n.Inputs[a] {
			group[root(a)] = root(in)
		}
	}
	var all []*Pipeline
	of := map[addr.Resource]*Pipeline{}
	for _, a := range n.all {
		if !Carries(a) {
			continue
		}
		p := of[root(a)]
		if p == nil {
			p = &Pipeline{}
			of[root(a)] = p
			all = append(all, p)
		}
		p.Members = append(p.Members, a)
	}
	taken := map[string]bool{}
	for _, p := range all {
		p.Members = n.ordered(p.Members)
		p.ID = n.identity(p, taken)
		if err := n.bindTrigger(p); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// identity is the smallest ID a member had that no earlier pipeline has taken; a new one when there is none.
func (n *Network) identity(p *Pipeline, taken map[string]bool) string {
	id := ""
	for _, a := range p.Members {
		if had := n.catalog.Records[a].Pipeline; had != "" && !taken[had] && (id == "" || had < id) {
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
func (n *Network) ordered(members []addr.Resource) []addr.Resource {
	var out []addr.Resource
	done := map[addr.Resource]bool{}
	var visit func(a addr.Resource)
	visit = func(a addr.Resource) {
		if done[a] {
			return
		}
		done[a] = true
		for _, in := range n.Inputs[a] {
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
func (n *Network) bindTrigger(p *Pipeline) error {
	p.Name = p.Members[0].String()
	for _, a := range p.Members {
		w, err := n.catalog.Records[a].Newest().Wanted()
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
		r, ok := n.catalog.Records[named]
		if !ok {
			continue // an apply that was cut short has deleted it, and not yet changed what names it
		}
		p.Name = w.Trigger
		p.Trigger, err = triggerOf(r)
		return err
	}
	return nil
}

func triggerOf(r *Record) (job.Trigger, error) {
	w, err := r.Live.Wanted()
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
