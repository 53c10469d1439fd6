package catalog

import (
	"fmt"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/job/kept"
)

// keptTables has the table of held rows, if there is one.
func (g *Generation) keptTables() map[string]uint64 {
	if g.Kept == 0 {
		return nil
	}
	return map[string]uint64{"kept": g.Kept}
}

// keeping reads which of its rows a source wants held.
func (g *Generation) keeping() (schema.Keeping, error) {
	w, err := g.Wanted()
	if err != nil {
		return schema.Keeping{}, err
	}
	return schema.ParseKeep(w.Keep)
}

// Keeps is where the rows of a source are held; zero where none are.
func (g *Generation) Keeps() (job.Keeping, error) {
	k, err := g.keeping()
	if err != nil || g.Kept == 0 {
		return job.Keeping{}, err
	}
	return job.Keeping{Table: g.Kept, For: k.For}, nil
}

// keeps gives a source without rows a table for those it is to hold. What cannot be read is an error of whoever opens the source.
func (e *Edit) keeps(g *Generation) {
	if k, err := g.keeping(); err == nil && k.Any() {
		g.Kept = e.Number()
	}
}

// keep has the sources that serve hold what their values say now: rows from the next epoch on where none were held, and none any more
// where they are not wanted. What is older than a shorter duration goes with the next epoch.
func (e *Edit) keep() error {
	for a, r := range e.put {
		if a.Block != addr.Source || r.Live == nil {
			continue
		}
		k, err := r.Live.keeping()
		if err != nil || k.Any() == (r.Live.Kept != 0) {
			continue
		}
		next, live := *r, *r.Live
		if next.Live = &live; k.Any() {
			live.Kept = e.Number()
		} else {
			e.Leave(live.keptTables())
			live.Kept = 0
			if err := kept.Forget(e.View, e.Batch, live.ID); err != nil {
				return fmt.Errorf("dropping rows that %s held: %w", a, err)
			}
		}
		e.put[a] = &next
	}
	return nil
}
