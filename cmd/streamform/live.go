package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/control"
	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/cmd/streamform/view"
	"github.com/streamform/streamform/runtime/host"
)

// live is what a command has that was typed elsewhere.
type live struct {
	ctx        context.Context // ends when whoever typed it is gone
	interrupts <-chan struct{}
	host       *host.Host // runs the pipelines
}

// interruptible is the session's, where the interrupts come from elsewhere.
func (l *live) interruptible(w io.Writer, stopping string) (context.Context, func()) {
	ctx, cancel := context.WithCancel(l.ctx)
	go func() {
		select {
		case <-l.interrupts:
			sayInterrupted(w, stopping)
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func sayInterrupted(w io.Writer, stopping string) {
	fmt.Fprintf(w, "\nInterrupt received.\n%s\nGracefully shutting down...\n\n", stopping)
}

// beside is a command on the runtime: where a run holds that, the run's process carries the command out.
func (c *cli) beside(do func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if c.live != nil {
			return do(cmd, args)
		}
		code, served, err := c.handOver()
		switch {
		case !served:
			return do(cmd, args)
		case err != nil:
			return handedOver(err)
		case code != 0:
			return exit(code)
		}
		return nil
	}
}

func (c *cli) handOver() (code int, served bool, err error) {
	here, err := os.Getwd()
	if err != nil {
		return 0, false, nil // whatever needs it says so
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	r := control.Request{Version: c.version, Dir: here, Args: c.typed, Environ: c.environ(), In: stream(c.in), Out: stream(c.out), Err: stream(c.errOut)}
	return control.HandOver(project.ControlPath(c.env), control.Typed{Request: r, In: c.in, Out: c.out, Err: c.errOut, Interrupts: signals})
}

func stream(s any) control.Stream {
	width, is := view.Screens(s)
	return control.Stream{Terminal: is, Width: width}
}

// handedOver says why a command that was handed over came to nothing.
func handedOver(err error) error {
	var refused *control.Refusal
	var lost *control.LostError
	switch {
	case errors.As(err, &refused):
		return misuse{summary: refused.Summary, detail: refused.Detail}
	case errors.As(err, &lost):
		return misuse{summary: "The run has ended", detail: "The process that keeps the pipelines running was carrying this command out, and has ended without finishing it. What was finished is recorded; run the command again to do the rest."}
	}
	return misuse{summary: "The command could not be handed over", detail: sentence(err.Error())}
}

// lookup finds a variable in an environment.
func lookup(environ []string, name string) string {
	for _, v := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}
