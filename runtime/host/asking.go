package host

import (
	"context"
	"encoding/json"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host/asking"
	"github.com/streamform/streamform/runtime/host/looking"
	"github.com/streamform/streamform/runtime/query/evolve"
)

// Rows is an open result. Close it before the host.
type Rows = asking.Rows

// Sample is what a look at a source found.
type Sample = asking.Sample

// Portion is a part of what a source holds.
type Portion = asking.Portion

// Rehearsal is a set of definitions to be run over files, beside everything that is applied.
type Rehearsal = asking.Rehearsal

// Rehearsed is one stream or view of a Rehearsal.
type Rehearsed = asking.Rehearsed

// Facts is what a plan needs to know about the runtime.
type Facts = looking.Facts

// Facts looks at the store, and lists the sources. It changes nothing. A source that cannot be listed is
// in the error, which joins all of them; the rest is answered all the same.
func (h *Host) Facts(ctx context.Context) (Facts, error) { return h.looker().Facts(ctx) }

// Weigh says how many rows and groups of what the runtime holds it takes to follow the carries of edited queries: see looking.Looker.
func (h *Host) Weigh(ctx context.Context, all map[addr.Resource][]evolve.Need) (map[addr.Resource]int64, error) {
	return h.looker().Weigh(ctx, all)
}

// Inspect looks at the object that a source or sink stands for when it has a value, which need not be applied; a nil value is
// that of the generation that serves: see looking.Looker.
func (h *Host) Inspect(ctx context.Context, a addr.Resource, value json.RawMessage) (connector.Inspection, error) {
	return h.looker().Inspect(ctx, a, value)
}

// Values are the attributes that each resource was last put with.
func (h *Host) Values() (map[addr.Resource]json.RawMessage, error) { return h.looker().Values() }

func (h *Host) looker() *looking.Looker { return looking.New(h.open, h.store) }

// Query answers one SELECT over the committed relations, all as of the same moment. Close the
// rows. Mistakes in the SQL are *query.Error.
func (h *Host) Query(ctx context.Context, sql string) (*Rows, error) {
	return h.ask.Query(ctx, sql)
}

// Infer lists a source that need not be applied and finds its columns: those it declares, or else from a sample of
// its files. Mistakes of the user are *query.Error without a place, or *connector.UserError.
func (h *Host) Infer(ctx context.Context, a addr.Resource, value json.RawMessage) (Sample, error) {
	return h.ask.Infer(ctx, a, value)
}

// Portion lists a source that need not be applied, and takes its newest files up to an amount of bytes, but one at least.
func (h *Host) Portion(ctx context.Context, a addr.Resource, value json.RawMessage, most int64) (Portion, error) {
	return h.ask.Portion(ctx, a, value, most)
}

// Newest finds the columns in the newest files of a source, up to an amount of bytes; nil where none can be found there.
func (h *Host) Newest(ctx context.Context, a addr.Resource, value json.RawMessage, most int64) (batch.Schema, error) {
	return h.ask.Newest(ctx, a, value, most)
}

// Rehearse computes the relations over the files and answers the SELECT. Nothing is kept. Close the rows before the host.
// Mistakes in SQL are *query.Error.
func (h *Host) Rehearse(ctx context.Context, r Rehearsal) (*Rows, error) {
	return h.ask.Rehearse(ctx, r)
}
