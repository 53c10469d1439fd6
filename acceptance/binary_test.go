package acceptance

import (
	"context"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/acceptance/outside"
)

// built makes the real binary once for a test run.
var built = sync.OnceValues(func() (string, error) { return outside.Build(root) })

// binary is the path of the real binary.
func binary(t testing.TB) string {
	t.Helper()
	path, err := built()
	require.NoError(t, err)
	return path
}

// outcome is what one run of the binary left behind.
type outcome struct {
	stdout, stderr string
	code           int
}

// project is a folder the binary is run in.
type project struct {
	t   testing.TB
	dir string
	env []string
}

// newProject makes a folder holding the given files: name, content, name, content …
func newProject(t testing.TB, files ...string) *project {
	t.Helper()
	return &project{t: t, dir: outside.New(t, binary(t), files...).Dir}
}

func (p *project) outside() *outside.Project {
	return &outside.Project{T: p.t, Binary: binary(p.t), Dir: p.dir, Env: p.env}
}

func (p *project) path(name string) string { return p.outside().Path(name) }

func (p *project) write(name, content string) {
	p.t.Helper()
	p.outside().Write(name, content)
}

func (p *project) command(ctx context.Context, args ...string) *exec.Cmd {
	return p.outside().Command(ctx, args...)
}

// try runs the binary and reports what happened, whatever the exit code.
func (p *project) try(args ...string) outcome {
	p.t.Helper()
	got := p.outside().Try(args...)
	return outcome{stdout: got.Stdout, stderr: got.Stderr, code: got.Code}
}

// must runs the binary, wants it to succeed, and returns its standard output.
func (p *project) must(args ...string) string {
	p.t.Helper()
	return p.outside().Must(args...)
}
