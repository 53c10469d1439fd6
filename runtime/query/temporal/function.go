// Package temporal knows when the clock lets rows into a filter and out of it, and keeps the rows that wait for it in order.
package temporal

import (
	"math"
	"time"
)

// A moment is microseconds since 1970-01-01 UTC. Dates are the moment they begin.
const (
	second = int64(time.Second / time.Microsecond)
	day    = 24 * 60 * 60 * second
)

// Never is a moment that does not come.
const Never = int64(math.MaxInt64)

// farthest bounds the moments that are searched: the year 142,000.
const farthest = int64(1) << 62

// Step is one part of a function of the clock. Exactly one of its fields is set.
type Step struct {
	Shift  int64  // microseconds added
	Months int64  // calendar months added; the day is cut to the month's last
	Trunc  string // as date_trunc does: second, minute, hour, day, week, month, quarter, year
}

// Function is a function of the clock as SQL writes it in UTC, such as date_trunc('day', now() - INTERVAL 1 MONTH): its
// steps, first to last. Its value is a moment, too.
type Function []Step

// CanTrunc reports whether Step.Trunc may be this unit.
func CanTrunc(unit string) bool { return truncBound(unit) > 0 }

// truncBound is at least how far date_trunc goes back; 0 for an unknown unit.
func truncBound(unit string) int64 {
	switch unit {
	case "second":
		return second
	case "minute":
		return 60 * second
	case "hour":
		return 3600 * second
	case "day":
		return day
	case "week":
		return 7 * day
	case "month":
		return 31 * day
	case "quarter":
		return 92 * day
	case "year":
		return 366 * day
	}
	return 0
}

// At is the function's value at a moment.
func (f Function) At(now int64) int64 {
	for _, s := range f {
		now = s.at(now)
	}
	return now
}

func (s Step) at(m int64) int64 {
	switch {
	case s.Months != 0:
		return addMonths(m, s.Months)
	case s.Trunc != "":
		return truncated(m, s.Trunc)
	}
	return m + s.Shift
}

func floor(m, unit int64) int64 {
	r := m % unit
	if r < 0 {
		r += unit
	}
	return m - r
}

// civil splits a moment into year, month, day of the month and microseconds of the day.
func civil(m int64) (year int, month time.Month, dom int, rest int64) {
	rest = m - floor(m, day)
	year, month, dom = time.Unix((m-rest)/second, 0).UTC().Date()
	return year, month, dom, rest
}

func moment(year int, month time.Month, dom int) int64 {
	return time.Date(year, month, dom, 0, 0, 0, 0, time.UTC).Unix() * second
}

func addMonths(m, months int64) int64 {
	year, month, dom, rest := civil(m)
	last := time.Date(year, month+time.Month(months)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return moment(year, month+time.Month(months), min(dom, last)) + rest
}

func truncated(m int64, unit string) int64 {
	switch unit {
	case "week": // from Monday; 1970-01-01 was a Thursday
		return floor(m+3*day, 7*day) - 3*day
	case "month":
		year, month, _, _ := civil(m)
		return moment(year, month, 1)
	case "quarter":
		year, month, _, _ := civil(m)
		return moment(year, month-(month-1)%3, 1)
	case "year":
		year, _, _, _ := civil(m)
		return moment(year, 1, 1)
	}
	return floor(m, truncBound(unit))
}

// sway bounds how far the function's difference over any time is from that time.
func (f Function) sway() int64 {
	sum := int64(0)
	for _, s := range f {
		switch {
		case s.Months != 0:
			sum += 8 * day // a month's end is cut by at most 3 days, lengths of as many months differ by 3, and the time of the day
		case s.Trunc != "":
			sum += truncBound(s.Trunc)
		}
	}
	return sum
}

// rises reports whether the function never falls. Adding months may: now() - INTERVAL 1 MONTH is 28 February 12:00 on 28 March at 12:00, and
// 28 February 00:00 at the midnight that follows. The days rise all the same, so that truncating to days mends it.
func (f Function) rises() bool {
	rises, daysRise, whole := true, true, false // whole: the value is always the begin of a day
	for _, s := range f {
		switch {
		case s.Months != 0:
			rises = rises && whole
		case s.Trunc != "" && truncBound(s.Trunc) >= day:
			rises, whole = daysRise, true
		case s.Trunc != "":
		case s.Shift%day != 0:
			daysRise, whole = rises, false
		}
	}
	return rises
}

// Reach is the first moment after now at which the function is at least target; Never when there is none in sight. It is below target at now.
func (f Function) Reach(now, target int64) int64 {
	sway := f.sway()
	if target > farthest {
		return Never
	}
	for from := now; from < farthest; {
		if gap := target - f.At(from) - sway; gap > day { // it does not rise by more than time and sway
			from += gap
			continue
		}
		end := f.piece(from)
		if at := first(from, end, func(m int64) bool { return f.At(m) >= target }); at < end {
			return at
		}
		if end == Never {
			return Never
		}
		from = end
	}
	return Never
}

// Fall is the first moment after now at which the function is below target; Never when there is none. It is at least target at now.
func (f Function) Fall(now, target int64) int64 {
	if f.rises() {
		return Never
	}
	for from := f.piece(now); from <= now+f.sway(); from = f.piece(from) { // after that time it has risen above its value now
		if f.At(from) < target {
			return from
		}
	}
	return Never
}

// piece is where the stretch that m lies in ends: within a stretch the function does not fall. Never when it falls nowhere.
func (f Function) piece(m int64) int64 {
	if f.rises() {
		return Never
	}
	end := m + 2*366*day
	for i, s := range f {
		if s.Months == 0 {
			continue
		}
		before := f[:i]
		next := floor(before.At(m), day) + day
		end = first(m, end, func(n int64) bool { return before.At(n) >= next })
	}
	return end
}

// first is the first moment from low on, and before high, for which ok holds; high when there is none. Once it holds, it holds up to high.
func first(low, high int64, ok func(int64) bool) int64 {
	if high == Never {
		step := second
		for high = low; !ok(high); {
			low = high + 1
			if high += step; high > farthest {
				return Never
			}
			step *= 2
		}
	}
	for low < high {
		if mid := low + (high-low)/2; ok(mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}
