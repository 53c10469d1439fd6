package graph

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/lang/schema"
)

// Graph holds the edges of one configuration, in both directions. It is never
// changed after Build.
type Graph struct {
	resources  []addr.Resource       // by address
	index      map[addr.Resource]int // place in resources
	edges      [][]Edge              // out of each resource, as written
	needs      [][]int               // the same as places, ascending, each once
	neededBy   [][]int
	order      []int
	components []component
}

// Build finds the edges of a configuration. The graph is nil when a diagnostic is an error.
func Build(cfg *lang.Config, analyze Analyze) (*Graph, diag.Diagnostics) {
	b := newBuilder(cfg)
	for _, r := range cfg.Resources {
		b.references(r)
		for _, sql := range r.SQL {
			if isQuery(r.Addr, sql.Attr) {
				b.query(r, sql, analyze)
			}
		}
	}
	if b.diags.Failed() {
		return nil, b.diags
	}
	g := b.g
	g.link()
	var ok bool
	if g.order, ok = sortTopologically(g.needs, g.neededBy); !ok {
		return nil, append(b.diags, g.cycles()...)
	}
	g.components = g.findComponents()
	b.diags = append(b.diags, g.triggers()...)
	if b.diags.Failed() {
		return nil, b.diags
	}
	return g, b.diags
}

// isQuery tells the SQL that reads relations from conditions and the like.
func isQuery(a addr.Resource, attr string) bool {
	return attr == "sql" && (a.Block == addr.Stream || a.Block == addr.View)
}

type builder struct {
	g         *Graph
	relations map[string]lang.Resource // by name in lower case
	others    map[string]addr.Resource // what SQL cannot read, likewise: to explain a mix-up
	diags     diag.Diagnostics
}

func newBuilder(cfg *lang.Config) *builder {
	n := len(cfg.Resources)
	b := &builder{
		g:         &Graph{resources: make([]addr.Resource, n), index: make(map[addr.Resource]int, n), edges: make([][]Edge, n)},
		relations: make(map[string]lang.Resource, n),
		others:    map[string]addr.Resource{},
	}
	type entry struct {
		text string
		addr addr.Resource
	}
	entries := make([]entry, n)
	for i, r := range cfg.Resources {
		entries[i] = entry{r.Addr.Whole().String(), r.Addr}
		if r.Addr.Block.IsRelation() {
			b.relations[strings.ToLower(r.Addr.Relation())] = r
		} else {
			b.others[strings.ToLower(r.Addr.Name)] = r.Addr
		}
	}
	slices.SortFunc(entries, func(x, y entry) int {
		return cmp.Or(cmp.Compare(x.text, y.text), x.addr.Key.Compare(y.addr.Key))
	})
	for i, e := range entries {
		b.g.resources[i], b.g.index[e.addr] = e.addr, i
	}
	return b
}

func (b *builder) add(e Edge) {
	from := b.g.index[e.From]
	b.g.edges[from] = append(b.g.edges[from], e)
}

func (b *builder) fail(r lang.Resource, at diag.Range, summary, detail string) {
	d := diag.NewError(&at, summary, detail)
	d.Address, d.Context = r.Addr.String(), r.Addr.Header()
	b.diags = append(b.diags, d)
}

// references turns the HCL references of a resource into edges.
func (b *builder) references(r lang.Resource) {
	for _, ref := range r.Refs {
		if _, ok := b.g.index[ref.To]; !ok {
			b.fail(r, ref.Range, "Reference to an undeclared resource", fmt.Sprintf("There is no %s in the configuration.", ref.To))
			continue
		}
		b.add(Edge{From: r.Addr, To: ref.To, Side: ref.Side, Attr: ref.Attr, Range: ref.Range})
	}
}

