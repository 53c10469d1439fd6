package literal

import (
	"sort"
	"sync"

	"github.com/apparentlymart/go-textseg/v15/textseg"

	"github.com/streamform/streamform/lang/diag"
)

// Stretch is a run of an evaluated text and the place in a file it came from.
type Stretch struct {
	Start, End int // bytes of the text
	Source     *Source
	From, To   int  // bytes of the file
	Exact      bool // byte for byte; otherwise the whole run stands for the whole place
}

// Locate builds the function that maps offsets of a text, whose stretches follow one another, to places.
func Locate(stretches []Stretch) func(start, end int) diag.Range {
	return func(start, end int) diag.Range {
		length := stretches[len(stretches)-1].End
		start = min(max(start, 0), length)
		end = min(max(end, start), length)
		i := sort.Search(len(stretches), func(i int) bool { return stretches[i].End > start })
		if i == len(stretches) { // behind the last character
			last := stretches[i-1]
			return last.Source.rangeOf(last.To, last.To)
		}
		first := stretches[i]
		from, to := first.sub(start, min(max(end, start), first.End))
		if end > first.End {
			to = first.To
			last := stretches[sort.Search(len(stretches), func(i int) bool { return stretches[i].End >= end })]
			if _, until := last.sub(last.Start, end); last.Source == first.Source && until >= to {
				to = until
			}
		}
		return first.Source.rangeOf(from, to)
	}
}

// sub is the place of a part of the stretch.
func (s Stretch) sub(start, end int) (from, to int) {
	if !s.Exact {
		return s.From, s.To
	}
	return s.From + start - s.Start, s.From + end - s.Start
}

// Source is a file's text and where its lines begin.
type Source struct {
	Name  string
	Text  []byte
	lines func() []int // byte offset of each line
}

// NewSource is a file by the name that diagnostics use.
func NewSource(name string, text []byte) *Source {
	s := &Source{Name: name, Text: text}
	s.lines = sync.OnceValue(func() []int {
		starts := []int{0}
		for i, b := range s.Text {
			if b == '\n' {
				starts = append(starts, i+1)
			}
		}
		return starts
	})
	return s
}

// Behind is the text from an offset on.
func (s *Source) Behind(offset int) []byte { return s.Text[min(offset, len(s.Text)):] }

// Between is the text between two offsets.
func (s *Source) Between(from, to int) []byte {
	to = min(to, len(s.Text))
	return s.Text[min(from, to):to]
}

func (s *Source) rangeOf(from, to int) diag.Range {
	return diag.Range{Filename: s.Name, Start: s.pos(from), End: s.pos(to)}
}

// pos counts lines, and characters as a person sees them.
func (s *Source) pos(offset int) diag.Pos {
	offset = min(offset, len(s.Text))
	starts := s.lines()
	line := sort.SearchInts(starts, offset+1) - 1
	before := s.Text[starts[line]:offset]
	column, err := textseg.TokenCount(before, textseg.ScanGraphemeClusters)
	if err != nil {
		column = len(before)
	}
	return diag.Pos{Line: line + 1, Column: column + 1, Byte: offset}
}
