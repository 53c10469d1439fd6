package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// cost is what one process took.
type cost struct {
	wall time.Duration
	cpu  time.Duration // user and system
	rss  int64         // peak, bytes
}

// measure runs a command to its end.
func measure(ctx context.Context, dir, name string, args ...string) (cost, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	started := time.Now()
	err := cmd.Run()
	c := cost{wall: time.Since(started)}
	if err != nil {
		text := output.String()
		return c, fmt.Errorf("running %s %s: %w\n%s", name, strings.Join(args, " "), err, text[max(0, len(text)-2000):])
	}
	c.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		c.rss = usage.Maxrss * 1024
	}
	return c, nil
}

// median of what f reads from each cost.
func median(costs []cost, f func(cost) float64) float64 {
	values := make([]float64, len(costs))
	for i, c := range costs {
		values[i] = f(c)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func wallSeconds(c cost) float64 { return c.wall.Seconds() }
func cpuSeconds(c cost) float64  { return c.cpu.Seconds() }
func megabytes(c cost) float64   { return float64(c.rss) / 1e6 }
