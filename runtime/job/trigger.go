package job

import "time"

// Trigger says when a pipeline runs an epoch. The zero value: as soon as there is data.
type Trigger struct {
	Interval time.Duration // processing_time: ticks are its multiples since 1970-01-01 UTC
	Once     bool          // available_now
	Paused   bool
}

// next is when to look for data again after an epoch, or a look that found nothing (more is
// false). An epoch that overran a tick is followed at once; ticks it missed do not pile up.
func (t Trigger) next(began, ended time.Time, more bool) time.Time {
	if t.Interval <= 0 {
		if more {
			return ended
		}
		return began.Add(listEvery)
	}
	tick := began.Truncate(0).UTC()
	since := tick.Sub(time.Unix(0, 0))
	tick = tick.Add(t.Interval - since%t.Interval)
	if tick.Before(ended) {
		return ended
	}
	return tick
}
