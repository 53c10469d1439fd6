package acceptance

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// files are all files of the project with what would show a write. Taking the lock of the runtime touches the lock's file.
func (p *project) files() map[string]string {
	p.t.Helper()
	out := map[string]string{}
	require.NoError(p.t, filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "LOCK" {
			return err
		}
		info, err := d.Info()
		if err == nil {
			out[path] = fmt.Sprintf("%d bytes, %s, %s", info.Size(), info.Mode(), info.ModTime().Format(time.RFC3339Nano))
		}
		return err
	}))
	return out
}

// TestPlansWithoutChange plans a hundred times what did not change: nothing is found, nothing is written.
func TestPlansWithoutChange(t *testing.T) {
	p := newProject(t, "main.sf.hcl", `source "files" "events" {
  path    = "./landing"
  format  = "json"
  columns = { k = "VARCHAR", v = "DOUBLE" }
}
source "files" "found" {
  path   = "./landing"
  format = "json"
}
stream "valid" {
  sql = "SELECT * FROM events WHERE v > 0"
}
view "sums" {
  sql = "SELECT k, sum(v) AS v, count(*) AS n FROM valid GROUP BY k"
}
view "top" {
  sql = "SELECT * FROM sums QUALIFY row_number() OVER (ORDER BY v DESC, k) <= 2"
}
sink "delta" "sums" {
  from = view.sums
  path = "./lake/sums"
}
sink "files" "valid" {
  from   = stream.valid
  path   = "./out/valid"
  format = "json"
}
trigger "processing_time" "slow" {
  interval = "10s"
}
output "place" {
  value = "lake"
}
`, "landing/a.json", `{"k":"a","v":1.5}`+"\n"+`{"k":"b","v":2}`+"\n")
	p.must("apply", "-auto-approve")
	p.write("landing/b.json", `{"k":"a","v":0.25}`+"\n"+`{"k":"c","v":-1}`+"\n")
	p.must("run", "-once")
	p.must("plan") // what an earlier process left to be tidied up is none of a plan's writes
	before := p.files()
	for i := range 100 {
		args := []string{"plan", "-detailed-exitcode"}
		if i%2 == 1 {
			args = append(args, "-refresh-only")
		}
		got := p.try(args...)
		require.Equal(t, 0, got.code, "plan %d\n%s%s", i, got.stdout, got.stderr)
		require.Contains(t, got.stdout, "No changes.")
		require.NotContains(t, got.stdout, "outside of streamform")
	}
	require.Equal(t, before, p.files())
}

// TestTwoAppliesAtOnce has the second refused with the holder of the lock; afterwards there is nothing left for it to do.
func TestTwoAppliesAtOnce(t *testing.T) {
	p := newProject(t, "main.sf.hcl", `source "files" "events" {
  path    = "./landing"
  format  = "json"
  columns = { id = "BIGINT", k = "VARCHAR" }
  max_files_per_epoch = 1
}
view "n" {
  sql = "SELECT k, count(*) AS n FROM events GROUP BY k"
}
sink "delta" "n" {
  from = view.n
  path = "./lake/n"
}
`)
	for i := range 60 {
		var b strings.Builder
		for j := range 2000 {
			fmt.Fprintf(&b, "{\"id\":%d,\"k\":\"k%d\"}\n", i*2000+j, j)
		}
		p.write(fmt.Sprintf("landing/%02d.json", i), b.String())
	}
	first := p.command(t.Context(), "apply", "-auto-approve")
	var out strings.Builder
	first.Stdout, first.Stderr = &out, &out
	require.NoError(t, first.Start())
	lock := p.path(".streamform.sfstate.lock.info")
	require.Eventually(t, func() bool {
		info, err := os.Stat(lock)
		return err == nil && info.Size() > 0
	}, time.Minute, time.Millisecond)

	second := p.try("apply", "-auto-approve")
	beside := p.try("apply", "-auto-approve", "-lock=false")
	require.NoError(t, first.Wait(), out.String())
	require.Equal(t, 1, second.code, second.stdout)
	require.Contains(t, second.stderr, "Error acquiring the state lock")
	require.Contains(t, second.stderr, "Operation: OperationTypeApply")
	require.Contains(t, second.stderr, "streamform force-unlock ")
	who, err := user.Current()
	require.NoError(t, err)
	require.Contains(t, second.stderr, "Who:       "+who.Username+"@")
	require.Equal(t, 1, beside.code, beside.stdout)
	require.Contains(t, beside.stderr, "The runtime is in use")

	require.Contains(t, out.String(), "Apply complete! Resources: 3 added, 0 changed, 0 destroyed.")
	got := p.try("plan", "-detailed-exitcode")
	require.Equal(t, 0, got.code, got.stdout)
	require.Equal(t, "120000\n", strings.TrimPrefix(p.must("query", "-csv", "SELECT sum(n) AS n FROM n"), "n\n"))
}
