// Package workload says what a benchmark is: cases, both sides of each, and what is aimed at.
package workload

import (
	"context"

	"github.com/streamform/streamform/acceptance/bench/meter"
)

// Settings are what the command line says of all workloads.
type Settings struct {
	Cache   string  // folder for generated input, kept between runs
	Scale   float64 // multiplies the workloads' moderate sizes
	Full    bool    // the sizes of the targets: 10 M events, scale factor 1, 50 M keys
	Memory  int64   // bytes of the runtime's budget; 0: its default
	Threads int     // of both sides; 0: all cores
	Profile string  // folder for CPU profiles of our side; empty: none
}

// Size is a moderate size at the wanted scale, or the full one.
func (s Settings) Size(moderate, full int64) int64 {
	if s.Full {
		return full
	}
	return max(1, int64(float64(moderate)*s.Scale))
}

// Workload is one benchmark.
type Workload struct {
	Name  string // "W8"
	Title string
	Text  string // Markdown: what both sides do, what the bound is
	Pairs int    // how often both sides run, alternating; the command line may say otherwise
	Cases []Case
}

// Case is one line of a workload's table. Each side runs in a process of its own, in an empty folder.
type Case struct {
	Name   string
	Target string // what is aimed at, for people
	Group  string // cases of one group have a geometric mean of their own
	// Input makes the input, once; nil: there is none. It is not measured.
	Input func(ctx context.Context) error
	// Before fills the folder that Ours finds, in a process that is then killed; nil: the folder is empty.
	Before func(ctx context.Context, dir string) error
	Ours   Side
	Bound  Side // the lower bound; nil: the target is a number by itself
}

// Side does the work in a folder and says what it took.
type Side func(ctx context.Context, dir string) (Outcome, error)

// Outcome is what one side took and gave.
type Outcome struct {
	Cost    meter.Cost `json:"cost"`
	Result  string     `json:"result,omitempty"` // fingerprint; both sides' must be the same
	Numbers []Number   `json:"numbers,omitempty"`
}

// Number is something else worth knowing of an outcome.
type Number struct {
	Name  string  `json:"name"` // with its unit: "µs/row"
	Value float64 `json:"value"`
}
