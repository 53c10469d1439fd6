package acceptance

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs testdata/scripts/*.txtar on the real binary. Beside testscript's own verbs there are
//
//	streamform ARGS…            runs the binary; `! streamform` wants a failure
//	exit-code N ARGS…           runs the binary and wants this exit code
//	gen-events ROWS FILES DIR   writes seeded events as lines of JSON
//	duck SQL                    prints what DuckDB answers, as CSV
//	delta-rows DIR [SQL]        prints the rows of a Delta table, as CSV; SQL ends the statement after FROM
//	same-rows A B               compares two files of lines, whatever their order
//	replace FILE OLD NEW        edits a file
//	settle                      writes the last output to out.txt and err.txt, without what differs from run to run
func TestScripts(t *testing.T) {
	path := filepath.Dir(binary(t))
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "scripts"),
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", path+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("NO_COLOR", "1")
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"streamform": runBinary,
			"exit-code":  exitCode,
			"gen-events": generateEvents,
			"duck":       duck,
			"delta-rows": deltaRows,
			"same-rows":  sameRows,
			"replace":    replaceText,
			"settle":     settle,
		},
	})
}

func runBinary(ts *testscript.TestScript, neg bool, args []string) {
	err := ts.Exec("streamform", args...)
	switch {
	case err != nil && !neg:
		ts.Fatalf("streamform %s: %v", strings.Join(args, " "), err)
	case err == nil && neg:
		ts.Fatalf("streamform %s: succeeded unexpectedly", strings.Join(args, " "))
	}
	var ended *exec.ExitError
	if neg && (!errors.As(err, &ended) || ended.ExitCode() == 11) {
		ts.Fatalf("streamform %s: crashed: %v", strings.Join(args, " "), err)
	}
}

func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit-code N ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec("streamform", args[1:]...); err != nil {
		var ended *exec.ExitError
		if !errors.As(err, &ended) {
			ts.Fatalf("%v", err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Fatalf("streamform %s: exit code %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

func generateEvents(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: gen-events ROWS FILES DIR")
	}
	rows, err := strconv.Atoi(args[0])
	ts.Check(err)
	files, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(writeEvents(ts.MkAbs(args[2]), rows, files))
}

func duck(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: duck SQL")
	}
	text, err := duckCSV(ts.MkAbs("."), args[0])
	ts.Check(err)
	_, err = ts.Stdout().Write([]byte(text))
	ts.Check(err)
}

func deltaRows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: delta-rows DIR [SQL]")
	}
	scan, err := deltaScan(ts.MkAbs(args[0]))
	ts.Check(err)
	rest := "ORDER BY ALL"
	if len(args) == 2 {
		rest = args[1]
	}
	text, err := duckCSV(ts.MkAbs("."), "SELECT * FROM ("+scan+") "+rest)
	ts.Check(err)
	_, err = ts.Stdout().Write([]byte(text))
	ts.Check(err)
}

func sameRows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: same-rows A B")
	}
	a, b := sortedLines(ts.ReadFile(args[0])), sortedLines(ts.ReadFile(args[1]))
	if a != b {
		ts.Fatalf("%s and %s differ:\n%s\n---\n%s", args[0], args[1], a, b)
	}
}

// replaceText puts one text in the place of another everywhere in a file; \n in them is a line's end.
func replaceText(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	lines := strings.NewReplacer(`\n`, "\n")
	was, is := lines.Replace(args[1]), lines.Replace(args[2])
	if !strings.Contains(text, was) {
		ts.Fatalf("%s does not contain %q", args[0], was)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, was, is)), 0o644))
}

func settle(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: settle")
	}
	for from, to := range map[string]string{"stdout": "out.txt", "stderr": "err.txt"} {
		ts.Check(os.WriteFile(ts.MkAbs(to), []byte(steady(ts.MkAbs("."), ts.ReadFile(from))), 0o644))
	}
}
