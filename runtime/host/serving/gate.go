package serving

import (
	"context"
	"slices"
	"sync"
)

// Gate lets one change of what was applied through at a time. While pipelines are kept running, a change stops those that it
// concerns, and what is to run is started again when it is over. The zero value is ready; nothing runs.
type Gate struct {
	busy   sync.Mutex
	keep   sync.Mutex // held by Keep
	fleet  *fleet     // nil: nothing is kept running; changes with busy held
	groups int
	settle func() // starts what is to run
}

// Lock begins a change that stops everything that runs. Unlock ends it.
func (g *Gate) Lock() {
	g.Enter()
	g.StopAll()
}

// Enter begins a change that stops nothing yet. Unlock ends it.
func (g *Gate) Enter() { g.busy.Lock() }

// Unlock ends a change. What it has stopped is started again, unless it belongs to a group of changes.
func (g *Gate) Unlock() {
	if g.fleet != nil && g.groups == 0 {
		g.settle()
	}
	g.busy.Unlock()
}

// Group makes the changes until end is called one: what one of them stops stays so, unless one starts it.
func (g *Gate) Group() (end func()) {
	g.busy.Lock()
	defer g.busy.Unlock()
	g.groups++
	if g.fleet != nil {
		g.fleet.change(1)
	}
	return func() {
		g.busy.Lock()
		g.groups--
		f := g.fleet
		g.Unlock()
		if f != nil {
			f.change(-1)
		}
	}
}

// Stop stops pipelines, by ID, and waits until they have finished the epoch in hand. A change is under way.
func (g *Gate) Stop(ids ...string) {
	g.stop(func(p Pipeline) bool { return slices.Contains(ids, p.ID) })
}

// StopAll stops everything that runs.
func (g *Gate) StopAll() { g.stop(func(Pipeline) bool { return true }) }

// StopOthers stops what is not among the shapes, by ID.
func (g *Gate) StopOthers(shapes map[string]string) {
	g.stop(func(p Pipeline) bool { return shapes[p.ID] != p.Shape })
}

func (g *Gate) stop(which func(Pipeline) bool) {
	if g.fleet != nil {
		g.fleet.stop(which)
	}
}

// Keeps reports whether pipelines are kept running, so that Start may be called. A change is under way.
func (g *Gate) Keeps() bool { return g.fleet != nil && g.fleet.ctx.Err() == nil }

// Running is a pipeline that runs now. A change is under way.
func (g *Gate) Running(id string) (Pipeline, bool) {
	if g.fleet == nil {
		return Pipeline{}, false
	}
	g.fleet.mu.Lock()
	defer g.fleet.mu.Unlock()
	m, ok := g.fleet.running[id]
	if !ok {
		return Pipeline{}, false
	}
	return m.Pipeline, true
}

// Start has a pipeline run, as open makes it, unless one of its shape does, or has ended by itself. told says whether its failure is told
// at once, and not only when everything has ended. A change is under way.
func (g *Gate) Start(p Pipeline, told bool, open func() (Pipeline, error)) {
	if g.fleet.knows(p.ID, p.Shape) {
		return
	}
	opened, err := open()
	if err != nil {
		g.fleet.fail(p, err, told)
		return
	}
	g.fleet.start(opened, told)
}

// Keep keeps running what settle starts, until ctx ends or everything has ended by itself and no change is under way. settle is called
// now and after each change. A failure of a pipeline does not stop the others; stopped is told of it, and the error joins the failures.
func (g *Gate) Keep(ctx context.Context, stopped func(pipeline string, err error), settle func()) error {
	g.keep.Lock()
	defer g.keep.Unlock()
	g.busy.Lock()
	f := newFleet(ctx, stopped)
	g.fleet, g.settle = f, settle
	f.changes = g.groups
	g.Unlock()
	for {
		f.rest()
		g.busy.Lock()
		f.mu.Lock()
		over := f.resting()
		f.mu.Unlock()
		if over {
			g.fleet, g.settle = nil, nil
			g.busy.Unlock()
			return f.failed()
		}
		g.busy.Unlock()
	}
}
