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
	used := s.used.Load()
	if used <= budget || used < s.shrunk.Load() {
		return
	}
	folded := s.folded.Load()
	for _, c := range s.coldest() {
		if s.used.Load() <= budget/8*7 {
			break
		}
		c.t.mu.Lock()
		if c.t.part(c.p.from) == c.p && c.t.frozen == nil { // not split or dropped meanwhile
			c.t.evict(c.p, folded)
		}
		c.t.mu.Unlock()
	}
	s.shrunk.Store(0)
	if left := s.used.Load(); left > budget/8*7 {
		// What is left has to be folded first: do not look again before that, or before much was added.
		s.shrunk.Store(left + budget/16)
		s.waiting.wakeForMemory(&s.options)
	}
}

func (s *Store) coldest() []candidate {
	var all []candidate
	for _, t := range s.present() {
		t.mu.Lock()
		t.each(func(p *partition) {
			if p.used > 0 {
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
