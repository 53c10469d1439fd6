package project

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/streamform/streamform/graph/bind"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host"
	"github.com/streamform/streamform/state"
)

// observer looks at the objects behind sources and sinks.
type observer struct {
	host   *host.Host
	here   []string                          // the project's folder, as it is called and with links followed
	values map[addr.Resource]json.RawMessage // what the runtime has
	diags  diag.Diagnostics
}

// observe adds to the facts what only a look at the real objects tells: what others did to those that are recorded, and which
// ones the desired values stand for.
func (p *Project) observe(ctx context.Context, f *plan.Facts, recorded *state.Document, desired map[addr.Resource]json.RawMessage) (diag.Diagnostics, error) {
	values, err := p.host.Values()
	if err != nil {
		return nil, fmt.Errorf("asking the runtime what it was given: %w", err)
	}
	f.Values, f.Identities, f.Occupied = values, map[addr.Resource]plan.Identity{}, map[addr.Resource]plan.Refusal{}
	here, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding the working directory: %w", err)
	}
	o := &observer{host: p.host, here: []string{here}, values: values}
	if real, err := filepath.EvalSymlinks(here); err == nil && real != here {
		o.here = append(o.here, real)
	}
	seen := map[addr.Resource]connector.Inspection{}
	if recorded != nil {
		for _, r := range recorded.Resources {
			if !outside(r.Addr) || r.Status != state.Applied || values[r.Addr] == nil {
				continue
			}
			found, err := o.look(ctx, r.Addr, nil)
			if err != nil {
				return o.diags, err
			}
			seen[r.Addr] = found
			for _, d := range found.Drifts {
				f.Observed = append(f.Observed, plan.Observation{Addr: r.Addr, Kind: d.Kind, Detail: d.Detail, Mark: d.Mark})
			}
			if err := o.newColumns(ctx, f, r); err != nil {
				return o.diags, err
			}
		}
	}
	return o.diags, o.identify(ctx, f, desired, seen)
}

// identify finds what the desired values stand for.
func (o *observer) identify(ctx context.Context, f *plan.Facts, desired map[addr.Resource]json.RawMessage, seen map[addr.Resource]connector.Inspection) error {
	for a, value := range desired {
		found, known := seen[a]
		if !known || !bytes.Equal(value, o.values[a]) {
			var err error
			if found, err = o.look(ctx, a, value); err != nil {
				return err
			}
		}
		if no := found.Occupied; no != nil && o.values[a] == nil {
			f.Occupied[a] = plan.Refusal{Summary: no.Summary, Detail: o.relative(no.Detail)}
		}
		if found.Place != "" {
			f.Identities[a] = plan.Identity{Place: found.Place, Columns: found.Columns}
		}
	}
	return nil
}

// lookedAt is how much of the newest files of a source is looked at for columns that it does not have.
const lookedAt = 4 << 20

// newColumns finds columns in the newest files of a source that it does not have, where these are to be proposed: as its mode of evolution
// says, else where its columns were found in its data and fixed when it was planned.
func (o *observer) newColumns(ctx context.Context, f *plan.Facts, r state.Resource) error {
	var says struct {
		Columns   map[string]string
		Evolution string `json:"schema_evolution"`
	}
	if r.Addr.Block != addr.Source || r.Relation == nil || json.Unmarshal(o.values[r.Addr], &says) != nil {
		return nil
	}
	if proposes := says.Evolution == "propose" || says.Evolution == "" && says.Columns == nil; !proposes {
		return nil
	}
	found, err := o.host.Newest(ctx, r.Addr, o.values[r.Addr], lookedAt)
	var user *connector.UserError
	if errors.As(err, &user) { // it is told where the source is listed
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking for new columns of %s: %w", r.Addr, err)
	}
	if seen, ok := plan.NewColumns(r, found); ok {
		f.Observed = append(f.Observed, seen)
	}
	return nil
}

// outside reports whether something beyond the runtime stands behind a resource.
func outside(a addr.Resource) bool { return a.Block == addr.Source || a.Block == addr.Sink }

