package acceptance

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// countConfig counts and sums the ids of a folder of JSON lines into a Delta table.
const countConfig = `
source "files" "rows" {
  path    = "./landing"
  format  = "json"
  columns = { id = "BIGINT" }
}
stream "copied" {
  sql = "SELECT id FROM rows"
}
view "total" {
  sql = "SELECT count(*) AS n, sum(id) AS ids FROM rows"
}
sink "delta" "copied" {
  from = stream.copied
  path = "./lake/copied"
}
`

func (p *project) total() string {
	p.t.Helper()
	lines := strings.Split(p.must("query", "-csv", "SELECT n, ids FROM total"), "\n")
	require.Len(p.t, lines, 3)
	return lines[1]
}

func ids(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "{\"id\":%d}\n", i)
	}
	return b.String()
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// TestTruncatedFile sets a file aside that cannot be decompressed, goes on with the others, and reads
// it once it is whole.
func TestTruncatedFile(t *testing.T) {
	p := newProject(t, "main.sf.hcl", countConfig, "landing/a.json", ids(1, 3))
	whole := zipped(t, ids(100, 4000))
	p.write("landing/b.json.gz", string(whole[:len(whole)/2]))
	p.must("apply", "-auto-approve")
	require.Equal(t, "3,6", p.total())
	require.Contains(t, p.must("query", "-csv", "SELECT status, error FROM rows.files WHERE path LIKE '%b.json.gz'"), "malformed")
	require.Equal(t, "n\n1\n", p.must("query", "-csv", "SELECT count(*) AS n FROM rows.malformed"))

	p.write("landing/b.json.gz", string(whole))
	p.must("run", "-once")
	require.Equal(t, fmt.Sprintf("%d,%d", 3+3901, 6+(100+4000)*3901/2), p.total())
}

// TestUnreadableFile sets a file aside that may not be opened, says so, and reads it when it may and was touched.
func TestUnreadableFile(t *testing.T) {
	p := newProject(t, "main.sf.hcl", countConfig, "landing/a.json", ids(1, 3), "landing/b.json", ids(4, 4))
	require.NoError(t, os.Chmod(p.path("landing/b.json"), 0))
	attempt := func(args ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		cmd := p.command(ctx, args...)
		if os.Getuid() == 0 {
			asNobody(t, p, cmd)
		}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	require.Contains(t, attempt("apply", "-auto-approve"), "1 record malformed")
	require.Equal(t, "3,6", p.total())
	reason := p.must("query", "-csv", "SELECT _reason, _position ->> 'file' AS file FROM rows.malformed")
	require.Contains(t, strings.ToLower(reason), "permission denied")
	require.Contains(t, reason, "landing/b.json")

	require.NoError(t, os.Chmod(p.path("landing/b.json"), 0o644))
	now := time.Now()
	require.NoError(t, os.Chtimes(p.path("landing/b.json"), now, now))
	attempt("run", "-once")
	require.Equal(t, "4,10", p.total())
}

// asNobody runs a command as a user without rights, in a project that belongs to that user.
func asNobody(t *testing.T, p *project, cmd *exec.Cmd) {
	t.Helper()
	const nobody = 65534
	for dir := p.dir; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
	own := filepath.Join(p.dir, "streamform")
	if _, err := os.Stat(own); err != nil {
		require.NoError(t, os.Link(cmd.Path, own), "the binary must be on the file system of the temporary folder")
	}
	require.NoError(t, os.Chown(p.dir, nobody, nobody))
	cmd.Path = own
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// TestFileChangedWhileRead rewrites a large file again and again while it is read: what is admitted is
// one of its versions, never parts of two.
func TestFileChangedWhileRead(t *testing.T) {
	p := newProject(t, "main.sf.hcl", countConfig)
	const rows = 400_000
	version := func(n int) string { return strings.Repeat(fmt.Sprintf("{\"id\":%07d}\n", n), rows) }
	p.write("landing/a.json", version(1000001))
	cmd := p.command(t.Context(), "apply", "-auto-approve")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for n := 2; n <= 6; n++ {
		select {
		case err := <-ended:
			ended <- err
			n = 7
		case <-time.After(250 * time.Millisecond):
			p.write("landing/a.json", version(1000000+n))
		}
	}
	require.NoError(t, <-ended, "%s", &out)
	var count, sum int
	_, err := fmt.Sscanf(p.total(), "%d,%d", &count, &sum)
	require.NoError(t, err)
	require.Equal(t, rows, count)
	require.Zero(t, sum%rows, "rows of two versions: %d", sum)
	table, err := deltaScan(p.path("lake/copied"))
	require.NoError(t, err)
	require.Empty(t, difference(t, p.dir, "SELECT count(*), sum(id) FROM ("+table+")", fmt.Sprintf("SELECT %d, %d", count, sum)))
}

// TestDiskFull fills the disk under the sink, and under the runtime, while rows are delivered. The
// epoch waits, says why, and is carried out once there is room.
func TestDiskFull(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	for folder, size := range map[string]string{"lake": "8m", ".streamform": "4m"} {
		t.Run(folder, func(t *testing.T) {
			p := newProject(t, "main.sf.hcl", strings.Replace(countConfig, "SELECT id FROM rows", "SELECT id, md5(CAST(id AS VARCHAR)) || md5(CAST(id + 1 AS VARCHAR)) AS text FROM rows", 1),
				"each.sf.hcl", "view \"each\" {\n  sql = \"SELECT id, md5(CAST(id AS VARCHAR)) AS text, count(*) AS n FROM rows GROUP BY ALL\"\n}\n")
			require.NoError(t, os.MkdirAll(p.path(folder), 0o700))
			if err := syscall.Mount("tmpfs", p.path(folder), "tmpfs", 0, "size="+size); err != nil {
				t.Skipf("cannot mount a small file system: %v", err)
			}
			t.Cleanup(func() { require.NoError(t, syscall.Unmount(p.path(folder), syscall.MNT_DETACH)) })
			p.write("landing/a.json", ids(1, 400_000))
			ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
			defer cancel()
			out, err := p.command(ctx, "apply", "-auto-approve").CombinedOutput()
			require.Error(t, err, "%s", out)
			require.Contains(t, strings.ToLower(string(out)), "no space left", "%s", out)

			require.NoError(t, syscall.Mount("tmpfs", p.path(folder), "tmpfs", syscall.MS_REMOUNT, "size=512m"))
			p.must("apply", "-auto-approve")
			require.Equal(t, "400000,80000200000", p.total())
			table, err := deltaScan(p.path("lake/copied"))
			require.NoError(t, err)
			require.Empty(t, difference(t, p.dir, "SELECT count(*), sum(id), count(DISTINCT id) FROM ("+table+")", "SELECT 400000, 80000200000, 400000"))
		})
	}
}

// TestLocked has the process that runs carry out what another one is asked for, and end well on a signal; then nobody answers, and
// commands work alone.
func TestLocked(t *testing.T) {
	p := newProject(t, "main.sf.hcl", countConfig, "landing/a.json", ids(1, 3))
	p.must("apply", "-auto-approve")
	cmd := p.command(t.Context(), "run")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	p.write("landing/b.json", ids(4, 4))
	require.Eventually(t, func() bool { return p.versions("lake/copied") == 2 }, 20*time.Second, 20*time.Millisecond)

	require.Contains(t, p.must("apply", "-auto-approve"), "No changes.")
	second := p.try("run")
	require.Equal(t, 1, second.code, "%s%s", second.stdout, second.stderr)
	require.Contains(t, second.stderr, "Error: ")

	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait(), "%s", &out)
	require.Equal(t, "4,10", p.total())
}
