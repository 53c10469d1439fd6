package project

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/query"
)

// Analysis is what reading everything that was pending came to.
type Analysis struct {
	Epochs       int     `json:"epochs"` // 0: nothing was pending
	Rows         int64   `json:"rows"`   // read
	Milliseconds float64 `json:"milliseconds"`

	measured map[string]query.Measured // by relation and operator
}

// Measurement is what one operator did in the epochs of an analysis.
type Measurement struct {
	RowsIn       int64   `json:"rows_in"`  // changed rows it was given, inserted and deleted
	RowsOut      int64   `json:"rows_out"` // changed rows it gave
	Keys         int64   `json:"keys"`     // remembered or forgotten
	Bytes        int64   `json:"bytes"`    // remembered; of a source: read
	Milliseconds float64 `json:"milliseconds"`
}

// analyze runs what was applied until everything that is there is read, and measures it.
func (p *Project) analyze(ctx context.Context) (*Analysis, diag.Diagnostics, error) {
	_, ds, err := p.Prepare(ctx)
	if err != nil || ds.Failed() {
		return nil, ds, err
	}
	a := &Analysis{measured: map[string]query.Measured{}}
	more, err := findings(p.config, p.host.Analyze(ctx, a.add))
	return a, append(ds, more...), err
}

// add takes one epoch into account.
func (a *Analysis) add(e job.Progress) {
	if len(e.Operators) == 0 {
		return // the pipeline was idle
	}
	a.Epochs++
	a.Rows += e.NumInputRows
	a.Milliseconds += float64(e.BatchDuration)
	for _, m := range e.Operators {
		key := strings.ToLower(m.Relation) + "/" + m.Operator
		sum := a.measured[key]
		sum.RowsIn, sum.RowsOut, sum.Updated, sum.Removed = sum.RowsIn+m.RowsIn, sum.RowsOut+m.RowsOut, sum.Updated+m.Updated, sum.Removed+m.Removed
		sum.Bytes, sum.Time = sum.Bytes+m.Bytes, sum.Time+m.Time
		a.measured[key] = sum
	}
}

// of is what an operator of a relation did; nil when it was not measured.
func (a *Analysis) of(relation, operator string) *Measurement {
	if a == nil {
		return nil
	}
	m, ok := a.measured[strings.ToLower(relation)+"/"+operator]
	if !ok {
		return nil
	}
	return &Measurement{RowsIn: m.RowsIn, RowsOut: m.RowsOut, Keys: m.Updated + m.Removed, Bytes: m.Bytes, Milliseconds: float64(m.Time) / float64(time.Millisecond)}
}

// measure adds what was measured.
func (e *Explanation) measure(a *Analysis) {
	e.Measured = a.of(e.Address.Relation(), query.ScanID)
	for i, o := range e.Operators {
		e.Operators[i].Measured = a.of(e.Address.Relation(), o.ID)
	}
}

// unmeasured warns of relations whose query here is not the one that ran.
func unmeasured(others []addr.Resource) diag.Diagnostic {
	names := make([]string, len(others))
	for i, a := range others {
		names[i] = a.String()
	}
	return diag.NewWarning(nil, "Some relations are not measured", fmt.Sprintf("%s: the query in the configuration is not the one that was applied, and ran. Apply first.", strings.Join(names, ", ")))
}
