package moving

import (
	"slices"

	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// instances are the moves of single instances that a configuration asks for, given what is recorded: those that blocks say, and
// those that follow from a count that was added or removed.
func instances(cfg *lang.Config, d *state.Document) []lang.Move {
	if d == nil {
		return nil
	}
	known := recorded(d)
	out := make([]lang.Move, 0, len(cfg.Moved))
	said := map[addr.Resource]bool{}
	for _, m := range cfg.Moved {
		if !whole(m) {
			said[m.From], known.named[m.To] = true, true
			out = append(out, m)
		}
	}
	// Once for each link of a chain of moves: what the first brings about is where the second may begin.
	for range cfg.Moved {
		before := len(out)
		for _, m := range cfg.Moved {
			if !whole(m) {
				continue
			}
			for _, k := range known.keys(m) {
				one := lang.Move{From: m.From.Instance(k), To: m.To.Instance(k), Range: m.Range}
				if !said[one.From] {
					said[one.From], known.named[one.To] = true, true
					out = append(out, one)
				}
			}
		}
		if len(out) == before {
			break
		}
	}
	return append(out, implied(cfg, known, said)...)
}

// whole reports that a move is about all instances of a block.
func whole(m lang.Move) bool { return m.From.Key == addr.Key{} && m.To.Key == addr.Key{} }

// record is what the recorded state has, and what it names.
type record struct {
	has   map[addr.Resource]bool
	named map[addr.Resource]bool // recorded, a dependency, or where a move leads to
}

func recorded(d *state.Document) record {
	r := record{has: map[addr.Resource]bool{}, named: map[addr.Resource]bool{}}
	for _, of := range d.Resources {
		r.has[of.Addr], r.named[of.Addr] = true, true
		for _, in := range of.Dependencies {
			r.named[in] = true
		}
	}
	return r
}

// keys are those of the instances that a move of all is about: of the former address, and, where it was made before, of the new one.
func (r record) keys(m lang.Move) (out []addr.Key) {
	for a := range r.named {
		if a.Whole() == m.From || a.Whole() == m.To && r.has[a] {
			out = append(out, a.Key)
		}
	}
	slices.SortFunc(out, addr.Key.Compare)
	return slices.Compact(out)
}

// implied are the moves between x and x[0], where the one is declared and the other is named in the record. Moves that are said come first.
func implied(cfg *lang.Config, known record, said map[addr.Resource]bool) (out []lang.Move) {
	taken := map[addr.Resource]bool{}
	for _, m := range cfg.Moved {
		taken[m.To] = true
	}
	for _, r := range cfg.Resources {
		var from addr.Resource
		switch mode := cfg.Repeated[r.Addr.Whole()]; {
		case mode == addr.Once:
			from = r.Addr.Instance(addr.NumberKey(0))
		case mode == addr.Count && r.Addr.Key == addr.NumberKey(0):
			from = r.Addr.Whole()
		default:
			continue
		}
		if known.named[from] && !said[from] && !taken[r.Addr] && !(known.has[from] && known.has[r.Addr]) {
			out = append(out, lang.Move{From: from, To: r.Addr, Range: r.Range})
		}
	}
	return out
}
