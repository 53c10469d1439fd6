package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"
)

// Call is a command that somebody else typed.
type Call struct {
	Request
	In         io.Reader
	Out, Err   io.Writer       // they know their terminal: see Screen
	Interrupts <-chan struct{} // one for each Ctrl-C; closed with the call
}

// Screen is a writer that knows whether it ends on a terminal somewhere else.
type Screen struct {
	Stream
	write func(text []byte) error
}

// Write sends text to where the command was typed. Somebody who has left does not hear it; that is no error.
func (s Screen) Write(text []byte) (int, error) {
	_ = s.write(text)
	return len(text), nil
}

// Screens reports the terminal that the writer ends on: its width in columns, and whether it is one.
func (s Screen) Screens() (width int, terminal bool) { return s.Width, s.Terminal }

// Keyboard is a reader that knows whether somebody types at its other end.
type Keyboard struct {
	Stream
	read func(most int) ([]byte, error)
}

// Read asks for input where the command was typed.
func (k Keyboard) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	text, err := k.read(len(p))
	return copy(p, text), err
}

// Screens reports whether the reader is a terminal.
func (k Keyboard) Screens() (width int, terminal bool) { return 0, k.Terminal }

// Options set up a Server.
type Options struct {
	Path    string
	Version string // of the program; another one is refused
	// Handle carries out a call and returns its exit code. The context ends when the one who typed it is gone, or the server closes.
	Handle func(ctx context.Context, c Call) int
}

// Server carries out what others type.
type Server struct {
	o        Options
	listener net.Listener
	ctx      context.Context
	cancel   context.CancelFunc
	calls    sync.WaitGroup
	mu       sync.Mutex
	closed   bool
	lines    map[*line]bool // of calls under way
}

// Listen begins to listen. Whoever calls it holds the runtime, so that a socket that is there already was left behind; it is replaced.
func Listen(o Options) (*Server, error) {
	if len(o.Path) > longest {
		return nil, fmt.Errorf("the path of the socket %s has %d bytes, and systems allow %d", o.Path, len(o.Path), longest)
	}
	if err := os.Remove(o.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("removing a socket that was left behind: %w", err)
	}
	l, err := net.Listen("unix", o.Path)
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	if err := os.Chmod(o.Path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("listening: %w", err), l.Close())
	}
	s := &Server{o: o, listener: l, lines: map[*line]bool{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.calls.Go(s.accept)
	return s, nil
}

// Finish takes no more calls, waits for what is under way, and removes the socket.
func (s *Server) Finish() error {
	err := s.listener.Close()
	s.calls.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("closing the socket: %w", err)
	}
	return nil
}

// Close has what is under way stop in order, and finishes. It may be called again, and while Finish waits.
func (s *Server) Close() error {
	s.mu.Lock()
	if !s.closed {
		for l := range s.lines {
			_ = l.conn.SetWriteDeadline(time.Now().Add(patience)) // somebody may not read
			_ = l.send(fromServer{Err: []byte("\nThe run that carries this out is ending. Stopping operation...\n\n")})
		}
	}
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	return s.Finish()
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return // closed
		}
		s.calls.Go(func() { s.serve(newLine(conn)) })
	}
}

// enter notes a call; false when the server is closing.
func (s *Server) enter(l *line) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.lines[l] = true
	}
	return !s.closed
}

func (s *Server) leave(l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.lines, l)
	_ = l.conn.Close()
}

func (s *Server) serve(l *line) {
	defer s.leave(l)
	var r Request
	_ = l.conn.SetReadDeadline(time.Now().Add(patience)) // for the request
	stop := context.AfterFunc(s.ctx, func() { _ = l.conn.Close() })
	err := l.decoder.Decode(&r)
	if !stop() || err != nil || !s.enter(l) {
		return
	}
	_ = l.conn.SetReadDeadline(time.Time{})
	if refused := s.refuse(r); refused != nil {
		_ = l.send(fromServer{Refused: refused})
		return
	}
	code := s.carryOut(l, r)
	_ = l.send(fromServer{Exit: &code})
}

func (s *Server) refuse(r Request) *Refusal {
	if r.Protocol != protocol || r.Version != s.o.Version {
		return &Refusal{Summary: "Another version is running", Detail: fmt.Sprintf(
			"The pipelines of this folder are kept running by streamform %s, and this is version %s. Stop that run (Ctrl-C) and start it with this version, or use version %s here, too.", s.o.Version, r.Version, s.o.Version)}
	}
	here, err := os.Stat(".")
	there, err2 := os.Stat(r.Dir)
	if err != nil || err2 != nil || !os.SameFile(here, there) {
		dir, _ := os.Getwd()
		return &Refusal{Summary: "The run works in another folder", Detail: fmt.Sprintf(
			"The pipelines of this data directory are kept running from %s, and this is %s. Run the command there, or give this folder a data directory of its own.", dir, r.Dir)}
	}
	return nil
}

func (s *Server) carryOut(l *line, r Request) int {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	interrupts, input, heard := make(chan struct{}, 8), make(chan fromClient), make(chan struct{})
	go func() { // until the connection ends
		defer close(heard)
		defer cancel()
		for {
			var m fromClient
			if err := l.decoder.Decode(&m); err != nil {
				return
			}
			if m.Interrupt {
				select {
				case interrupts <- struct{}{}:
				default: // the first ones say it
				}
				continue
			}
			select {
			case input <- m:
			case <-ctx.Done():
				return
			}
		}
	}()
	call := Call{Request: r, Interrupts: interrupts,
		In:  Keyboard{Stream: r.In, read: func(most int) ([]byte, error) { return ask(ctx, l, input, most) }},
		Out: Screen{Stream: r.Out, write: func(text []byte) error { return l.send(fromServer{Out: text}) }},
		Err: Screen{Stream: r.Err, write: func(text []byte) error { return l.send(fromServer{Err: text}) }}}
	return s.o.Handle(ctx, call)
}

// ask wants input from where the command was typed.
func ask(ctx context.Context, l *line, input <-chan fromClient, most int) ([]byte, error) {
	if err := l.send(fromServer{Want: most}); err != nil {
		return nil, fmt.Errorf("asking for input: %w", err)
	}
	select {
	case m := <-input:
		if m.Ended {
			return m.Input, io.EOF
		}
		return m.Input, nil
	case <-ctx.Done():
		return nil, io.ErrUnexpectedEOF
	}
}
