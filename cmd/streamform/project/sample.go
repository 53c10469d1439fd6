package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/graph/bind"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/scan"
)

// sampler finds the columns of a source that need not be applied. Mistakes of the user are
// *query.Error or *connector.UserError.
type sampler func(ctx context.Context, source bind.Source) (bind.Inferred, error)

// sampler asks the runtime of this folder, and notes how much each source holds for the price of a plan.
func (p *Project) sampler() sampler {
	return func(ctx context.Context, source bind.Source) (bind.Inferred, error) {
		p.hostLock.Lock()
		defer p.hostLock.Unlock()
		h, err := p.openHost(ctx)
		if err != nil {
			return bind.Inferred{}, err
		}
		return p.sample(ctx, h, source)
	}
}

// scratchSampler looks at data only where columns are to be inferred, and then asks a runtime that is made for the purpose and
// thrown away: it serves commands that must leave the folder, and the process that runs its pipelines, alone.
func (p *Project) scratchSampler() sampler {
	return func(ctx context.Context, source bind.Source) (bind.Inferred, error) {
		if declares(source.Value, "columns") {
			return p.declared(ctx, source)
		}
		p.hostLock.Lock()
		defer p.hostLock.Unlock()
		if p.scratch == nil {
			dir, err := os.MkdirTemp("", "streamform-")
			if err != nil {
				return bind.Inferred{}, fmt.Errorf("making a temporary folder: %w", err)
			}
			h, err := p.newHost(ctx, dir, nil)
			if err != nil {
				return bind.Inferred{}, errors.Join(err, os.RemoveAll(dir))
			}
			p.scratch, p.scratchDir = h, dir
		}
		return p.sample(ctx, p.scratch, source)
	}
}

func (p *Project) sample(ctx context.Context, h *host.Host, source bind.Source) (bind.Inferred, error) {
	d, ok := p.definition(source.Addr.Kind())
	if !ok {
		return bind.Inferred{}, noKind(source.Addr)
	}
	raw, err := d.Kind.Marshal(source.Value)
	if err != nil {
		return bind.Inferred{}, err
	}
	got, err := h.Infer(ctx, source.Addr, raw)
	if err != nil {
		return bind.Inferred{}, err
	}
	p.extents[source.Addr] = plan.Extent{Files: got.Files, Bytes: got.Bytes}
	if declares(source.Value, "columns") {
		if err := asWritten(&got.Scan, source.Written); err != nil {
			return bind.Inferred{}, err
		}
		return offered(d, got.Scan), nil
	}
	out := offered(d, got.Scan)
	out.Sampled, out.Files, out.Bytes = true, got.Files, got.Bytes
	return out, nil
}

// declared checks the columns that a source declares, without looking at its data.
func (p *Project) declared(ctx context.Context, source bind.Source) (out bind.Inferred, err error) {
	d, ok := p.definition(source.Addr.Kind())
	if !ok || d.Source == nil {
		return out, noKind(source.Addr)
	}
	cfg, err := d.Kind.Bind(source.Value)
	if err != nil {
		return out, err
	}
	env, err := p.env()
	if err != nil {
		return out, err
	}
	from, err := d.Source(ctx, cfg, env)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	decoding, _ := from.Scan()
	types := make([]string, len(decoding.Columns))
	for i, c := range decoding.Columns {
		types[i] = c.Type
	}
	if types, err = p.compiler.Types(ctx, types); err != nil {
		return out, fmt.Errorf("checking the columns of %s: %w", source.Addr, err)
	}
	for i := range decoding.Columns {
		decoding.Columns[i].Type = types[i]
	}
	if err := asWritten(&decoding, source.Written); err != nil {
		return out, err
	}
	return offered(d, decoding), nil
}

// asWritten puts declared columns in the order they were written. Where nobody chose one it is that of their names, which
// says nothing about files that have no names in them.
func asWritten(s *batch.Scan, written []string) error {
	if written == nil && scan.Positional(*s) {
		return &connector.UserError{Summary: "The order of the columns is not known", Detail: "CSV files without a header tell their columns by place only, and these columns are computed, " +
			"which leaves them without an order. Write them out, in the order in which they stand in the files: columns = { id = \"BIGINT\", name = \"VARCHAR\" }."}
	}
	s.Columns = slices.Clone(s.Columns)
	slices.SortStableFunc(s.Columns, func(a, b batch.Column) int {
		return cmp.Compare(slices.Index(written, a.Name), slices.Index(written, b.Name))
	})
	return nil
}

func noKind(a addr.Resource) error { return fmt.Errorf("this version has no kind %s", a.Kind()) }

// offered is what SQL can read of a source that is decoded so.
func offered(d connector.Definition, s batch.Scan) bind.Inferred {
	out := bind.Inferred{Columns: scan.Columns(s), Sides: map[string]batch.Schema{}}
	for _, side := range d.Kind.Sides {
		if columns := query.SideColumns(side); columns != nil {
			out.Sides[side] = columns
		}
	}
	return out
}

// declares reports whether an attribute has a value.
func declares(value cty.Value, name string) bool {
	return value.Type().HasAttribute(name) && !value.GetAttr(name).IsNull()
}
