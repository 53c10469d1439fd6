package query_test

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// shrinkTime bounds the search for a smaller case.
const shrinkTime = 15 * time.Second

// shrink looks for a smaller history and fewer views that still fail in the same manner.
func (l *lab) shrink(h history, views []view, f *failure) (history, []view, *failure) {
	end := time.Now().Add(shrinkTime)
	try := func(h history, v []view) bool {
		if time.Now().After(end) {
			return false
		}
		l.clear() // what a view reads that is left out must not be there
		next := l.replay(h, v)
		if next == nil || next.both || sort(next) != sort(f) {
			return false
		}
		f = next
		return true
	}
	if len(f.views) > 0 {
		if fewer := ancestors(views, f.views...); try(h, fewer) {
			views = fewer
		}
	}
	for half := len(views) / 2; half > 0; half = len(views) / 2 {
		if try(h, views[:half]) {
			views = views[:half]
		} else {
			break
		}
	}
	for i := len(views) - 1; i >= 0; i-- {
		if fewer := slices.Delete(slices.Clone(views), i, i+1); len(fewer) > 0 && try(h, fewer) {
			views = fewer
		}
	}
	for again := true; again; {
		again = false
		for _, smaller := range reductions(h) {
			if try(smaller, views) {
				h, again = smaller, true
				break
			}
		}
	}
	return h, views, f
}

// sort is what a failure is about, so that shrinking does not slip into another.
func sort(f *failure) string {
	word, _, _ := strings.Cut(f.what, ":")
	return word
}

// reductions are histories that lack something: the biggest losses first.
func reductions(h history) []history {
	var out []history
	for e := range h.epochs {
		less := history{columns: h.columns, epochs: slices.Delete(slices.Clone(h.epochs), e, e+1)}
		out = append(out, less)
	}
	for e, ep := range h.epochs {
		for f, rows := range ep.Files {
			for size := len(rows); size >= 1; size /= 2 {
				for at := 0; at+size <= len(rows); at += size {
					out = append(out, replaced(h, e, f, slices.Delete(slices.Clone(rows), at, at+size)))
				}
			}
		}
		if ep.Restart {
			less := replaced(h, e, -1, nil)
			less.epochs[e].Restart = false
			out = append(out, less)
		}
	}
	return out
}

// replaced is the history with one file's rows replaced; no rows: without the file.
func replaced(h history, e, f int, rows []string) history {
	out := history{columns: h.columns, epochs: slices.Clone(h.epochs)}
	out.epochs[e].Files = slices.Clone(out.epochs[e].Files)
	switch {
	case f < 0:
	case len(rows) == 0:
		out.epochs[e].Files = slices.Delete(out.epochs[e].Files, f, f+1)
	default:
		out.epochs[e].Files[f] = rows
	}
	return out
}

// regressionText is a case as regressions_test.go writes it.
func regressionText(h history, views []view, f *failure) string {
	var b strings.Builder
	types := make([]string, len(h.columns))
	for i, c := range h.columns {
		types[i] = fmt.Sprintf("{Name: %q, Type: %q}", c.Name, c.Type)
	}
	fmt.Fprintf(&b, "epoch %d: %s: %s\n{name: \"…\", columns: batch.Schema{%s},\n\tviews: []view{", f.epoch, f.views, f.what, strings.Join(types, ", "))
	for _, v := range views {
		fmt.Fprintf(&b, "\n\t\t{%q, %s},", v.name, quoted(v.sql))
	}
	b.WriteString("\n\t},\n\tepochs: [][]string{")
	for _, e := range h.epochs {
		b.WriteString("\n\t\t{")
		for _, r := range slices.Concat(e.Files...) {
			b.WriteString(quoted(r) + ", ")
		}
		b.WriteString("},")
	}
	b.WriteString("\n\t}},\n")
	return b.String()
}

func quoted(s string) string {
	if strings.Contains(s, "`") {
		return fmt.Sprintf("%q", s)
	}
	return "`" + s + "`"
}