// look inspects one object. One that cannot be looked at is a warning; what is wrong with a source is told where it is listed.
func (o *observer) look(ctx context.Context, a addr.Resource, value json.RawMessage) (connector.Inspection, error) {
	found, err := o.host.Inspect(ctx, a, value)
	var user *connector.UserError
	switch {
	case err == nil:
		found.Place = o.relative(found.Place)
		for i := range found.Drifts {
			found.Drifts[i].Detail = o.relative(found.Drifts[i].Detail)
		}
		return found, nil
	case ctx.Err() != nil:
		return found, err
	case errors.As(err, &user) && a.Block == addr.Source:
		return found, nil
	case errors.As(err, &user):
		o.warn(a, user.Summary+". "+user.Detail)
	default:
		o.warn(a, sentence(err.Error()))
	}
	return found, nil
}

// relative calls what is inside of the project by its path there: the folder may have another name where a plan is applied.
func (o *observer) relative(text string) string {
	for _, dir := range o.here {
		text = strings.ReplaceAll(text, dir+string(filepath.Separator), "")
	}
	return text
}

func (o *observer) warn(a addr.Resource, why string) {
	d := diag.NewWarning(nil, "What a resource stands for cannot be looked at", why+" Whether others have changed it is not known.")
	d.Address, d.Alone = a.String(), true
	o.diags = append(o.diags, d)
}

// desired are the values of the configuration's sources and sinks.
func (p *Project) desired() (map[addr.Resource]json.RawMessage, error) {
	out := map[addr.Resource]json.RawMessage{}
	for _, r := range p.config.Resources {
		if !outside(r.Addr) {
			continue
		}
		value, err := r.Kind.Marshal(r.Value)
		if err != nil {
			return nil, fmt.Errorf("writing the value of %s: %w", r.Addr, err)
		}
		out[r.Addr] = value
	}
	return out, nil
}

// CheckRuntime refuses a saved plan when the runtime, or what its sources and sinks stand for, is not as it was when the plan
// was made. The recorded state is compared by Apply.
func (p *Project) CheckRuntime(ctx context.Context) (diag.Diagnostics, error) {
	made := p.saved.Plan
	if made.StreamformVersion != p.o.Version {
		return diag.Diagnostics{staleFinding(fmt.Sprintf("The plan was made by streamform %s, and this is version %s.", made.StreamformVersion, p.o.Version))}, nil
	}
	recorded, ds, err := p.State(ctx)
	if err != nil || ds.Failed() || made.Lock == nil || moved(recorded, made) {
		return ds, err // Apply says that the state has moved
	}
	h, err := p.openHost(ctx)
	if err != nil {
		return findings(nil, err)
	}
	f, err := h.Facts(ctx)
	if err != nil {
		var rest []error
		for _, e := range split(err) {
			var unlisted *connector.UserError
			if !errors.As(e, &unlisted) { // a folder that is gone shows in the comparison
				rest = append(rest, e)
			}
		}
		if err := errors.Join(rest...); err != nil {
			return nil, fmt.Errorf("asking the runtime what it holds: %w", err)
		}
	}
	now := facts(f)
	desired := map[addr.Resource]json.RawMessage{}
	for _, c := range made.Changes {
		if c.Desired != nil && outside(c.Addr) {
			desired[c.Addr] = c.After
		}
	}
	more, err := p.observe(ctx, now, nil, desired)
	ds = append(ds, more...)
	if err != nil || ds.Failed() {
		return ds, err
	}
	if err := p.sampleAgain(ctx, made, now); err != nil {
		return findings(nil, err)
	}
	if what := made.Lock.Moved(made.LockOn(now)); what != "" {
		return append(ds, staleFinding(what)), nil
	}
	return ds, nil
}

// moved reports whether the recorded state is another one than a plan was made on.
func moved(recorded *state.Document, made *plan.Plan) bool {
	if recorded == nil {
		return made.Serial != 0
	}
	return recorded.Lineage != made.Lineage || recorded.Serial != made.Serial
}

// sampleAgain looks once more at the sources whose columns the plan found in their data.
func (p *Project) sampleAgain(ctx context.Context, made *plan.Plan, now *plan.Facts) error {
	for _, c := range made.Changes {
		if !c.Inferred || c.Desired == nil {
			continue
		}
		k, ok := p.Kind(c.Addr.Kind())
		if !ok {
			return noKind(c.Addr)
		}
		value, err := k.Unmarshal(c.After)
		if err != nil {
			return fmt.Errorf("reading the planned value of %s: %w", c.Addr, err)
		}
		found, err := p.sample(ctx, p.host, bind.Source{Addr: c.Addr, Value: value})
		if err != nil {
			return err
		}
		id := now.Identities[c.Addr]
		id.Columns = found.Columns
		now.Identities[c.Addr] = id
	}
	return nil
}
