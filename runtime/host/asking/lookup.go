package asking

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/host/opening"
	"github.com/streamform/streamform/runtime/query"
)

// programs are what was compiled for ad-hoc queries, by what was asked for.
type programs struct {
	mu    sync.Mutex
	known map[string]*query.Program
}

// mostPrograms bounds what is kept.
const mostPrograms = 256

// known compiles the SQL of a live stream or view, unless that was done before.
func (k *Asker) known(ctx context.Context, n *catalog.Network, a addr.Resource) (*query.Program, error) {
	q, err := opening.Asked(n, a, live)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("compiling %s: %w", a, err)
	}
	k.programs.mu.Lock()
	program := k.programs.known[string(text)]
	k.programs.mu.Unlock()
	if program != nil {
		return program, nil
	}
	if program, err = k.open.Compile(ctx, n, a, live); err != nil {
		return nil, err
	}
	k.programs.mu.Lock()
	defer k.programs.mu.Unlock()
	if len(k.programs.known) >= mostPrograms || k.programs.known == nil {
		k.programs.known = map[string]*query.Program{}
	}
	k.programs.known[string(text)] = program
	return program, nil
}

// narrow lets the query read no more of its views than the keys it can concern, where these can be told.
func (q *reader) narrow(ctx context.Context) error {
	var views []query.Shown
	for _, v := range q.reading.Views {
		views = append(views, query.Shown{Name: v.Relation, Program: v.Program})
	}
	keys, err := q.asker.open.Compiler().Lookups(ctx, q.reading.SQL, q.others(), views)
	if err != nil {
		return fmt.Errorf("finding the keys of a query: %w", err)
	}
	for i, v := range q.reading.Views {
		found := keys[strings.ToLower(v.Relation)]
		if len(found) == 0 || q.readByStream(v.Relation) {
			continue
		}
		q.reading.Views[i].Memory = func(operator string) query.Memory {
			if chosen, ok := found[operator]; ok {
				return query.Chosen{Memory: v.Memory(operator), Keys: chosen}
			}
			return v.Memory(operator)
		}
	}
	return nil
}

// readByStream reports whether a view is read by a stream of the query, too, of which the query's conditions say nothing.
func (q *reader) readByStream(view string) bool {
	for _, s := range q.reading.Streams {
		if _, ok := s.Program.LeafColumns[strings.ToLower(view)]; ok {
			return true
		}
	}
	return false
}

// others are the relations of the query that are not views.
func (q *reader) others() []query.Relation {
	var out []query.Relation
	for _, s := range q.reading.Sources {
		out = append(out, query.Relation{Name: s.Relation, Columns: query.Columns(s.Scan)})
	}
	for _, s := range q.reading.Streams {
		out = append(out, query.Relation{Name: s.Relation, Columns: s.Program.Columns})
	}
	for _, s := range q.reading.Sides {
		_, side, _ := strings.Cut(s.Relation, ".")
		out = append(out, query.Relation{Name: s.Relation, Columns: query.SideColumns(side)})
	}
	for _, t := range q.reading.Tables {
		out = append(out, query.Relation{Name: t.Relation, Columns: t.Columns})
	}
	return out
}
