package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/streamform/streamform/cmd/streamform/control"
	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/lang/diag"
)

// serving lets others work on the runtime that a session holds. A nil one serves nobody.
type serving struct {
	s      *session
	server *control.Server
	opened chan struct{} // closed when the runtime is open
}

// serve takes what is typed elsewhere, until ctx ends, which stops what is under way. The session holds the runtime, which may not be open yet:
// what is typed waits for begin.
func (s *session) serve(ctx context.Context) *serving {
	o := &serving{s: s, opened: make(chan struct{})}
	var err error
	if o.server, err = control.Listen(control.Options{Path: project.ControlPath(s.c.env), Version: s.c.version, Handle: o.carry}); err != nil {
		s.warn(diag.NewWarning(nil, "Commands beside this run are refused", sentence(err.Error())))
		return nil
	}
	context.AfterFunc(ctx, o.stop)
	return o
}

// begin says that the runtime is open.
func (o *serving) begin() {
	if o != nil {
		close(o.opened)
	}
}

// finish takes no more commands and waits for what is under way.
func (o *serving) finish() {
	if o != nil {
		o.ended(o.server.Finish())
	}
}

// stop has what is under way end in order.
func (o *serving) stop() {
	if o != nil {
		o.ended(o.server.Close())
	}
}

func (o *serving) ended(err error) {
	if err != nil {
		o.s.warn(diag.NewWarning(nil, "The socket for other commands was not removed", sentence(err.Error())))
	}
}

// carry carries out what was typed elsewhere.
func (o *serving) carry(ctx context.Context, call control.Call) int {
	if !o.wait(ctx, call) {
		return 1
	}
	environ := func(name string) string { return lookup(call.Environ, name) }
	c := &cli{in: call.In, out: call.Out, errOut: call.Err, env: environ, environ: func() []string { return call.Environ }, version: o.s.c.version,
		live: &live{ctx: ctx, interrupts: call.Interrupts, host: o.s.Running()}}
	code := guarded(call.Err, func() int { return c.run(call.Args) })
	if len(call.Args) > 0 && slices.Contains([]string{"apply", "destroy", "rollback", "rewind", "state"}, call.Args[0]) {
		o.s.say(fmt.Sprintf("Carried out for another terminal: streamform %s, exit code %d", call.Args[0], code))
	}
	return code
}

// wait waits until the runtime is open, and says so where that takes long; false when it is not to be waited for any more.
func (o *serving) wait(ctx context.Context, call control.Call) bool {
	long := time.NewTimer(time.Second)
	defer long.Stop()
	for {
		select {
		case <-o.opened:
			return true
		case <-long.C:
			fmt.Fprintln(call.Err, "Waiting for the run in another terminal to open the runtime. This may take a few moments...")
		case <-call.Interrupts:
			sayInterrupted(call.Err, "Stopping operation...")
			return false
		case <-ctx.Done():
			fmt.Fprintln(call.Err, "Error: The run has ended\n\nThe run in another terminal held the runtime and has ended before it was open. Nothing was changed. See what it says there, then run the command again.")
			return false
		}
	}
}
