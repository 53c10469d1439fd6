// Package asking answers questions about rows without changing anything: ad-hoc queries, samples of sources, rehearsals of edits.
package asking

import (
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/host/opening"
	"github.com/streamform/streamform/runtime/store"
)

// Asker looks at what was committed, and at what sources hold.
type Asker struct {
	open     *opening.Opener
	store    *store.Store
	programs programs // of views that queries read
}

// New asks what an opener opens and a store holds.
func New(open *opening.Opener, s *store.Store) *Asker { return &Asker{open: open, store: s} }

func live(r *catalog.Record) *catalog.Generation { return r.Live }
