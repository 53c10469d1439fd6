package beside_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/acceptance/outside"
)

// built makes the real binary once for a test run.
var built = sync.OnceValues(func() (string, error) { return outside.Build("../..") })

// project is a folder with pipelines.
type project struct{ *outside.Project }

func newProject(t *testing.T, config string) *project {
	t.Helper()
	if testing.Short() {
		t.Skip("takes a minute")
	}
	path, err := built()
	require.NoError(t, err)
	return &project{outside.New(t, path, "main.sf.hcl", config)}
}

// feed writes files into the landing folder until it is stopped.
type feed struct {
	p     *project
	files int
	stop  chan struct{}
	done  sync.WaitGroup
}

// landing adds a file of 40 rows.
func (f *feed) landing() {
	var b strings.Builder
	for i := range 40 {
		id := f.files*40 + i
		fmt.Fprintf(&b, "{\"id\":%d,\"key\":\"k%d\",\"value\":%d}\n", id, id%17, id%101)
	}
	f.p.Write(fmt.Sprintf("arriving/%06d", f.files), b.String())
	require.NoError(f.p.T, os.MkdirAll(f.p.Path("landing"), 0o755))
	require.NoError(f.p.T, os.Rename(f.p.Path(fmt.Sprintf("arriving/%06d", f.files)), f.p.Path(fmt.Sprintf("landing/%06d.json", f.files))))
	f.files++
}

func (p *project) feed(files int) *feed {
	f := &feed{p: p, stop: make(chan struct{})}
	for range files {
		f.landing()
	}
	f.done.Go(func() {
		for {
			select {
			case <-f.stop:
				return
			case <-time.After(400 * time.Millisecond):
				f.landing()
			}
		}
	})
	return f
}

func (f *feed) end() {
	close(f.stop)
	f.done.Wait()
}

// liveEpoch is an epoch that a run has told, and when it was heard of.
type liveEpoch struct {
	Name         string `json:"name"`
	BatchID      int64  `json:"batchId"`
	NumInputRows int64  `json:"numInputRows"`
	at           time.Time
}

// liveRun is a run in the background.
type liveRun struct {
	*exec.Cmd
	mu     sync.Mutex
	epochs []liveEpoch
	lines  strings.Builder
	errors strings.Builder
	heard  sync.WaitGroup
}

func (p *project) run() *liveRun {
	p.T.Helper()
	r := &liveRun{Cmd: p.Command(p.T.Context(), "run", "-json")}
	out, err := r.StdoutPipe()
	require.NoError(p.T, err)
	r.Stderr = &r.errors
	require.NoError(p.T, r.Start())
	r.heard.Go(func() {
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e liveEpoch
			r.mu.Lock()
			fmt.Fprintln(&r.lines, lines.Text())
			if json.Unmarshal(lines.Bytes(), &e) == nil && e.NumInputRows > 0 {
				e.at = time.Now()
				r.epochs = append(r.epochs, e)
			}
			r.mu.Unlock()
		}
	})
	require.Eventually(p.T, func() bool { // one that was killed has left its socket
		conn, err := net.Dial("unix", p.Path(".streamform/runtime/control.sock"))
		return err == nil && conn.Close() == nil
	}, time.Minute, time.Millisecond)
	return r
}

// between lists the epochs of a pipeline that were told in a stretch of time.
func (r *liveRun) between(pipeline string, from, to time.Time) (all []liveEpoch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.epochs {
		if e.Name == pipeline && e.at.After(from) && e.at.Before(to) {
			all = append(all, e)
		}
	}
	return all
}

// pause is the longest time without an epoch of a pipeline.
func (r *liveRun) pause(pipeline string, from, to time.Time) (longest time.Duration) {
	for _, e := range r.between(pipeline, from, to) {
		longest = max(longest, e.at.Sub(from))
		from = e.at
	}
	return max(longest, to.Sub(from))
}

func (r *liveRun) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines.String()
}

// interrupt lets the run finish.
func (r *liveRun) interrupt(t testing.TB) {
	t.Helper()
	require.NoError(t, r.Process.Signal(os.Interrupt))
	r.heard.Wait()
	require.NoError(t, r.Wait(), "%s%s", r.text(), r.errors.String())
}

// kill ends the run at once.
func (r *liveRun) kill() {
	_ = r.Process.Kill()
	r.heard.Wait()
	_ = r.Wait()
}

// edit replaces text of the configuration.
func (p *project) edit(pairs ...string) {
	p.T.Helper()
	text, err := os.ReadFile(p.Path("main.sf.hcl"))
	require.NoError(p.T, err)
	for i := 0; i+1 < len(pairs); i += 2 {
		require.Contains(p.T, string(text), pairs[i])
		text = []byte(strings.Replace(string(text), pairs[i], pairs[i+1], 1))
	}
	p.Write("main.sf.hcl", string(text))
}

// caughtUp waits until the live run has read all files.
func (p *project) caughtUp(files int, source string) {
	p.T.Helper()
	require.Eventually(p.T, func() bool {
		got := p.Try("query", "-csv", "SELECT count(*) AS n FROM "+source+".files WHERE status = 'read'")
		return strings.TrimPrefix(got.Stdout, "n\n") == fmt.Sprintf("%d\n", files)
	}, time.Minute, 100*time.Millisecond)
}

// equal compares Delta tables with what DuckDB answers over all files.
func (p *project) equal(tables map[string]string) {
	p.T.Helper()
	for table, batch := range tables {
		scan, err := outside.DeltaScan(p.Path(table))
		require.NoError(p.T, err)
		require.Empty(p.T, outside.Difference(p.T, p.Dir, scan, batch), table)
	}
}
