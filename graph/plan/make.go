package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/graph/plan/holding"
	"github.com/streamform/streamform/graph/plan/moving"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/state"
)

// FormatVersion is that of Plan in a saved plan; another one is refused.
const FormatVersion = "1"

// Modes of a plan.
const (
	Normal  = "normal"
	Destroy = "destroy"
)

// Extent is how much a source holds, or how much of it was read.
type Extent struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
	Rows  int64 `json:"rows,omitempty"` // 0: unknown
}

// Plus adds up two extents. The rows of a sum with an unknown part are unknown: a number would be read as all of them.
func (e Extent) Plus(o Extent) Extent {
	sum := Extent{Files: e.Files + o.Files, Bytes: e.Bytes + o.Bytes, Rows: e.Rows + o.Rows}
	if e.Files > 0 && e.Rows == 0 || o.Files > 0 && o.Rows == 0 {
		sum.Rows = 0
	}
	return sum
}

// Minus is what is left of an extent without a part of it; rows where both know theirs.
func (e Extent) Minus(part Extent) Extent {
	left := Extent{Files: max(0, e.Files-part.Files), Bytes: max(0, e.Bytes-part.Bytes)}
	if e.Rows > 0 && (part.Rows > 0 || part == Extent{}) {
		left.Rows = max(0, e.Rows-part.Rows)
	}
	return left
}

// Facts are what the runtime says about itself.
type Facts struct {
	RuntimeID string
	// Values are the attributes the runtime was last given, of each resource it has.
	Values map[addr.Resource]json.RawMessage
	// Observed is what happened to the real objects behind sources and sinks since the runtime dealt with them.
	Observed []Observation
	// Identities tell the real objects behind sources and sinks from others in their places. One that is not there has none.
	Identities map[addr.Resource]Identity
	// Generations holds each source, stream, view and sink that the runtime really
	// has, and the generation that serves (0: none yet). What is missing here is created again.
	Generations map[addr.Resource]int64
	// Sources says what each source of the configuration holds now, from its start.
	Sources map[addr.Resource]Extent
	// Held says how much of the rows of a view is held.
	Held map[addr.Resource]Extent
	// Kept says how much of what a source has read is held.
	Kept map[addr.Resource]holding.Kept
	// Delivered counts the rows that each stream has emitted and each sink was given, as far as known: 0 means none.
	Delivered map[addr.Resource]int64
	// Lost says of which sources something that was read cannot be read again.
	Lost map[addr.Resource]Loss
	// Occupied says why sinks that begin where they are declared would be refused.
	Occupied map[addr.Resource]Refusal
	// Begun says of the newest generation of what relations and sinks the runtime has how much of each source it was computed from.
	Begun map[addr.Resource]Begun
	// Rates are those of past epochs, of sources (how fast they were read) and of relations.
	Rates map[addr.Resource]Rate
}

// Begun is how far a generation has come.
type Begun struct {
	Generation int64
	Read       map[addr.Resource]Extent // by source
}

// still reports that the plan makes nothing: everything goes, or only the record is looked at.
func (in Input) still() bool { return in.Mode == Destroy || in.Mode == RefreshOnly }

// Input is what Make compares.
type Input struct {
	Config     *lang.Config
	ConfigHash string // empty: lang.Hash of Config
	Graph      *graph.Graph
	Relations  map[addr.Resource]state.Relation // from bind
	IDs        map[addr.Resource]string         // from bind
	Evolutions map[addr.Resource]Evolution      // from bind
	Inferred   map[addr.Resource]Extent         // sources whose columns were inferred now, and what that read
	State      *state.Document                  // nil: nothing recorded; moves are made already
	Moves      moving.Moves                     // what was done to State
	Facts      *Facts                           // nil: -refresh=false
	Mode       string                           // Normal, Destroy or RefreshOnly; empty is Normal
	Targets    []addr.Resource                  // -target
	Replace    []addr.Resource                  // -replace
	Exclude    []addr.Resource                  // -exclude; not with Targets
	Allow      []addr.Resource                  // -allow: what policies deny of these is let through
	Lineage    string                           // used when there is no state; empty: a new one
	Version    string                           // streamform's
	// Adapts says why a sink of a kind cannot go on when the view it follows gets other columns, as a clause; empty: it can. Nil: no kind can.
	Adapts func(kind string, was, is batch.Schema) string
}

// maker holds what is known while one plan is made.
type maker struct {
	in        Input
	lineage   string
	config    map[addr.Resource]lang.Resource
	prior     map[addr.Resource]*state.Resource
	requested map[addr.Resource]bool   // by -replace
	recreated map[addr.Resource]bool   // since their outside object cannot be altered
	triggered map[addr.Resource]string // by replace_triggered_by: the reason
	together  map[addr.Resource]string // see gather: the reason
	selected  map[addr.Resource]bool   // nil: everything
	excluded  map[addr.Resource]bool   // by -exclude, and what depends on it
	pipelines map[addr.Resource]string
	order     []addr.Resource
	changes   map[addr.Resource]*Change
	sources   map[addr.Resource][]addr.Resource // see readSources
	shares    map[addr.Resource]*Sharing        // by the view that is computed
	looks     int                               // for shares
	awaited   bool                              // something may not be read again, unless it need not be
	diags     diag.Diagnostics
}

