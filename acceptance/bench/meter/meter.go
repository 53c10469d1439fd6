// Package meter tells what a process, or a stretch of this one, took: wall time, processor time, memory.
package meter

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Cost is what something took.
type Cost struct {
	Wall time.Duration `json:"wall"`
	CPU  time.Duration `json:"cpu"`  // user and system, all threads
	Peak int64         `json:"peak"` // greatest resident set of the process up to its end, bytes
}

// Plus adds times up; the peak is the greater one.
func (c Cost) Plus(o Cost) Cost {
	return Cost{Wall: c.Wall + o.Wall, CPU: c.CPU + o.CPU, Peak: max(c.Peak, o.Peak)}
}

// WallSeconds, CPUSeconds and Megabytes read one number of a cost.
func WallSeconds(c Cost) float64 { return c.Wall.Seconds() }

// CPUSeconds is the processor time.
func CPUSeconds(c Cost) float64 { return c.CPU.Seconds() }

// Megabytes is the peak in millions of bytes.
func Megabytes(c Cost) float64 { return float64(c.Peak) / 1e6 }

// Mark is the beginning of a stretch of this process.
type Mark struct {
	at  time.Time
	cpu time.Duration
}

// Start begins a stretch.
func Start() Mark {
	cpu, _ := used()
	return Mark{time.Now(), cpu}
}

// Cost is what the stretch took up to now.
func (m Mark) Cost() Cost {
	cpu, peak := used()
	return Cost{Wall: time.Since(m.at), CPU: cpu - m.cpu, Peak: peak}
}

func used() (time.Duration, int64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), u.Maxrss * 1024
}

// Settle waits until this process does nothing more in the background, for a minute at most.
func Settle(ctx context.Context) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		m := Start()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
		if m.Cost().CPU < 10*time.Millisecond {
			break
		}
	}
	return nil
}

// Resident is what this process holds in memory now, in bytes; 0 where the system does not tell.
func Resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// Command runs a program to its end and returns what it printed, too.
func Command(ctx context.Context, dir, name string, args ...string) (Cost, string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	var output, errors strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &errors
	started := time.Now()
	err := cmd.Run()
	c := Cost{Wall: time.Since(started)}
	if err != nil {
		text := output.String() + errors.String()
		return c, output.String(), fmt.Errorf("running %s %s: %w\n%s", name, strings.Join(args, " "), err, text[max(0, len(text)-2000):])
	}
	c.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.Peak = usage.Maxrss * 1024
	}
	return c, output.String(), nil
}
