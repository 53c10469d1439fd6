package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/cmd/streamform/view"
	"github.com/streamform/streamform/lang/diag"
)

// session is one command at work: how it prints, and the project it works on.
type session struct {
	*project.Project
	c      *cli
	looks  looks
	out    view.Terminal
	errOut view.Terminal
	show   view.Operation // lines or text
	lines  *view.Lines    // set when programs read along
	text   *view.Text     // set otherwise
	// markdown is where a plan is printed as Markdown; nil: as text or lines. Everything else goes to standard error then.
	markdown io.Writer
}

// open prepares a command on the project in the working directory.
func (c *cli) open(l looks, o project.Options) *session {
	s := &session{c: c, looks: l, out: view.Look(c.out, c.env, l.noColor), errOut: view.Look(c.errOut, c.env, l.noColor)}
	options := view.Options{Version: c.version, Out: s.out}
	o.Version, o.Env, o.Environ = c.version, c.env, c.environ()
	if c.live != nil {
		o.Host = c.live.host
	}
	o.Console, o.Retrying, o.Stopped = s.say, s.retrying, s.stopped
	s.Project = project.New(o)
	options.Kind = s.Kind
	if l.json {
		s.lines = view.NewLines(options)
		s.show = s.lines
	} else {
		s.text = view.NewText(options)
		s.show = s.text
	}
	return s
}

// say prints a line of sink.console.
func (s *session) say(line string) {
	if s.lines != nil {
		s.lines.Message(line)
		return
	}
	s.text.Line(line)
}

// retrying says that a failure of the machine is tried again.
func (s *session) retrying(pipeline string, err error, in time.Duration) {
	s.warn(diag.NewWarning(nil, "Trying again in "+in.Round(time.Millisecond).String(), fmt.Sprintf("Pipeline %s could not go on: %v.", pipeline, err)))
}

// stopped says at once that a pipeline failed; its diagnostic follows when the others have ended, too.
func (s *session) stopped(pipeline string, err error) {
	s.warn(diag.NewWarning(nil, "A pipeline has stopped", fmt.Sprintf("Pipeline %s: %v. The others go on.", pipeline, err)))
}

// warn shows a warning while something is running.
func (s *session) warn(d diag.Diagnostic) {
	if s.lines != nil {
		s.lines.Diagnostic(d, diag.Encode(diag.Diagnostics{d}, nil)[0])
		return
	}
	s.text.Clear()
	fmt.Fprintf(s.errOut, "%s %s\n", s.errOut.Paint(view.Yellow, d.Summary+":"), d.Detail)
}

// report shows findings: as lines where programs read, else warnings on standard
// output and errors on standard error. It returns the exit that errors mean.
func (s *session) report(ds diag.Diagnostics, err error) error {
	if err != nil {
		ds = append(ds, machine(err))
	}
	if s.lines != nil {
		for i, e := range diag.Encode(ds, s.Files()) {
			s.lines.Diagnostic(ds[i], e)
		}
	} else if err := s.print(ds); err != nil {
		return err
	}
	if ds.Failed() {
		return exit(1)
	}
	return nil
}

// print writes findings for people.
func (s *session) print(ds diag.Diagnostics) error {
	s.text.Clear()
	var warnings, failures diag.Diagnostics
	for _, d := range ds {
		if d.Severity == diag.Warning {
			warnings = append(warnings, d)
		} else {
			failures = append(failures, d)
		}
	}
	compact := s.looks.compactWarnings && len(failures) == 0
	for _, part := range []struct {
		to view.Terminal
		ds diag.Diagnostics
	}{{s.out, warnings}, {s.errOut, failures}} {
		if len(part.ds) == 0 {
			continue
		}
		o := diag.Options{Color: part.to.Color, Width: part.to.Width, Compact: compact}
		if err := diag.WriteText(part.to, part.ds, s.Files(), o); err != nil {
			return fmt.Errorf("printing diagnostics: %w", err)
		}
	}
	return nil
}

// machine shows a failure of the machine in the form of a diagnostic.
func machine(err error) diag.Diagnostic {
	if errors.Is(err, context.Canceled) {
		return diag.NewError(nil, "execution halted", "The operation was interrupted. What was finished is recorded; run the command again to do the rest.")
	}
	return diag.NewError(nil, "Operation failed", sentence(err.Error()))
}

// interruptible gives a context that the first interrupt ends, so that the work in hand is
// finished in order; the second ends the process at once.
func (s *session) interruptible(parent context.Context, stopping string) (context.Context, func()) {
	if s.c.live != nil {
		return s.c.live.interruptible(s.c.errOut, stopping)
	}
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for count := 0; ; count++ {
			select {
			case <-done:
				return
			case <-signals:
			}
			if count > 0 {
				fmt.Fprintln(s.c.errOut, "\nTwo interrupts received. Exiting immediately; the next run takes up what was committed.")
				os.Exit(1)
			}
			sayInterrupted(s.c.errOut, stopping)
			cancel()
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}
