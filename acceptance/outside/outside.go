// Package outside runs the real binary in a folder of its own, and compares rows with what DuckDB answers alone.
package outside

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Build makes the real binary below the ignored bin folder of the module at root, and returns its path.
func Build(root string) (string, error) {
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
}

// Outcome is what one run of the binary left behind.
type Outcome struct {
	Stdout, Stderr string
	Code           int
}

// Project is a folder that a binary is run in.
type Project struct {
	T      testing.TB
	Binary string
	Dir    string
	Env    []string // added to the environment
}

// New is a folder that holds the given files: name, content, name, content …
func New(t testing.TB, binary string, files ...string) *Project {
	t.Helper()
	p := &Project{T: t, Binary: binary, Dir: t.TempDir()}
	for i := 0; i+1 < len(files); i += 2 {
		p.Write(files[i], files[i+1])
	}
	return p
}

// Path is a file of the folder, named with slashes.
func (p *Project) Path(name string) string { return filepath.Join(p.Dir, filepath.FromSlash(name)) }

// Write writes a file, and makes its folder.
func (p *Project) Write(name, content string) {
	p.T.Helper()
	require.NoError(p.T, os.MkdirAll(filepath.Dir(p.Path(name)), 0o755))
	require.NoError(p.T, os.WriteFile(p.Path(name), []byte(content), 0o644))
}

// Command prepares a run of the binary.
func (p *Project) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.Binary, args...)
	cmd.Dir = p.Dir
	cmd.Env = append(cleanEnv(), p.Env...)
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

// Try runs the binary and reports what happened, whatever the exit code.
func (p *Project) Try(args ...string) Outcome {
	p.T.Helper()
	ctx, cancel := context.WithTimeout(p.T.Context(), 5*time.Minute)
	defer cancel()
	var stdout, stderr strings.Builder
	cmd := p.Command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		require.NoError(p.T, err)
	}
	return Outcome{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
}

// Must runs the binary, wants it to succeed, and returns its standard output.
func (p *Project) Must(args ...string) string {
	p.T.Helper()
	got := p.Try(args...)
	require.Equal(p.T, 0, got.Code, "streamform %s\n%s%s", strings.Join(args, " "), got.Stdout, got.Stderr)
	return got.Stdout
}
