package store

import (
	"cmp"
	"slices"
)

// candidate is a partition that could be evicted.
type candidate struct {
	t       *keyed
	p       *partition
	touched uint64
}

// shrink evicts the partitions unused for longest until the keyed data is within
// seven eighths of its budget, and asks for a fold when too little could be evicted.
// It needs no lock.
func (s *Store) shrink() {
	budget := s.options.keyedBudget()
	if used := s.used.Load(); used <= budget || used < s.shrunk.Load() {
		return
	}
	s.evict(s.clock.Load())
	s.shrunk.Store(0)
	if left := s.used.Load(); left > budget/8*7 {
		// What is left has to be folded first: do not look again before that, or before much was added.
		s.shrunk.Store(left + budget/16)
		s.waiting.wakeForMemory(&s.options)
	}
}

// makeRoom evicts before something is read. What was read since the last commit stays, for the commit that follows
// is likely to write the same keys and would have to read them again; unless memory is far beyond its budget.
func (s *Store) makeRoom() {
	budget := s.options.keyedBudget()
	switch used := s.used.Load(); {
	case used > budget/4*5:
		s.shrink()
	case used > budget/8*7:
		s.evict(s.committed.Load())
	}
}

// evict evicts partitions last used at a time of the clock, or before, the coldest first, until the keyed data is within
// seven eighths of its budget.
func (s *Store) evict(until uint64) {
	folded := s.folded.Load()
	for _, c := range s.coldest(until) {
		if s.used.Load() <= s.options.keyedBudget()/8*7 {
			break
		}
		c.t.mu.Lock()
		if c.t.part(c.p.from) == c.p && c.t.frozen == nil { // not split or dropped meanwhile
			c.t.evict(c.p, folded)
		}
		c.t.mu.Unlock()
	}
}

func (s *Store) coldest(until uint64) []candidate {
	var all []candidate
	for _, t := range s.present() {
		t.mu.Lock()
		t.each(func(p *partition) {
			if p.used > 0 && p.touched <= until {
				all = append(all, candidate{t, p, p.touched})
			}
		})
		t.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(a.touched, b.touched) })
	return all
}

// present are the tables at this moment.
func (s *Store) present() []*keyed {
	s.tablesMu.RLock()
	defer s.tablesMu.RUnlock()
	all := make([]*keyed, 0, len(s.tables))
	for _, t := range s.tables {
		all = append(all, t)
	}
	return all
}
