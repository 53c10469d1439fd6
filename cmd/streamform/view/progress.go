package view

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/streamform/streamform/graph/apply"
)

// How often progress is shown: redrawn on a terminal, and as lines elsewhere.
const (
	redrawEvery = 100 * time.Millisecond
	lineEvery   = 10 * time.Second
)

// bar shows how far a backfill is: one line that is redrawn on a terminal, a
// line now and then elsewhere. It is safe for concurrent use.
type bar struct {
	to    Terminal
	now   func() time.Time
	lock  sync.Mutex
	begun time.Time
	shown time.Time
	drawn bool // a line without an end stands on the terminal
}

// show takes the latest numbers; most calls print nothing.
func (b *bar) show(p apply.Progress) {
	b.lock.Lock()
	defer b.lock.Unlock()
	now := b.now()
	if b.begun.IsZero() {
		b.begun = now
		if !b.to.Interactive {
			b.shown = now
		}
	}
	every := lineEvery
	if b.to.Interactive {
		every = redrawEvery
	}
	if now.Sub(b.shown) < every {
		return
	}
	b.shown = now
	if p.Elapsed == 0 {
		p.Elapsed = now.Sub(b.begun)
	}
	if !b.to.Interactive {
		fmt.Fprintf(b.to, "Backfill: %s [%s elapsed]\n", numbers(p), clock(p.Elapsed))
		return
	}
	fmt.Fprintf(b.to, "\r\x1b[K%s", fitting(p, b.to.Width-1))
	b.drawn = true
}

// fitting is the most telling line that is not longer than width.
func fitting(p apply.Progress, width int) string {
	brief := p
	brief.TotalFiles = 0
	line := ""
	for _, line = range []string{
		"Backfill: " + gauge(p, 20) + numbers(p), "Backfill: " + gauge(p, 20) + numbers(brief),
		gauge(p, 10) + numbers(brief),
	} {
		if len([]rune(line)) <= width {
			return line
		}
	}
	return string([]rune(line)[:max(0, width)])
}

// clear takes the bar off the terminal, so that other lines can be printed.
func (b *bar) clear() {
	b.lock.Lock()
	defer b.lock.Unlock()
	if b.drawn {
		fmt.Fprint(b.to, "\r\x1b[K")
		b.drawn = false
	}
}

// share is how much is done, from 0 to 1; negative when the end is not known.
func share(p apply.Progress) float64 {
	switch {
	case p.TotalBytes > 0:
		return math.Min(1, float64(p.Bytes)/float64(p.TotalBytes))
	case p.TotalFiles > 0:
		return math.Min(1, float64(p.Files)/float64(p.TotalFiles))
	}
	return -1
}

func gauge(p apply.Progress, width int) string {
	done := share(p)
	if done < 0 {
		return ""
	}
	full := int(done * float64(width))
	return fmt.Sprintf("[%s%s] %3d%% ", strings.Repeat("█", full), strings.Repeat("░", width-full), int(done*100))
}

// numbers are rows, bytes, rate and the time left as far as they are known.
func numbers(p apply.Progress) string {
	parts := []string{Things(p.Rows, "row")}
	if p.HeldRows > 0 {
		parts = append(parts, Things(p.HeldRows, "row")+" held")
	}
	switch {
	case p.TotalBytes > 0:
		parts = append(parts, Bytes(p.Bytes)+" of "+Bytes(p.TotalBytes))
	case p.Bytes > 0:
		parts = append(parts, Bytes(p.Bytes))
	}
	if p.TotalFiles > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s", Count(p.Files), Things(p.TotalFiles, "file")))
	}
	if rate := Rate(p.Rows, p.Elapsed, "row"); rate != "" && p.Rows > 0 {
		parts = append(parts, rate)
	}
	if done := share(p); done > 0.01 && done < 1 && p.Elapsed > time.Second {
		left := time.Duration(float64(p.Elapsed) * (1 - done) / done)
		parts = append(parts, "ETA "+Elapsed(left))
	}
	return strings.Join(parts, ", ")
}
