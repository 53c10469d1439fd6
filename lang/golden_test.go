package lang_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/diag"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

func updateFlag() bool { return flag.Lookup("update").Value.String() == "true" }

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write what was found as what is wanted")
	os.Exit(m.Run())
}

// Each file of testdata/load is a folder of files with a comment that holds options
// (var, var-file, env, version; one a line), and a file "want" that holds a summary of the
// Config and the diagnostics as people see them.
func TestLoadGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/load/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			require.NoError(t, err)
			dir, want := t.TempDir(), -1
			for i, f := range archive.Files {
				if f.Name == "want" {
					want = i
					continue
				}
				full := filepath.Join(dir, f.Name)
				require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o700))
				require.NoError(t, os.WriteFile(full, f.Data, 0o600))
			}
			cfg, ds := lang.Load(".", options(t, dir, string(archive.Comment)))
			var b strings.Builder
			summary(t, &b, cfg, ds)
			got := strings.ReplaceAll(b.String(), dir, "DIR")
			if updateFlag() {
				if want < 0 {
					archive.Files, want = append(archive.Files, txtar.File{Name: "want"}), len(archive.Files)
				}
				archive.Files[want].Data = []byte(got)
				require.NoError(t, os.WriteFile(path, txtar.Format(archive), 0o600))
				return
			}
			require.GreaterOrEqual(t, want, 0, "no section want; run with -update and read what it says")
			require.Equal(t, string(archive.Files[want].Data), got)
		})
	}
}

func options(t *testing.T, dir, comment string) lang.Options {
	t.Helper()
	o := lang.Options{Kinds: kinds(), WorkDir: dir, Version: "0.1.0"}
	for _, line := range strings.Split(comment, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "var":
			in, err := lang.ParseVar(rest)
			require.NoError(t, err)
			o.Vars = append(o.Vars, in)
		case "var-file":
			o.Vars = append(o.Vars, lang.VarInput{File: rest})
		case "env":
			o.Env = append(o.Env, rest)
		case "version":
			o.Version = rest
		}
	}
	return o
}

// summary prints what a Config holds, unless there are errors, then the diagnostics.
func summary(t *testing.T, b *strings.Builder, cfg *lang.Config, ds diag.Diagnostics) {
	t.Helper()
	if !ds.Failed() {
		for _, v := range cfg.Variables {
			fmt.Fprintf(b, "var.%s = %s", v.Name, text(t, v.Value))
			if v.Sensitive {
				b.WriteString(" (sensitive)")
			}
			b.WriteString("\n")
		}
		if cfg.Settings.Backend.Range.Filename != "" {
			fmt.Fprintf(b, "backend %s %s\n", cfg.Settings.Backend.Type, text(t, cfg.Settings.Backend.Value))
		}
		if v := cfg.Settings.Runtime.Value; v.LengthInt() > 0 {
			fmt.Fprintf(b, "runtime %s %s\n", cfg.Settings.Runtime.Type, text(t, v))
		}
		for _, r := range cfg.Resources {
			summarize(t, b, r)
		}
		for _, o := range cfg.Outputs {
			fmt.Fprintf(b, "output.%s = %s sensitive=%t %q\n", o.Name, text(t, o.Value), o.Sensitive, o.Description)
		}
		for _, c := range cfg.Checks {
			for i, a := range c.Asserts {
				fmt.Fprintf(b, "check.%s[%d] holds=%t %s\n", c.Name, i, a.Holds, a.Message)
				if !a.Holds {
					ds = append(ds, a.Finding)
				}
			}
		}
		for _, m := range cfg.Moved {
			fmt.Fprintf(b, "moved %s -> %s at %s\n", m.From, m.To, m.Range)
		}
		for _, p := range cfg.Policies {
			fmt.Fprintf(b, "plan_policy.%s max_replay=%d protect_sinks=%t approval=%v applies_to=%v at %s\n", p.Name, p.MaxReplay, p.ProtectSinks, p.RequireApproval, p.AppliesTo, p.Range)
		}
	}
	require.NoError(t, diag.WriteText(b, ds, cfg.Files, diag.Options{}))
}

func summarize(t *testing.T, b *strings.Builder, r lang.Resource) {
	t.Helper()
	fmt.Fprintf(b, "%s at %s", r.Addr, r.Range)
	if r.Lifecycle.PreventDestroy {
		b.WriteString(" prevent_destroy")
	}
	if r.Lifecycle.PreventReplay {
		b.WriteString(" prevent_replay")
	}
	if r.Lifecycle.IgnoreAll || r.Lifecycle.IgnoreChanges != nil {
		fmt.Fprintf(b, " ignores %v all=%t", r.Lifecycle.IgnoreChanges, r.Lifecycle.IgnoreAll)
	}
	if by := r.Lifecycle.ReplaceTriggeredBy; by != nil {
		fmt.Fprintf(b, " replaced by %v", by)
	}
	b.WriteString("\n")
	attrs := r.Value.AsValueMap()
	names := make([]string, 0, len(attrs))
	for name := range attrs {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if attrs[name].IsNull() {
			continue
		}
		fmt.Fprintf(b, "  %s = %s", name, text(t, attrs[name]))
		for _, w := range r.Written {
			if w == name {
				fmt.Fprintf(b, " # %s", r.AttrRanges[name])
			}
		}
		b.WriteString("\n")
	}
	for _, ref := range r.Refs {
		fmt.Fprintf(b, "  ref %s -> %s %s at %s\n", ref.Attr, ref.To, ref.Side, ref.Range)
	}
	for _, s := range r.SQL {
		fmt.Fprintf(b, "  sql %s at %s\n", s.Attr, s.Locate(0, len(s.Text)))
	}
}

func text(t *testing.T, v cty.Value) string {
	t.Helper()
	data, err := ctyjson.Marshal(v, v.Type())
	require.NoError(t, err)
	return string(data)
}
