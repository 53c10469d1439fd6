// Package engines divides the runtime's memory between keyed data and DuckDB, and keeps an engine at hand for queries.
package engines

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/streamform/streamform/runtime/query"
)

// Shares are the parts of one budget, in bytes. What they leave is for rows on their way and for the program itself.
type Shares struct {
	Store     int64 // keyed data and Pebble
	Pipelines int64 // DuckDB: all pipelines that run at the same time, together
	Queries   int64 // DuckDB: ad-hoc queries
}

// Divide divides a budget. Both sides spill within their share: keyed data forgets what is folded, DuckDB writes to files.
func Divide(memory int64) Shares {
	return Shares{Store: memory * 3 / 8, Pipelines: memory * 9 / 32, Queries: memory * 3 / 32}
}

// HeapLimit is what of the budget is left for Go's heap, for debug.SetMemoryLimit: keyed data lies there, DuckDB's share and Pebble's
// caches do not.
func HeapLimit(memory int64) int64 {
	s := Divide(memory)
	const program = 48 << 20 // code, stacks, DuckDB's own
	return max(memory/4, memory-s.Pipelines-s.Queries-s.Store*3/8-program)
}

const (
	leastMemory = 1 << 30
	usualMemory = 2 << 30
)

// DefaultMemory is half of the machine's memory, and at least 1 GiB; 2 GiB where the system does not tell.
func DefaultMemory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return usualMemory
	}
	return halfOf(string(text))
}

// halfOf reads MemTotal, which is in KiB, of the text of /proc/meminfo.
func halfOf(meminfo string) int64 {
	for line := range strings.Lines(meminfo) {
		var kib int64
		if _, err := fmt.Sscanf(line, "MemTotal: %d kB", &kib); err == nil {
			return max(leastMemory, kib<<10/2)
		}
	}
	return usualMemory
}

// Options set up a Pool.
type Options struct {
	Memory  int64  // the whole budget, bytes
	Threads int    // of one engine; 0: all cores
	TempDir string // where DuckDB spills; must exist
}

// Pool opens engines and keeps one for the next query. Its methods may be called from any goroutine.
type Pool struct {
	options Options
	shares  Shares
	mu      sync.Mutex
	idle    *query.Engine // nil: none
	dirs    []string      // that idle may reach
	closed  bool
}

// New starts a pool without engines.
func New(o Options) *Pool { return &Pool{options: o, shares: Divide(o.Memory)} }

// Open opens an engine for one of so many pipelines that run at the same time. The caller closes it.
func (p *Pool) Open(ctx context.Context, dirs []string, together int) (*query.Engine, error) {
	return p.open(ctx, sorted(dirs), p.shares.Pipelines/int64(max(1, together)))
}

func (p *Pool) open(ctx context.Context, dirs []string, memory int64) (*query.Engine, error) {
	e, err := query.OpenEngine(ctx, query.EngineOptions{Memory: memory, Threads: p.options.Threads, TempDir: p.options.TempDir, Dirs: dirs})
	if err != nil {
		return nil, fmt.Errorf("starting the engine: %w", err)
	}
	return e, nil
}

func sorted(dirs []string) []string {
	dirs = slices.Clone(dirs)
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// Lent is an engine for one query.
type Lent struct {
	*query.Engine
	pool *Pool
	dirs []string
}

// Borrow returns an engine that reaches exactly the given folders: the one at hand, or a new one. Return or close it.
func (p *Pool) Borrow(ctx context.Context, dirs []string) (*Lent, error) {
	dirs = sorted(dirs)
	p.mu.Lock()
	e := p.idle
	if e != nil && slices.Equal(p.dirs, dirs) {
		p.idle = nil
	} else {
		e = nil
	}
	p.mu.Unlock()
	if e != nil {
		return &Lent{Engine: e, pool: p, dirs: dirs}, nil
	}
	e, err := p.open(ctx, dirs, p.shares.Queries)
	if err != nil {
		return nil, err
	}
	return &Lent{Engine: e, pool: p, dirs: dirs}, nil
}

// Return gives back an engine that is in order, after its query was closed. It takes the place of the one at hand.
func (l *Lent) Return() error {
	p := l.pool
	p.mu.Lock()
	former := l.Engine
	if !p.closed {
		former, p.idle, p.dirs = p.idle, l.Engine, l.dirs
	}
	p.mu.Unlock()
	if former == nil {
		return nil
	}
	return former.Close()
}

// Close frees the engine at hand. Engines that are given back later are closed at once.
func (p *Pool) Close() error {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	if idle == nil {
		return nil
	}
	return idle.Close()
}
