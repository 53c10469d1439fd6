package control

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// Typed is a command that was typed here.
type Typed struct {
	Request
	In         io.Reader
	Out, Err   io.Writer
	Interrupts <-chan os.Signal
}

// LostError means that the process that carried out a command ended in the middle of it.
type LostError struct{}

func (*LostError) Error() string { return "the process that carried out the command has ended" }

// patience is how long the other side may take to accept a connection, or to read the last words.
const patience = 5 * time.Second

// HandOver has the process that listens at a path carry out a command, and returns its exit code; served is false where none listens, as
// one that was killed leaves its socket behind. Errors: *Refusal, *LostError.
func HandOver(path string, t Typed) (code int, served bool, err error) {
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != os.ModeSocket || len(path) > longest {
		return 0, false, nil
	}
	conn, err := net.DialTimeout("unix", path, patience)
	if err != nil {
		return 0, false, nil // nobody listens: whoever opens the runtime finds out
	}
	l := newLine(conn)
	defer func() { _ = conn.Close() }()
	t.Protocol = protocol
	if err := l.send(t.Request); err != nil {
		return 0, true, lost(err)
	}
	done := make(chan struct{})
	defer close(done)
	go t.passInterrupts(l, done)
	for {
		var m fromServer
		if err := l.decoder.Decode(&m); err != nil {
			return 0, true, lost(err)
		}
		if m.Exit != nil {
			return *m.Exit, true, nil
		}
		if m.Refused != nil {
			return 0, true, m.Refused
		}
		if err := t.hear(l, m); err != nil {
			return 0, true, err
		}
	}
}

func lost(err error) error {
	var broken *net.OpError
	if ended(err) || errors.As(err, &broken) {
		return &LostError{}
	}
	return fmt.Errorf("talking to the run: %w", err)
}

// hear prints what comes, and gives the input that is wanted.
func (t *Typed) hear(l *line, m fromServer) error {
	if _, err := t.Out.Write(m.Out); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	if _, err := t.Err.Write(m.Err); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	if m.Want > 0 {
		go func() { // output goes on while somebody thinks
			text := make([]byte, m.Want)
			n, err := t.In.Read(text)
			_ = l.send(fromClient{Input: text[:n], Ended: err != nil})
		}()
	}
	return nil
}

// passInterrupts passes the first interrupt on, which stops the command in order; after the second, nobody waits for that.
func (t *Typed) passInterrupts(l *line, done <-chan struct{}) {
	for count := 0; ; count++ {
		select {
		case <-done:
			return
		case <-t.Interrupts:
		}
		if count > 0 {
			_ = l.conn.Close() // which ends the command as well
			return
		}
		_ = l.send(fromClient{Interrupt: true})
	}
}
