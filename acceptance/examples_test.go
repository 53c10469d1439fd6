package acceptance

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExamples plans, applies, runs and queries every folder of examples/. Its layout:
//
//	*.sf.hcl, *.sql   the configuration
//	needs             optional: the folder of ../shared/data that the variable "data" points to
//	landing/          what has arrived before the first apply
//	arrivals/*/       what arrives later, laid over the folder one after the other, each followed by `run -once`
//	queries/NAME.sql  asked at the end, and compared with expected/NAME.csv
func TestExamples(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join(root, "examples", "*", "pipeline.sf.hcl"))
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	for _, f := range folders {
		example := filepath.Dir(f)
		t.Run(filepath.Base(example), func(t *testing.T) { runExample(t, example) })
	}
}

func runExample(t *testing.T, example string) {
	p := newProject(t)
	require.NoError(t, os.CopyFS(p.dir, os.DirFS(example)))
	needData(t, p, example)

	require.Equal(t, 2, p.try("plan", "-detailed-exitcode").code, "the first plan must have changes")
	p.must("apply", "-auto-approve")
	require.Contains(t, p.must("plan"), "No changes. Your infrastructure matches the configuration.")

	arrivals, err := filepath.Glob(filepath.Join(example, "arrivals", "*"))
	require.NoError(t, err)
	sort.Strings(arrivals)
	for _, a := range arrivals {
		overlay(t, a, p.dir)
		p.must("run", "-once")
	}
	require.Equal(t, 0, p.try("plan", "-detailed-exitcode").code, "data that arrives is no change")

	queries, err := filepath.Glob(filepath.Join(example, "queries", "*.sql"))
	require.NoError(t, err)
	require.NotEmpty(t, queries, "an example must show a result")
	for _, q := range queries {
		name := strings.TrimSuffix(filepath.Base(q), ".sql")
		want, err := os.ReadFile(filepath.Join(example, "expected", name+".csv"))
		require.NoError(t, err)
		require.Equal(t, string(want), p.must("query", "-csv", "-file=queries/"+name+".sql"), "query %s", name)
	}
}

// needData points the variable "data" to a folder of other people's data, or skips the test.
func needData(t *testing.T, p *project, example string) {
	t.Helper()
	needs, err := os.ReadFile(filepath.Join(example, "needs"))
	if os.IsNotExist(err) {
		return
	}
	require.NoError(t, err)
	data, err := filepath.Abs(filepath.Join(root, "..", "shared", "data", strings.TrimSpace(string(needs))))
	require.NoError(t, err)
	if _, err := os.Stat(data); err != nil {
		t.Skipf("the data of this example is not there: %s", data)
	}
	p.env = append(p.env, "STREAMFORM_VAR_data="+data)
}

// overlay copies a folder over another one; files that exist are replaced.
func overlay(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, rel)), 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, 0o644)
	}))
}
