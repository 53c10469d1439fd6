package acceptance

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/acceptance/meddling"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/graph/plan/saved"
)

// lastEdit is the number of edits in the table of what each costs.
const lastEdit = 111

// edit is one row of the table: what is edited, and what must come of it.
type edit struct {
	number  string // 45, or 45b for a second case of the same row
	class   plan.Class
	title   string
	pending string            // why it cannot be tried yet
	before  [][2]string       // swaps that are applied first: another configuration before the edit
	foreign [][2]string       // what another writer does after that: delete or append, and the folder of the Delta table
	form    string            // of keyed data that another version wrote
	held    bool              // clicks has held its rows from the start
	older   bool              // the record is of a version whose compiler wrote plans in another way
	swaps   [][2]string       // text of main.sf.hcl, or of another file of the project, and what takes its place
	files   map[string]string // further files; an empty one is removed
	args    []string          // of plan and apply
	wants   map[string]string // by address: class, and after a colon a part of the reason
	gets    []string          // addresses that receive a difference
	error   string            // part of the error of a plan that is blocked
	rows    edited            // how the rows are checked
}

// edited says what the rows are after an edit, where that is not the batch answer of the new configuration.
type edited struct {
	kept    []string // streams that go on with rows of the former query
	clicks  string   // files that clicks has read, when not all of its folder
	feed    string   // where the next file of clicks is put; empty: its folder
	planned bool     // not carried out: only planned
	sinks   bool     // the sinks' rows are not looked at
	later   string   // folder of JSON files that hold the rows of valid which the next file gives, and no others
}

// TestEdits goes through the table of edits and their classes, row by row: what plan says of the edit; and, unless it is blocked,
// that after apply and more input every view and every sink holds what DuckDB answers over the same files, and
// that the next plan is empty.
func TestEdits(t *testing.T) {
	base := t.TempDir()
	work := template(t)
	copyTree(t, work.dir, base)
	edits := readEdits(t)
	seen := map[int]bool{}
	var pending []string
	for _, e := range edits {
		n, err := strconv.Atoi(strings.TrimRight(e.number, "abcdefgh"))
		require.NoError(t, err)
		seen[n] = true
		if e.pending != "" {
			pending = append(pending, fmt.Sprintf("%s %s: %s", e.number, e.title, e.pending))
			continue
		}
		t.Run(e.number, func(t *testing.T) {
			copyTree(t, base, work.dir)
			if e.held {
				copyTree(t, filepath.Join("testdata", "edits", "base"), work.dir)
				swap(t, work, [][2]string{{"trigger = trigger.processing_time.live", "trigger = trigger.processing_time.live\n  keep    = \"all\""}})
				work.must("apply", "-auto-approve")
			}
			e.run(t, &project{t: t, dir: work.dir})
		})
	}
	for n := 1; n <= lastEdit; n++ {
		require.True(t, seen[n], "row %d of the table is neither tried nor pending", n)
	}
	t.Logf("pending:\n%s", strings.Join(pending, "\n"))
}

// template is a project in which the configuration before the edits was applied.
func template(t *testing.T) *project {
	p := newProject(t)
	require.NoError(t, os.CopyFS(p.dir, os.DirFS(filepath.Join("testdata", "edits", "base"))))
	p.must("apply", "-auto-approve")
	return p
}

// copyTree makes one folder like another, times of files included: by them a source tells that it has read them.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(to)
	require.NoError(t, err)
	for _, e := range entries {
		require.NoError(t, os.RemoveAll(filepath.Join(to, e.Name())))
	}
	require.NoError(t, os.CopyFS(to, os.DirFS(from)))
	require.NoError(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return os.Chtimes(filepath.Join(to, rel), info.ModTime(), info.ModTime())
	}))
}

