package render

// step is one line of an alignment: an element of both lists, or of one (-1 in the other).
type step struct{ before, after int }

// align pairs two lists by a longest common subsequence; what is gone stands before what is new.
func align[T any](before, after []T, equal func(a, b T) bool) []step {
	start := 0
	for start < len(before) && start < len(after) && equal(before[start], after[start]) {
		start++
	}
	end := 0
	for end < len(before)-start && end < len(after)-start && equal(before[len(before)-1-end], after[len(after)-1-end]) {
		end++
	}
	var out []step
	for i := range start {
		out = append(out, step{i, i})
	}
	for _, s := range middle(before[start:len(before)-end], after[start:len(after)-end], equal) {
		if s.before >= 0 {
			s.before += start
		}
		if s.after >= 0 {
			s.after += start
		}
		out = append(out, s)
	}
	for i := end; i > 0; i-- {
		out = append(out, step{len(before) - i, len(after) - i})
	}
	return out
}

// maxCells bounds the table of middle: beyond it, everything old is shown as gone and everything new as new.
const maxCells = 4_000_000

// middle fills the table of common lengths from the end and walks it from the start.
func middle[T any](before, after []T, equal func(a, b T) bool) []step {
	n, m := len(before), len(after)
	var out []step
	i, j := 0, 0
	if n*m <= maxCells {
		table := make([]int32, (n+1)*(m+1))
		at := func(i, j int) int { return i*(m+1) + j }
		for i := n - 1; i >= 0; i-- {
			for j := m - 1; j >= 0; j-- {
				if equal(before[i], after[j]) {
					table[at(i, j)] = table[at(i+1, j+1)] + 1
				} else {
					table[at(i, j)] = max(table[at(i+1, j)], table[at(i, j+1)])
				}
			}
		}
		for i < n && j < m {
			switch {
			case equal(before[i], after[j]):
				out = append(out, step{i, j})
				i, j = i+1, j+1
			case table[at(i+1, j)] >= table[at(i, j+1)]:
				out = append(out, step{i, -1})
				i++
			default:
				out = append(out, step{-1, j})
				j++
			}
		}
	}
	for ; i < n; i++ {
		out = append(out, step{i, -1})
	}
	for ; j < m; j++ {
		out = append(out, step{-1, j})
	}
	return out
}
