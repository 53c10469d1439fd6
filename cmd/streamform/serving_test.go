package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/cmd/streamform/project"
)

// typed carries one command line out as another terminal would, and sends what it gave.
func typed(t *testing.T, args ...string) <-chan typedResult {
	t.Helper()
	done := make(chan typedResult, 1)
	go func() {
		var out, errOut bytes.Buffer
		c := &cli{in: strings.NewReader(""), out: &out, errOut: &errOut, env: os.Getenv, environ: os.Environ, version: "0.1.0"}
		code := c.run(args)
		done <- typedResult{code, out.String(), errOut.String()}
	}()
	return done
}

type typedResult struct {
	code        int
	out, errOut string
}

// TestCommandsWaitUntilTheRunIsOpen types commands while a run holds the runtime and has not opened it yet.
func TestCommandsWaitUntilTheRunIsOpen(t *testing.T) {
	t.Setenv("STREAMFORM_DATA_DIR", filepath.Join(t.TempDir(), "d"))
	code, out, errOut := invoke(t, map[string]string{
		"main.sf.hcl": "source \"files\" \"a\" {\n  path = \"in/\"\n  format = \"json\"\n  columns = { k = \"BIGINT\" }\n}\nview \"n\" {\n  sql = \"SELECT count(*) AS n FROM a\"\n}\n",
	}, "version")
	require.Zero(t, code, out+errOut)
	require.NoError(t, os.MkdirAll("in", 0o755))
	require.NoError(t, os.WriteFile("in/1.json", []byte("{\"k\":1}\n{\"k\":2}\n"), 0o644))
	applied := <-typed(t, "apply", "-auto-approve")
	require.Zero(t, applied.code, applied.errOut)

	ask := []string{"query", "-csv", "SELECT n FROM n"}
	for _, opens := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		run := &cli{in: strings.NewReader(""), out: &bytes.Buffer{}, errOut: &bytes.Buffer{}, env: os.Getenv, environ: os.Environ, version: "0.1.0"}
		var others *serving
		var asked <-chan typedResult
		var s *session
		s = run.open(looks{}, project.Options{Holding: func() {
			others = s.serve(ctx)
			asked = typed(t, ask...)
			select {
			case early := <-asked:
				t.Errorf("a command did not wait: %+v", early)
			case <-time.After(50 * time.Millisecond):
			}
		}})
		_, ds, err := s.Prepare(ctx)
		require.NoError(t, err)
		require.Empty(t, ds)
		if opens {
			others.begin()
			answer := <-asked
			require.Equal(t, typedResult{0, "n\n2\n", ""}, answer)
			others.finish()
		} else {
			others.stop()
			answer := <-asked
			require.Equal(t, 1, answer.code)
			require.Contains(t, answer.errOut, "Error: The run has ended\n")
		}
		s.Close()
		cancel()
	}
}