// query turns the relations that an SQL text reads into edges.
func (b *builder) query(r lang.Resource, sql lang.SQL, analyze Analyze) {
	names, err := analyze(sql.Text)
	if err != nil {
		b.diags = append(b.diags, SQLDiagnostic(r, sql, err))
		return
	}
	for _, n := range names {
		at := sql.Locate(n.Start, n.End)
		to, side, why := b.resolve(n)
		if why != "" {
			b.fail(r, at, "Unknown relation", why)
			continue
		}
		b.add(Edge{From: r.Addr, To: to, Side: side, Attr: sql.Attr, SQL: true, Range: at})
	}
}

// resolve finds the relation a name in SQL means, or says why there is none.
func (b *builder) resolve(n Name) (to addr.Resource, side, why string) {
	if n.Schema == "" {
		r, ok := b.relations[strings.ToLower(n.Relation)]
		if !ok {
			return to, "", b.unknown(n.Relation)
		}
		return r.Addr, "", ""
	}
	r, ok := b.relations[strings.ToLower(n.Schema)]
	if !ok {
		return to, "", b.unknown(n.Schema)
	}
	for _, s := range r.Kind.Sides {
		if strings.EqualFold(s, n.Relation) {
			return r.Addr, s, ""
		}
	}
	why = fmt.Sprintf("The %s %q has no side relation %q.", r.Addr.Block, r.Addr.Relation(), n.Relation)
	if near := schema.Nearest(n.Relation, r.Kind.Sides); near != "" {
		why += fmt.Sprintf(" Did you mean %q?", r.Addr.Relation()+"."+near)
	}
	return to, "", why
}

func (b *builder) unknown(name string) string {
	candidates := make([]string, 0, len(b.relations))
	var many []addr.Resource
	for _, r := range b.relations {
		candidates = append(candidates, r.Addr.Relation())
		if r.Addr.Key != (addr.Key{}) && strings.EqualFold(r.Addr.Name, name) {
			many = append(many, r.Addr)
		}
	}
	if len(many) > 0 {
		first := slices.MinFunc(many, addr.Resource.Compare)
		return fmt.Sprintf("%s has for_each or count, so SQL reads each of its instances by a name of its own: %s is %s, which can also be written ${%s}.", first.Whole(), first, first.SQL(), first)
	}
	if other, ok := b.others[strings.ToLower(name)]; ok {
		return fmt.Sprintf("There is no source, stream or view named %q. SQL cannot read %s: it is a %s.", name, other, other.Block)
	}
	why := fmt.Sprintf("There is no source, stream or view named %q.", name)
	slices.Sort(candidates)
	if near := schema.Nearest(name, candidates); near != "" {
		why += fmt.Sprintf(" Did you mean %q?", near)
	}
	return why
}

// SQLDiagnostic is the diagnostic for an error about a resource's SQL. A *SQLError with a place points
// into the text as the user wrote it.
func SQLDiagnostic(r lang.Resource, sql lang.SQL, err error) diag.Diagnostic {
	d := diag.Diagnostic{Severity: diag.Error, Address: r.Addr.String(), Context: r.Addr.Header()}
	var mistake *SQLError
	if !errors.As(err, &mistake) {
		at := sql.Locate(0, len(sql.Text))
		d.Subject, d.Summary, d.Detail = &at, "SQL could not be analyzed", err.Error()
		return d
	}
	start, end := mistake.Start, mistake.End
	if start >= end {
		start, end = 0, len(sql.Text)
	}
	at := sql.Locate(start, end)
	d.Subject, d.Summary, d.Detail = &at, mistake.Summary, mistake.Detail
	return d
}

// link fills the edges in both directions as places.
func (g *Graph) link() {
	g.needs, g.neededBy = make([][]int, len(g.resources)), make([][]int, len(g.resources))
	for from, edges := range g.edges {
		for _, e := range edges {
			g.needs[from] = append(g.needs[from], g.index[e.To])
		}
		slices.Sort(g.needs[from])
		g.needs[from] = slices.Compact(g.needs[from])
		for _, to := range g.needs[from] {
			g.neededBy[to] = append(g.neededBy[to], from)
		}
	}
}
