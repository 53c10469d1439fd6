package temporal

import "math"

// Condition compares one of a row's values with a function of the clock.
type Condition struct {
	Value    int    // which of the row's values
	Sign     string // how the value must compare with the function: <, <=, > or >=
	Function Function
}

// Filter is a conjunction of conditions. A row has as many values as they name; a row with a NULL among them never passes, and is never asked about.
type Filter []Condition

// Bounds are what the conditions compare with at one moment.
type Bounds struct {
	// Now has one bound for each condition: below it, a value that must be greater fails, and one that must be less passes.
	Now []int64
	// Settled are bounds that Now does not fall below any more. They rise with the clock.
	Settled []int64
}

// Bounds are the bounds at a moment, at which the functions have these values.
func (f Filter) Bounds(clock int64, values []int64) Bounds {
	out := Bounds{Now: make([]int64, len(f)), Settled: make([]int64, len(f))}
	for i, c := range f {
		out.Now[i] = values[i] + c.past()
		out.Settled[i] = out.Now[i]
		if !c.Function.rises() {
			out.Settled[i] = clock + c.Function.At(0) - c.Function.sway() // over any time it differs from that time by the sway at most
		}
	}
	return out
}

// past is how far the bound is above the function: where a value equal to it is below its bound.
func (c Condition) past() int64 {
	if c.Sign == ">" || c.Sign == "<=" {
		return 1
	}
	return 0
}

// leaves tells conditions that end as the clock goes on from those that begin.
func (c Condition) leaves() bool { return c.Sign == ">" || c.Sign == ">=" }

// Passes reports whether a row of these values is in.
func (f Filter) Passes(values []int64, b Bounds) bool {
	for i, c := range f {
		if (values[c.Value] >= b.Now[i]) != c.leaves() {
			return false
		}
	}
	return true
}

// Waits reports whether the row must be looked at again because of its i-th value: the value may still cross a bound, and what
// the other conditions have settled does not keep the row out for ever.
func (f Filter) Waits(i int, values []int64, b Bounds) bool {
	waits := false
	for j, c := range f {
		switch v := values[c.Value]; {
		case v == math.MaxInt64: // infinity: the clock does not get there
			if !c.leaves() {
				return false
			}
		case v < b.Settled[j]:
			if c.leaves() {
				return false
			}
		case c.Value == i:
			waits = true
		}
	}
	return waits
}

// Ends reports a condition that a value never meets again once it fails.
func (c Condition) Ends() bool { return c.leaves() && c.Function.rises() }

// Begins reports a condition that a value always meets once it does.
func (c Condition) Begins() bool { return !c.leaves() && c.Function.rises() }

// Values is how many values of a row the conditions read.
func (f Filter) Values() int {
	n := 0
	for _, c := range f {
		n = max(n, c.Value+1)
	}
	return n
}