func (e *edit) run(t *testing.T, p *project) {
	if len(e.before) > 0 {
		swap(t, p, e.before)
		p.must("apply", "-auto-approve")
	}
	for _, f := range e.foreign {
		meddling.Write(t, p.path(f[1]), f[0])
	}
	if e.older {
		meddling.OlderRecord(t, p.path("streamform.sfstate"))
	}
	if e.form != "" {
		meddling.OtherForm(t, p.path(".streamform/runtime/store"), e.form)
	}
	before := relations(t, p)
	e.make(t, p)
	got := p.try(append([]string{"plan", "-out=saved"}, e.args...)...)
	if e.class == plan.Blocked {
		require.NotZero(t, got.code, got.stdout)
		require.Contains(t, strings.Join(strings.Fields(got.stderr), " "), e.error)
		return
	}
	require.Zero(t, got.code, got.stdout+got.stderr)
	made, err := saved.Read(p.path("saved"))
	require.NoError(t, err)
	e.compare(t, made.Plan, got)
	if e.rows.planned {
		return
	}
	table := spendTable(t, p)
	did := p.must("apply", "-auto-approve", "-json", "saved")
	asPlanned(t, made.Plan, did)
	givenWhatDiffers(t, made.Plan, did, table, spendTable(t, p))
	e.checkRows(t, p, before)
	feed(t, p, e.rows.feed)
	p.must("run", "-once")
	e.checkRows(t, p, before)
	e.checkLater(t, p)
	require.Equal(t, 0, p.try("plan", "-detailed-exitcode").code, "the next plan is empty")
}

// make edits the project.
func (e *edit) make(t *testing.T, p *project) {
	t.Helper()
	swap(t, p, e.swaps)
	for name, text := range e.files {
		if text == "" {
			require.NoError(t, os.Remove(p.path(name)))
			continue
		}
		p.write(name, text)
	}
}

// swap replaces texts of the configuration.
func swap(t *testing.T, p *project, swaps [][2]string) {
	t.Helper()
	for _, s := range swaps {
		data, err := os.ReadFile(p.path("main.sf.hcl"))
		require.NoError(t, err)
		require.Contains(t, string(data), s[0])
		p.write("main.sf.hcl", strings.Replace(string(data), s[0], s[1], 1))
	}
}

// compare checks the classes: of the edit as a whole the worst of its changes, and those that the row names.
func (e *edit) compare(t *testing.T, p *plan.Plan, shown outcome) {
	t.Helper()
	order := []plan.Class{plan.Noop, plan.InPlace, plan.Migrate, plan.RebuildFromState, plan.ReplayFromSource, plan.Blocked}
	worst := plan.Noop
	found := map[string]plan.Change{}
	for _, c := range p.Changes {
		found[c.Addr.String()] = c
		if c.Action != plan.NoOp && c.Class != plan.Noop && slices.Index(order, c.Class) > slices.Index(order, worst) {
			worst = c.Class
		}
	}
	require.Equal(t, e.class, worst, shown.stdout)
	for address, want := range e.wants {
		c, ok := found[address]
		require.True(t, ok, address)
		class, reason, _ := strings.Cut(want, ": ")
		require.Equal(t, class, string(c.Class), "%s\n%s", address, shown.stdout)
		require.Contains(t, c.Reason+" "+c.Because+strings.Join(strings.Fields(shown.stdout+shown.stderr), " "), reason, address)
	}
	for _, address := range e.gets {
		require.NotEmpty(t, found[address].Receives, "%s receives the difference\n%s", address, shown.stdout)
		require.False(t, found[address].Computes(), address)
	}
}

