package control_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/cmd/streamform/control"
)

// text is a writer whose content may be looked at while it is written.
type text struct {
	mu sync.Mutex
	b  strings.Builder
}

func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// typed is a command that is typed in this folder.
type typed struct {
	control.Typed
	out, err   text
	interrupts chan os.Signal
}

func command(t *testing.T, input string, args ...string) *typed {
	t.Helper()
	here, err := os.Getwd()
	require.NoError(t, err)
	c := &typed{interrupts: make(chan os.Signal, 2)}
	c.Typed = control.Typed{Request: control.Request{Version: "1", Dir: here, Args: args, Environ: []string{"A=b"}, Out: control.Stream{Terminal: true, Width: 70}},
		In: strings.NewReader(input), Out: &c.out, Err: &c.err, Interrupts: c.interrupts}
	return c
}

func listen(t *testing.T, handle func(ctx context.Context, c control.Call) int) (path string, s *control.Server) {
	t.Helper()
	t.Chdir(t.TempDir())
	s, err := control.Listen(control.Options{Path: "control.sock", Version: "1", Handle: handle})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return "control.sock", s
}

func TestACommandIsCarriedOutElsewhere(t *testing.T) {
	path, _ := listen(t, func(_ context.Context, c control.Call) int {
		line, err := bufio.NewReader(c.In).ReadString('\n')
		width, terminal := c.Out.(control.Screen).Screens()
		fmt.Fprintf(c.Out, "%v %v %q %v %d %v", c.Args, c.Environ, line, err, width, terminal)
		fmt.Fprint(c.Err, "also this")
		return 7
	})
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	c := command(t, "yes\nmore", "apply", "-json")
	code, served, err := control.HandOver(path, c.Typed)
	require.NoError(t, err)
	require.True(t, served)
	require.Equal(t, 7, code)
	require.Equal(t, `[apply -json] [A=b] "yes\n" <nil> 70 true`, c.out.String())
	require.Equal(t, "also this", c.err.String())
}

func TestInputThatEnds(t *testing.T) {
	path, _ := listen(t, func(_ context.Context, c control.Call) int {
		all, err := io.ReadAll(c.In)
		fmt.Fprintf(c.Out, "%d %v", len(all), err)
		return 0
	})
	c := command(t, strings.Repeat("x", 100_000))
	_, _, err := control.HandOver(path, c.Typed)
	require.NoError(t, err)
	require.Equal(t, "100000 <nil>", c.out.String())
}

func TestInterrupts(t *testing.T) {
	path, _ := listen(t, func(ctx context.Context, c control.Call) int {
		fmt.Fprint(c.Out, "begun")
		select {
		case <-c.Interrupts:
			return 1
		case <-ctx.Done():
			return 2
		}
	})
	c := command(t, "")
	go func() {
		for c.out.String() != "begun" {
			time.Sleep(time.Millisecond)
		}
		c.interrupts <- os.Interrupt
	}()
	code, served, err := control.HandOver(path, c.Typed)
	require.NoError(t, err)
	require.True(t, served)
	require.Equal(t, 1, code)
}

// TestSomebodyLeaves ends the one who typed a command, which ends the command.
func TestSomebodyLeaves(t *testing.T) {
	over := make(chan error, 1)
	path, _ := listen(t, func(ctx context.Context, c control.Call) int {
		<-ctx.Done()
		_, err := fmt.Fprint(c.Out, "nobody hears this")
		over <- err
		return 0
	})
	conn, err := net.Dial("unix", path)
	require.NoError(t, err)
	here, err := os.Getwd()
	require.NoError(t, err)
	_, err = fmt.Fprintf(conn, `{"protocol":1,"version":"1","dir":%q}`, here)
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	require.NoError(t, <-over)
}

// TestTheServerEnds closes it in the middle of a command, which stops in order; and drops the connection of a killed one.
func TestTheServerEnds(t *testing.T) {
	begun := make(chan bool)
	path, s := listen(t, func(ctx context.Context, c control.Call) int {
		close(begun)
		<-ctx.Done()
		fmt.Fprint(c.Out, "stopped in order")
		return 3
	})
	go func() {
		<-begun
		_ = s.Close()
	}()
	c := command(t, "")
	code, _, err := control.HandOver(path, c.Typed)
	require.NoError(t, err)
	require.Equal(t, 3, code)
	require.Equal(t, "stopped in order", c.out.String())
	require.Contains(t, c.err.String(), "The run that carries this out is ending.")
	require.NoFileExists(t, path)
	_, served, err := control.HandOver(path, c.Typed)
	require.NoError(t, err)
	require.False(t, served)

	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_ = conn.Close()
		}
	}()
	_, served, err = control.HandOver(path, c.Typed)
	var lost *control.LostError
	require.True(t, served)
	require.ErrorAs(t, err, &lost)
	require.NoError(t, l.Close())
}

// TestFinish takes no more calls, and waits for those under way.
func TestFinish(t *testing.T) {
	begun, goOn := make(chan bool), make(chan bool)
	path, s := listen(t, func(ctx context.Context, _ control.Call) int {
		close(begun)
		<-goOn
		if ctx.Err() != nil {
			return 1
		}
		return 4
	})
	finished := make(chan error)
	go func() {
		<-begun
		go func() { finished <- s.Finish() }()
		for {
			if _, err := os.Lstat(path); err != nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		close(goOn)
	}()
	c := command(t, "")
	code, _, err := control.HandOver(path, c.Typed)
	require.NoError(t, err)
	require.Equal(t, 4, code)
	require.NoError(t, <-finished)
	require.Empty(t, c.err.String())
}

// TestAStaleSocket has a process begin where a killed one has left its socket.
func TestAStaleSocket(t *testing.T) {
	t.Chdir(t.TempDir())
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: "control.sock"})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
	require.FileExists(t, "control.sock")
	c := command(t, "")
	_, served, err := control.HandOver("control.sock", c.Typed)
	require.NoError(t, err)
	require.False(t, served)
	s, err := control.Listen(control.Options{Path: "control.sock", Version: "1", Handle: func(context.Context, control.Call) int { return 5 }})
	require.NoError(t, err)
	code, _, err := control.HandOver("control.sock", c.Typed)
	require.NoError(t, err)
	require.Equal(t, 5, code)
	require.NoError(t, s.Close())
}

func TestRefusals(t *testing.T) {
	path, _ := listen(t, func(context.Context, control.Call) int { return 0 })
	for want, spoil := range map[string]func(c *typed){
		"kept running by streamform 1, and this is version 2": func(c *typed) { c.Version = "2" },
		"Run the command there":                               func(c *typed) { c.Dir = t.TempDir() },
		"The run works in another folder":                     func(c *typed) { c.Dir = "/nowhere" },
	} {
		c := command(t, "")
		spoil(c)
		_, served, err := control.HandOver(path, c.Typed)
		require.True(t, served)
		require.ErrorContains(t, err, want)
	}
	_, err := control.Listen(control.Options{Path: filepath.Join("/", strings.Repeat("long/", 30), "control.sock")})
	require.ErrorContains(t, err, "systems allow 100")
}