// Make answers what apply would do. A plan is returned along with errors, marked Errored, so that it can be shown.
// It depends on nothing but its input, apart from the lineage of a state that does not exist yet.
func Make(in Input) (*Plan, diag.Diagnostics) {
	m := newMaker(in)
	m.checkNames()
	m.selectTargets()
	m.assignPipelines()
	for {
		m.changes, m.sources = map[addr.Resource]*Change{}, map[addr.Resource][]addr.Resource{}
		before := m.diags
		if !in.still() {
			for _, a := range m.order {
				if m.wanted(a) {
					m.changes[a] = m.compare(m.config[a])
				}
			}
		}
		if !m.widen() && !m.trigger() && !m.share() && !m.gather() {
			break
		}
		m.diags = before // said again for the wider selection
	}
	drifts := m.drift()
	if in.Mode == RefreshOnly {
		m.standing()
	} else {
		m.deletes()
		m.hint()
		m.restore(drifts)
		m.foreign(drifts)
		m.strand()
	}
	return m.finish(drifts), m.diags
}

func newMaker(in Input) *maker {
	m := &maker{in: in, lineage: in.Lineage, config: map[addr.Resource]lang.Resource{},
		prior: map[addr.Resource]*state.Resource{}, requested: map[addr.Resource]bool{}, recreated: map[addr.Resource]bool{},
		triggered: map[addr.Resource]string{}, together: map[addr.Resource]string{}}
	m.in.Facts = turnedFacts(in.Moves, in.Facts)
	for _, r := range in.Config.Resources {
		m.config[r.Addr] = r
	}
	if in.State != nil {
		m.lineage = in.State.Lineage
		for i := range in.State.Resources {
			m.prior[in.State.Resources[i].Addr] = &in.State.Resources[i]
		}
	}
	if m.lineage == "" {
		m.lineage = state.NewLineage()
	}
	for _, a := range in.Replace {
		m.requested[a] = true
	}
	if !in.still() {
		m.order = in.Graph.Order()
	}
	return m
}

func (m *maker) serial() int64 {
	if m.in.State == nil {
		return 0
	}
	return m.in.State.Serial
}

// assignPipelines keeps recorded IDs. A new one reads as the source's name, and differs from any
// that was ever given: sinks remember the IDs of what they were sent.
func (m *maker) assignPipelines() {
	m.pipelines = map[addr.Resource]string{}
	if m.in.still() {
		return
	}
	recorded := func(a addr.Resource) string {
		if p := m.prior[a]; p != nil {
			return p.Pipeline
		}
		return ""
	}
	fresh := func(first addr.Resource) string {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s", m.lineage, m.serial(), first))
		return first.Relation() + "-" + hex.EncodeToString(sum[:4])
	}
	for _, p := range m.in.Graph.Pipelines(recorded, fresh) {
		for _, a := range p.Members {
			m.pipelines[a] = p.ID
		}
	}
}

// finish puts the plan together.
func (m *maker) finish(drifts []Drift) *Plan {
	m.goOn()
	m.rebuild()
	m.judge()
	p := &Plan{
		FormatVersion: FormatVersion, StreamformVersion: m.in.Version, Mode: cmp.Or(m.in.Mode, Normal),
		ConfigHash: cmp.Or(m.in.ConfigHash, lang.Hash(m.in.Config)), Lineage: m.lineage, Serial: m.serial(),
		Changes: make([]Change, 0, len(m.changes)), Order: []addr.Resource{}, Targeted: m.selected != nil,
	}
	if m.in.Facts != nil {
		p.RuntimeID, p.Sources = m.in.Facts.RuntimeID, m.in.Facts.Sources
	}
	p.Drift, p.Allowed, p.Checks = drifts, m.in.Allow, m.checks()
	if m.in.Mode == RefreshOnly {
		p.Accept = m.accept(drifts)
	}
	for _, c := range m.changes {
		p.Changes = append(p.Changes, *c)
	}
	sortByAddress(p.Changes, func(c Change) addr.Resource { return c.Addr })
	p.Lock = m.lock(p.Changes)
	for _, a := range m.order {
		if c := m.changes[a]; c != nil && c.Action != NoOp {
			p.Order = append(p.Order, a)
		}
	}
	p.DeleteFirst, p.DeleteLast = m.deleteOrder()
	p.Outputs = m.outputs()
	m.variables(p)
	p.Errored = m.diags.Failed()
	return p
}

// sortByAddress sorts without building each address's text again for every comparison.
func sortByAddress[T any](list []T, address func(T) addr.Resource) {
	texts := make(map[addr.Resource]string, len(list))
	for _, x := range list {
		texts[address(x)] = address(x).String()
	}
	slices.SortFunc(list, func(x, y T) int { return cmp.Compare(texts[address(x)], texts[address(y)]) })
}
