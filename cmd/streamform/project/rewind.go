package project

import (
	"context"
	"slices"

	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/runtime/host/redelivery"
	"github.com/streamform/streamform/state"
)

// Rewind gives the rows of a stream or source to its sinks once more, from a position on; the recorded state says so of each sink before the
// first row is given.
func (p *Project) Rewind(ctx context.Context, of, to string, duplicates bool) (done redelivery.Rewind, ds diag.Diagnostics, err error) {
	p.loadForRanges()
	a, wrong := address("address", of)
	if wrong != nil {
		return done, diag.Diagnostics{*wrong}, nil
	}
	document, ds, err := p.State(ctx)
	if ds.Failed() || err != nil {
		return done, ds, err
	}
	if document == nil || document.Resource(a) == nil {
		return done, append(ds, notRecorded(a, document)), nil
	}
	h, err := p.openHost(ctx)
	if err == nil {
		done, err = h.Rewind(ctx, redelivery.Request{Addr: a, To: to, Duplicates: duplicates, Decided: func(r redelivery.Rewind) error {
			return p.save(ctx, rewound(document, r))
		}})
	}
	more, err := findings(p.config, err)
	return done, append(ds, more...), err
}

// rewound notes a rewind at the sinks, once.
func rewound(d *state.Document, r redelivery.Rewind) *state.Document {
	next := d.Clone()
	note := state.Rewind{Of: r.Addr, To: r.To, At: r.At, Epoch: r.Epoch}
	for i := range next.Resources {
		s := &next.Resources[i]
		if slices.Contains(r.Sinks, s.Addr) && !slices.Contains(s.Rewinds, note) {
			s.Rewinds = append(slices.Clone(s.Rewinds), note)
		}
	}
	return next
}
