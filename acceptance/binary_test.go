package acceptance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// built makes the real binary once for a test run, below the module's ignored bin folder.
var built = sync.OnceValues(func() (string, error) {
	path, err := filepath.Abs(filepath.Join(root, "bin", "test", "streamform"))
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-tags", "duckdb_arrow", "-o", path, "./cmd/streamform")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the binary: %w\n%s", err, out)
	}
	return path, nil
})

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
	binary(t)
	p := &project{t: t, dir: t.TempDir()}
	for i := 0; i+1 < len(files); i += 2 {
		p.write(files[i], files[i+1])
	}
	return p
}

func (p *project) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

func (p *project) write(name, content string) {
	p.t.Helper()
	require.NoError(p.t, os.MkdirAll(filepath.Dir(p.path(name)), 0o755))
	require.NoError(p.t, os.WriteFile(p.path(name), []byte(content), 0o644))
}

func (p *project) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, binary(p.t), args...)
	cmd.Dir = p.dir
	cmd.Env = append(cleanEnv(), p.env...)
	return cmd
}

// cleanEnv is the environment without what would change the tool's answers.
func cleanEnv() []string {
	var out []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "STREAMFORM_") && !strings.HasPrefix(name, "TF_") && name != "CI" && name != "FORCE_COLOR" && name != "CLICOLOR_FORCE" {
			out = append(out, v)
		}
	}
	return append(out, "NO_COLOR=1")
}

// try runs the binary and reports what happened, whatever the exit code.
func (p *project) try(args ...string) outcome {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 5*time.Minute)
	defer cancel()
	var stdout, stderr strings.Builder
	cmd := p.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		require.NoError(p.t, err)
	}
	return outcome{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
}

// must runs the binary, wants it to succeed, and returns its standard output.
func (p *project) must(args ...string) string {
	p.t.Helper()
	got := p.try(args...)
	require.Equal(p.t, 0, got.code, "streamform %s\n%s%s", strings.Join(args, " "), got.stdout, got.stderr)
	return got.stdout
}
