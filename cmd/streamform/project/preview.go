package project

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/cmd/streamform/preview"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/host"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/state"
)

// PreviewRequest asks what an edit does to rows.
type PreviewRequest struct {
	Address string // of a stream or view
	Bytes   int64  // read of each source at most, though one file at least
}

// Preview runs a relation as it was applied and as it is planned over the same sample of its sources' newest files, and
// compares the rows. Nothing is kept. It is nil when ds failed.
func (p *Project) Preview(ctx context.Context, made *plan.Plan, r PreviewRequest) (*preview.Preview, diag.Diagnostics, error) {
	a, wrong := address("option -preview", r.Address)
	if wrong != nil {
		return nil, diag.Diagnostics{*wrong}, nil
	}
	i := slices.IndexFunc(made.Changes, func(c plan.Change) bool { return c.Addr == a })
	if i < 0 || a.Block != addr.View && a.Block != addr.Stream {
		return nil, diag.Diagnostics{diag.NewError(nil, "Nothing to preview", fmt.Sprintf("%s is not a stream or view that this plan is about.", a))}, nil
	}
	if _, err := p.openHost(ctx); err != nil {
		ds, err := findings(p.config, err)
		return nil, ds, err
	}
	before, after := newScene(made, priorOf), newScene(made, desiredOf)
	s := &stage{project: p, bytes: r.Bytes, portions: map[string]host.Portion{}}
	var was, is preview.Rows
	for _, side := range []struct {
		scene *scene
		rows  *preview.Rows
	}{{before, &was}, {after, &is}} {
		if side.scene.resources[strings.ToLower(a.Relation())] == nil {
			continue // it is new, or goes
		}
		ds, err := s.run(ctx, side.scene, a, side.rows)
		if err != nil || ds.Failed() {
			return nil, ds, err
		}
	}
	var key []string
	for _, c := range []*state.Resource{made.Changes[i].Desired, made.Changes[i].Prior} {
		if c != nil && c.Relation != nil && key == nil {
			key = c.Relation.Key
		}
	}
	out := preview.New(a, was, is, key)
	out.Samples = s.samples
	return out, nil, nil
}

func priorOf(c plan.Change) *state.Resource   { return c.Prior }
func desiredOf(c plan.Change) *state.Resource { return c.Desired }

// scene is one of the two worlds of a preview: as applied, or as planned.
type scene struct {
	resources map[string]*state.Resource // relations by name, lower case
	sources   []host.Resource
	queries   []host.Rehearsed
	done      map[string]bool
}

func newScene(made *plan.Plan, of func(plan.Change) *state.Resource) *scene {
	s := &scene{resources: map[string]*state.Resource{}, done: map[string]bool{}}
	for _, c := range made.Changes {
		if r := of(c); r != nil && r.Addr.Block.IsRelation() && r.Relation != nil {
			s.resources[strings.ToLower(r.Addr.Relation())] = r
		}
	}
	return s
}

// add takes in a relation after what it reads. The text says why it cannot be previewed; empty when it can.
func (s *scene) add(name string) string {
	bare, side, _ := strings.Cut(strings.ToLower(name), ".")
	r := s.resources[bare]
	switch {
	case side != "":
		return fmt.Sprintf("it reads %s, and a sample has no side relations", name)
	case r == nil:
		return fmt.Sprintf("it reads %s, which this plan is not about", name)
	case s.done[bare]:
		return ""
	}
	s.done[bare] = true
	if r.Addr.Block == addr.Source {
		s.sources = append(s.sources, resource(*r))
		return ""
	}
	q := query.Query{}
	var value struct {
		SQL         string   `json:"sql"`
		Keys        []string `json:"keys"`
		FullRefresh string   `json:"full_refresh"`
	}
	if err := json.Unmarshal(r.Attributes, &value); err != nil {
		return fmt.Sprintf("the attributes of %s cannot be read", r.Addr)
	}
	q.SQL, q.Keys, q.Full = value.SQL, value.Keys, value.FullRefresh == "always"
	for _, read := range r.Relation.Reads {
		if why := s.add(read); why != "" {
			return why
		}
		in := s.resources[strings.ToLower(read)]
		q.Relations = append(q.Relations, query.Relation{Name: in.Addr.Relation(), Columns: in.Relation.Columns, AppendOnly: in.Relation.AppendOnly, Key: in.Relation.Key, Identity: in.Addr.String()})
	}
	s.queries = append(s.queries, host.Rehearsed{Relation: r.Addr.Relation(), Query: q})
	return ""
}

// stage runs scenes over the same portions of sources.
type stage struct {
	project  *Project
	bytes    int64
	portions map[string]host.Portion // by address and value
	samples  []preview.Sample
}

func (s *stage) run(ctx context.Context, sc *scene, a addr.Resource, rows *preview.Rows) (diag.Diagnostics, error) {
	if why := sc.add(a.Relation()); why != "" {
		return diag.Diagnostics{at(s.project.config, a.String(), "This cannot be previewed", fmt.Sprintf("%s cannot be run over a sample: %s.", a, why))}, nil
	}
	r := host.Rehearsal{SQL: fmt.Sprintf("SELECT * FROM %q LIMIT %d", a.Relation(), preview.MaxRows+1), Sources: sc.sources, Queries: sc.queries, Files: map[addr.Resource][]batch.File{}}
	for _, source := range sc.sources {
		p, err := s.portion(ctx, source)
		if err != nil {
			return findings(s.project.config, err)
		}
		r.Files[source.Addr] = p.Files
	}
	answer, err := s.project.host.Rehearse(ctx, r)
	if err != nil {
		return findings(s.project.config, err)
	}
	err = rows.Read(answer)
	if closing := answer.Close(); err == nil {
		err = closing
	}
	if err == nil && rows.Many() {
		return diag.Diagnostics{diag.NewError(nil, "The sample gives too many rows", fmt.Sprintf(
			"%s gives more than %d rows of this sample, which is more than a preview compares. Give it less to read with -preview-bytes.", a, preview.MaxRows))}, nil
	}
	return findings(s.project.config, err)
}

// portion is the same for both scenes while a source reads the same place.
func (s *stage) portion(ctx context.Context, source host.Resource) (host.Portion, error) {
	var value bytes.Buffer
	if err := json.Compact(&value, source.Value); err != nil {
		return host.Portion{}, fmt.Errorf("reading the value of %s: %w", source.Addr, err)
	}
	key := source.Addr.String() + "\n" + value.String()
	if p, ok := s.portions[key]; ok {
		return p, nil
	}
	p, err := s.project.host.Portion(ctx, source.Addr, source.Value, s.bytes)
	if err != nil {
		return p, err
	}
	s.portions[key] = p
	s.samples = append(s.samples, preview.Sample{Source: source.Addr, Files: int64(len(p.Files)), Bytes: p.Bytes, OfFiles: p.AllFiles, OfBytes: p.AllBytes})
	return p, nil
}
