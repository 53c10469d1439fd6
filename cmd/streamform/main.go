// Package main is the CLI: one file per command; a command parses flags, makes one library call, prints (text or JSON).
package main

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

// version is streamform's own; releases set it when they are linked.
var version = "0.1.0"

// exitCrash is the exit code of a panic, told apart from every planned failure.
const exitCrash = 11

func main() {
	os.Exit(guarded(os.Stderr, func() int {
		c := &cli{in: os.Stdin, out: os.Stdout, errOut: os.Stderr, env: os.Getenv, environ: os.Environ, version: version}
		return c.run(os.Args[1:])
	}))
}

// guarded runs the command line and turns a panic of this goroutine into a
// report and exit code 11.
func guarded(w io.Writer, run func() int) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(w, "\nstreamform crashed. This is a bug in streamform, not in your configuration; please report it with the text below.\n\npanic: %v\n\n%s", p, debug.Stack())
			code = exitCrash
		}
	}()
	return run()
}
