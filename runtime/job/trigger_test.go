package job

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNextTick(t *testing.T) {
	at := func(seconds float64) time.Time {
		return time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
	}
	cases := map[string]struct {
		trigger      Trigger
		began, ended float64
		more         bool
		want         float64
	}{
		"R3: an epoch that overruns is followed at once":       {Trigger{Interval: 10 * time.Second}, 0, 23, true, 23},
		"R3: then the next tick":                               {Trigger{Interval: 10 * time.Second}, 23, 25, true, 30},
		"ends on a tick":                                       {Trigger{Interval: 10 * time.Second}, 23, 30, true, 30},
		"begun on a tick, ended before the next":               {Trigger{Interval: 10 * time.Second}, 20, 21, true, 30},
		"no data":                                              {Trigger{Interval: 10 * time.Second}, 20, 20.1, false, 30},
		"less than a second":                                   {Trigger{Interval: 250 * time.Millisecond}, 0.3, 0.4, true, 0.5},
		"no trigger, there may be more":                        {Trigger{}, 0, 0.4, true, 0.4},
		"no trigger, nothing found":                            {Trigger{}, 0, 0.4, false, 1},
		"no trigger, nothing found and the look took its time": {Trigger{}, 0, 3, false, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, at(c.want), c.trigger.next(at(c.began), at(c.ended), c.more))
		})
	}
	odd := Trigger{Interval: 7 * time.Second}.next(at(0), at(0), true)
	require.Zero(t, odd.Unix()%7, "ticks are multiples since 1970")
}

func TestRates(t *testing.T) {
	require.Nil(t, rate(5, 0))
	require.InDelta(t, 3871.0, *rate(1200, 310*time.Millisecond), 0.05)
	require.InDelta(t, 0.3, *rate(1, 4*time.Second), 0, "0.25 is rounded up")
	require.Zero(t, *rate(0, time.Second))
}
