package temporal

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func at(text string) int64 {
	m, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		panic(err)
	}
	return m.UnixMicro()
}

func TestAt(t *testing.T) {
	for _, c := range []struct {
		f         Function
		now, want string
	}{
		{Function{{Shift: -7 * day}}, "2024-03-05 10:00:00", "2024-02-27 10:00:00"},
		{Function{{Months: -1}}, "2024-03-31 10:00:00", "2024-02-29 10:00:00"},
		{Function{{Months: -13}}, "2024-03-31 10:00:00", "2023-02-28 10:00:00"},
		{Function{{Months: 1}, {Shift: day}}, "2023-01-31 10:00:00", "2023-03-01 10:00:00"},
		{Function{{Trunc: "week"}}, "2026-11-29 16:00:00", "2026-11-23 00:00:00"},
		{Function{{Trunc: "week"}}, "1969-12-28 16:00:00", "1969-12-22 00:00:00"},
		{Function{{Trunc: "quarter"}}, "2026-06-30 16:00:00", "2026-04-01 00:00:00"},
		{Function{{Trunc: "year"}}, "1960-06-30 16:00:00", "1960-01-01 00:00:00"},
		{Function{{Trunc: "hour"}}, "1960-06-30 16:59:59", "1960-06-30 16:00:00"},
	} {
		require.Equal(t, c.want, time.UnixMicro(c.f.At(at(c.now))).UTC().Format(time.DateTime), "%v of %s", c.f, c.now)
	}
}

func TestRises(t *testing.T) {
	for _, c := range []struct {
		f    Function
		want bool
	}{
		{nil, true},
		{Function{{Shift: -7 * day}, {Trunc: "hour"}}, true},
		{Function{{Months: -1}}, false},
		{Function{{Trunc: "day"}, {Months: -1}}, true},
		{Function{{Months: -1}, {Trunc: "day"}}, true},
		{Function{{Months: -1}, {Shift: day}, {Trunc: "month"}}, true},
		{Function{{Months: -1}, {Shift: second}, {Trunc: "day"}}, false},
		{Function{{Trunc: "day"}, {Shift: second}, {Months: 1}}, false},
		{Function{{Months: -1}, {Trunc: "hour"}}, false},
	} {
		require.Equal(t, c.want, c.f.rises(), "%v", c.f)
	}
}

func randomFunction(rng *rand.Rand) Function {
	var f Function
	for range 1 + rng.IntN(3) {
		switch rng.IntN(5) {
		case 0:
			f = append(f, Step{Shift: (rng.Int64N(7) - 3) * day})
		case 1:
			f = append(f, Step{Shift: (rng.Int64N(49) - 24) * 3600 * second})
		case 2:
			f = append(f, Step{Trunc: []string{"second", "minute", "hour", "day", "week", "month", "quarter", "year"}[rng.IntN(8)]})
		default:
			f = append(f, Step{Months: []int64{-14, -6, -2, -1, 1, 3}[rng.IntN(6)]})
		}
	}
	return f
}

// moments are the clock values at which a function may turn: every half hour, and right before and after each.
func moments(from int64, days int64) []int64 {
	var out []int64
	for m := floor(from, 1800*second) - 1800*second; m < from+days*day; m += 1800 * second {
		out = append(out, m-1, m, m+1)
	}
	return out
}

// Reach and Fall are the first moments at which a look at every moment finds the same; in between nothing changes.
func TestNextMoments(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	for range 120 {
		f := randomFunction(rng)
		now := at("2023-12-01 00:00:00") + rng.Int64N(150)*day + []int64{0, 1, -1, 12 * 3600 * second, rng.Int64N(day)}[rng.IntN(5)]
		value := f.At(now)
		low := value
		above, below := value+1+[]int64{0, rng.Int64N(day), rng.Int64N(20 * day)}[rng.IntN(3)], value-[]int64{0, rng.Int64N(day)}[rng.IntN(2)]
		reach, fall := f.Reach(now, above), f.Fall(now, below)
		require.Greater(t, reach, now)
		require.Greater(t, fall, now)
		if reach != Never {
			require.GreaterOrEqual(t, f.At(reach), above)
			require.Less(t, f.At(reach-1), above)
		}
		if fall != Never {
			require.Less(t, f.At(fall), below)
			require.GreaterOrEqual(t, f.At(fall-1), below)
		}
		for _, m := range moments(now, 40) {
			if m <= now {
				continue
			}
			v := f.At(m)
			low = min(low, v)
			if m < reach {
				require.Less(t, v, above, "%v reaches %d before %d", f, above, reach)
			}
			if m < fall {
				require.GreaterOrEqual(t, v, below, "%v falls below %d before %d", f, below, fall)
			}
		}
		if f.rises() {
			require.Equal(t, value, low, "%v", f)
		}
		settled := Filter{{Sign: ">=", Function: f}}.Bounds(now, []int64{value}).Settled[0]
		require.LessOrEqual(t, settled, low, "%v", f)
	}
}

func TestFunctionsRiseInTheEnd(t *testing.T) {
	f := Function{{Months: -1}}
	require.Equal(t, at("2026-03-28 12:00:00"), f.Reach(at("2026-03-01 00:00:00"), at("2026-02-28 12:00:00")))
	require.Equal(t, at("2026-03-29 00:00:00"), f.Fall(at("2026-03-28 12:00:00"), at("2026-02-28 12:00:00")))
	require.Equal(t, Never, f.Fall(at("2026-03-31 12:00:00"), at("2026-02-28 12:00:00")))
	require.Equal(t, Never, f.Reach(0, Never))
	for _, years := range []int64{1, 100, 10_000} {
		target := at("2026-01-01 00:00:00") + years*365*day
		require.Equal(t, target, Function{{Shift: -day}, {Shift: day}}.Reach(at("2026-01-01 00:00:00"), target), fmt.Sprint(years))
	}
}
