package acceptance

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPlanAfterAnInterruptedApply interrupts an apply that reads the first time, and one that reads again. The plan that follows says how many files
// are left, and the next apply reads as many.
func TestPlanAfterAnInterruptedApply(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	const files = 1000
	config := "source \"files\" \"events\" {\n  path = \"landing/\"\n  format = \"json\"\n  max_files_per_epoch = 1\n  columns = { id = \"BIGINT\", key = \"VARCHAR\", kind = \"VARCHAR\", value = \"BIGINT\" }\n}\n"
	p := newProject(t, "main.sf.hcl", config+"view \"by_key\" {\n  sql = \"SELECT key, sum(value) AS total FROM events GROUP BY key\"\n}\n")
	require.NoError(t, writeEvents(p.path("landing"), 60_000, files))
	left := regexp.MustCompile(`goes on reading source\.files\.events where the last apply ended: (\d+) files?,`)
	total := regexp.MustCompile(`To read: (\d+) files?,`)
	read := regexp.MustCompile(`source\.files\.events +read (\d+) files?,`)
	for _, edit := range []string{"", "sum(DISTINCT value)", "sum(value // 2)"} {
		if edit != "" {
			p.write("main.sf.hcl", config+"view \"by_key\" {\n  sql = \"SELECT key, "+edit+" AS total FROM events GROUP BY key\"\n}\n")
		}
		for wait := 300 * time.Millisecond; ; wait += 150 * time.Millisecond {
			cmd := p.command(t.Context(), "apply", "-auto-approve")
			var out strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &out
			require.NoError(t, cmd.Start())
			time.Sleep(wait)
			_ = cmd.Process.Signal(os.Interrupt) // it may have ended
			require.Error(t, cmd.Wait(), "%q: it ended before it was interrupted, and had not begun to read a wait before:\n%s", edit, &out)
			said := p.must("plan")
			if left.MatchString(said) {
				n := left.FindStringSubmatch(said)[1]
				require.NotEqual(t, "1000", n)
				require.Equal(t, n, total.FindStringSubmatch(said)[1], said)
				done := p.must("apply", "-auto-approve")
				require.Equal(t, n, read.FindStringSubmatch(done)[1], done)
				break
			}
		}
		require.Contains(t, p.must("plan"), "No changes.")
	}
}