// readEdits reads testdata/edits/*.txt:
//
//	== NUMBER CLASS TITLE       begins a row
//	== NUMBER pending TITLE     begins a row that cannot be tried; the next line says why
//	- TEXT                      a text of main.sf.hcl, in which \n stands for the end of a line, and
//	+ TEXT                      what takes its place
//	before                      what was swapped so far is applied before the edit
//	delete FOLDER               another writer deletes the rows of a Delta table before the edit
//	append FOLDER               another writer adds to a Delta table the rows it has once more
//	optimize FOLDER             another writer only rearranges its files
//	form N                      keyed data has the form of another version
//	held                        clicks has held its rows from the start
//	older                       the record is of a version whose compiler wrote plans in another way
//	file NAME TEXT              writes a file; without a text, removes it
//	args ARG…                   of plan
//	want ADDRESS CLASS: PART    a change, and a part of its reason
//	gets ADDRESS                receives a difference
//	error PART                  of a plan that is blocked
//	kept STREAM                 goes on with the rows of its former query
//	clicks FILE…                the files that clicks has read, without the next one
//	feed FILE                   where the next one is put
//	later FOLDER                a sink that was given the rows of valid from the next file, and no others
//	planned                     the edit is only planned
//	no sinks                    the rows of sinks are not looked at
func readEdits(t *testing.T) []*edit {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "edits", "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	var out []*edit
	for _, name := range names {
		f, err := os.Open(name)
		require.NoError(t, err)
		defer f.Close()
		lines := bufio.NewScanner(f)
		for n := 1; lines.Scan(); n++ {
			line := strings.TrimRight(lines.Text(), " ")
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if head, ok := strings.CutPrefix(line, "== "); ok {
				fields := strings.SplitN(head, " ", 3)
				require.Len(t, fields, 3, "%s:%d", name, n)
				out = append(out, &edit{number: fields[0], class: plan.Class(fields[1]), title: fields[2], files: map[string]string{}, wants: map[string]string{}})
				continue
			}
			require.NotEmpty(t, out, "%s:%d: no row has begun", name, n)
			require.True(t, out[len(out)-1].read(line), "%s:%d: %s", name, n, line)
		}
		require.NoError(t, lines.Err())
	}
	return out
}

// read takes in one line of a row.
func (e *edit) read(line string) bool {
	if e.class == "pending" {
		e.pending = line
		return true
	}
	word, rest, _ := strings.Cut(line, " ")
	text := strings.ReplaceAll(rest, `\n`, "\n")
	switch word {
	case "-":
		e.swaps = append(e.swaps, [2]string{text})
	case "+":
		e.swaps[len(e.swaps)-1][1] = text
	case "before":
		e.before, e.swaps = e.swaps, nil
	case "form":
		e.form = rest
	case "held":
		e.held = true
	case "older":
		e.older = true
	case "delete", "append", "optimize":
		e.foreign = append(e.foreign, [2]string{word, rest})
	case "file":
		name, content, _ := strings.Cut(text, " ")
		e.files[name] = content
	case "args":
		e.args = strings.Fields(rest)
	case "want":
		address, want, _ := strings.Cut(rest, " ")
		e.wants[address] = want
	case "gets":
		e.gets = append(e.gets, rest)
	case "error":
		e.error = rest
	case "kept":
		e.rows.kept = append(e.rows.kept, rest)
	case "clicks":
		e.rows.clicks = rest
	case "feed":
		e.rows.feed = rest
	case "later":
		e.rows.later = rest
	case "planned":
		e.rows.planned = true
	case "no":
		e.rows.sinks = true
	default:
		return false
	}
	return true
}

// feed puts down one more file of each source.
func feed(t *testing.T, p *project, clicks string) {
	t.Helper()
	if clicks == "" {
		clicks = "clicks/c.json"
	}
	p.write(clicks, `{"user_id":1,"url":"/c","price":9.25,"ts":"2024-05-01 10:03:10"}
{"user_id":null,"url":"/c","price":1.00,"ts":"2024-05-01 10:03:11"}
{"user_id":107,"url":"/a","price":0.00,"ts":"2024-05-01 10:00:30"}
{"user_id":2,"url":"/b","price":3.50,"ts":"2024-05-01 10:06:01"}
`)
	p.write("user_events/c.json", `{"user_id":107,"name":"Zoe"}
{"user_id":2,"name":"Max"}
`)
}
