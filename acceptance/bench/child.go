package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"syscall"

	"github.com/streamform/streamform/acceptance/bench/meter"
	"github.com/streamform/streamform/acceptance/bench/plain"
	"github.com/streamform/streamform/acceptance/bench/workload"
)

// The sides of a case, as -child names them.
const (
	sideBefore = "before"
	sideOurs   = "ours"
	sideBound  = "bound"
)

// runChild runs one side of one case in a folder: side:workload:case:folder. It prints the outcome as JSON.
func (s settings) runChild(ctx context.Context) error {
	parts := strings.SplitN(s.child, ":", 4)
	if len(parts) != 4 {
		return fmt.Errorf("-child %s: want side:workload:case:folder", s.child)
	}
	side, name, dir := parts[0], parts[1], parts[3]
	var index int
	if _, err := fmt.Sscan(parts[2], &index); err != nil {
		return fmt.Errorf("-child %s: %w", s.child, err)
	}
	for _, w := range s.workloads() {
		if w.Name != name {
			continue
		}
		if index < 0 || index >= len(w.Cases) {
			return fmt.Errorf("-child %s: %s has %d cases", s.child, name, len(w.Cases))
		}
		return s.side(ctx, w.Cases[index], sideRun{side: side, dir: dir, profile: fmt.Sprintf("%s-%d.pprof", name, index)})
	}
	return fmt.Errorf("-child %s: there is no such workload", s.child)
}

// sideRun is what one child does.
type sideRun struct{ side, dir, profile string }

func (s settings) side(ctx context.Context, c workload.Case, r sideRun) (err error) {
	run := c.Bound
	switch r.side {
	case sideBefore:
		if err := c.Before(ctx, r.dir); err != nil {
			return err
		}
		// What is measured next comes after a crash: nothing is closed.
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case sideOurs:
		run = c.Ours
		if s.Profile != "" {
			stop, err := profile(filepath.Join(s.Profile, r.profile))
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, stop()) }()
		}
	}
	out, err := run(ctx, r.dir)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func profile(path string) (stop func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}

// lines are the outcomes of one case, of both sides in the order they ran.
type lines struct {
	workload.Case
	ours, bound []workload.Outcome
}

// measured is one workload's outcomes.
type measured struct {
	workload.Workload
	cases []lines
	pairs int
}

// measure runs the cases of a workload, or only one.
func (s settings) measure(ctx context.Context, w workload.Workload, only int) (measured, error) {
	m := measured{Workload: w, pairs: w.Pairs}
	if s.pairs > 0 {
		m.pairs = s.pairs
	}
	for i, c := range w.Cases {
		if only >= 0 && i != only {
			continue
		}
		if c.Input != nil {
			if err := c.Input(ctx); err != nil {
				return m, err
			}
		}
		l := lines{Case: c}
		for pair := range m.pairs {
			if err := s.pair(ctx, &l, fmt.Sprintf("%s:%d", w.Name, i)); err != nil {
				return m, fmt.Errorf("%s: %w", c.Name, err)
			}
			fmt.Fprintf(os.Stderr, "%s %s, %d: %s\n", w.Name, c.Name, pair+1, l.progress())
		}
		m.cases = append(m.cases, l)
	}
	return m, nil
}

// pair runs both sides once and checks that they gave the same rows.
func (s settings) pair(ctx context.Context, l *lines, id string) error {
	dir, err := os.MkdirTemp(s.Cache, "run-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if l.Before != nil {
		if _, err := s.spawn(ctx, sideBefore, id, dir); err == nil || !strings.Contains(err.Error(), "signal: killed") {
			return fmt.Errorf("preparing: %w", err)
		}
	}
	ours, err := s.spawn(ctx, sideOurs, id, dir)
	if err != nil {
		return err
	}
	l.ours = append(l.ours, ours)
	if l.Bound == nil {
		return nil
	}
	other, err := os.MkdirTemp(s.Cache, "run-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(other)
	bound, err := s.spawn(ctx, sideBound, id, other)
	if err != nil {
		return err
	}
	l.bound = append(l.bound, bound)
	if !plain.Same(ours.Result, bound.Result) {
		return fmt.Errorf("the rows differ: ours are %s, the lower bound's %s", ours.Result, bound.Result)
	}
	return nil
}

// spawn runs one side as a process of its own.
func (s settings) spawn(ctx context.Context, side, id, dir string) (out workload.Outcome, err error) {
	self, err := os.Executable()
	if err != nil {
		return out, err
	}
	whole, text, err := meter.Command(ctx, "", self, append(s.args, "-child="+side+":"+id+":"+dir)...)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return out, fmt.Errorf("reading what %s printed: %w", side, err)
	}
	out.Cost.Peak = max(out.Cost.Peak, whole.Peak)
	return out, nil
}

func (l lines) progress() string {
	last := l.ours[len(l.ours)-1]
	text := fmt.Sprintf("ours %.2f s cpu, %.2f s", last.Cost.CPU.Seconds(), last.Cost.Wall.Seconds())
	for _, n := range last.Numbers {
		text += fmt.Sprintf(", %s %.4g", n.Name, n.Value)
	}
	if len(l.bound) > 0 {
		b := l.bound[len(l.bound)-1]
		text += fmt.Sprintf("; bound %.2f s cpu, %.2f s", b.Cost.CPU.Seconds(), b.Cost.Wall.Seconds())
	}
	return text
}
