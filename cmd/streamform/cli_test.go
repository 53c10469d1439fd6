package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// invoke runs a command line inside the test, in a folder with the given files.
func invoke(t *testing.T, files map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	var out, errOut bytes.Buffer
	c := &cli{in: strings.NewReader(""), out: &out, errOut: &errOut, env: func(string) string { return "" }, environ: func() []string { return nil }, version: "0.1.0"}
	code = c.run(args)
	return code, out.String(), errOut.String()
}

func TestMisuse(t *testing.T) {
	cases := map[string]struct {
		args []string
		want string
	}{
		"unknown command":       {[]string{"foo"}, "streamform has no command named \"foo\". Did you mean \"fmt\"?"},
		"unknown, nothing near": {[]string{"xyzzyxyzzy"}, "streamform has no command named \"xyzzyxyzzy\".\n"},
		"unknown below a group": {[]string{"state", "lst"}, "streamform has no command named \"state lst\". Did you mean \"state list\"?"},
		"unknown flag":          {[]string{"plan", "-bogus"}, "Error: Failed to parse command-line flags\n\nflag provided but not defined: -bogus\n\nFor more help on using this command, run:\n  streamform plan -help\n"},
		"flag nearly right":     {[]string{"plan", "-target-x", "-no-colour"}, "flag provided but not defined: -target-x"},
		"flag with a typo":      {[]string{"plan", "-no-colour"}, "flag provided but not defined: -no-colour. Did you mean -no-color?"},
		"one letter":            {[]string{"plan", "-x"}, "flag provided but not defined: -x"},
		"flag without a value":  {[]string{"plan", "-out"}, "flag needs an argument: -out"},
		"wrong value":           {[]string{"plan", "-lock=maybe"}, "invalid value \"maybe\" for flag -lock"},
		"wrong variable":        {[]string{"plan", "-var", "x"}, "for flag -var"},
		"too many arguments":    {[]string{"plan", "extra"}, "Error: Too many command line arguments"},
		"too few arguments":     {[]string{"state", "mv", "view.a"}, "Error: Not enough command line arguments"},
		"chdir apart":           {[]string{"-chdir", "x", "plan"}, "-chdir=DIR"},
		"chdir to nowhere":      {[]string{"-chdir=nowhere", "plan"}, "Error handling -chdir option"},
		"nobody can approve":    {[]string{"apply"}, "Standard input is not a terminal"},
		"input off":             {[]string{"apply", "-input=false"}, "-input=false needs -auto-approve or a saved plan"},
		"input off by number":   {[]string{"destroy", "-input=0"}, "-input=false needs -auto-approve or a saved plan"},
		"json needs approval":   {[]string{"apply", "-json"}, "Error: Plan file or auto-approve required"},
		"destroy of a plan":     {[]string{"apply", "-destroy", "p.plan"}, "Mode of plan already decided"},
		"two formats":           {[]string{"query", "-csv", "-json", "SELECT 1"}, "-csv and -json cannot be given together"},
		"no query":              {[]string{"query"}, "One SELECT is needed"},
		"raw without a name":    {[]string{"output", "-raw"}, "-raw prints one output"},
		"unlock needs force":    {[]string{"force-unlock", "id"}, "Add -force"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := invoke(t, nil, c.args...)
			require.Equal(t, 1, code)
			require.Empty(t, stdout)
			require.Contains(t, stderr, c.want)
		})
	}
}

// TestEveryFlagSpelling sets the flags of every command in each way they can be typed, before and after the arguments.
func TestEveryFlagSpelling(t *testing.T) {
	var walk func(cmd *cobra.Command, path []string)
	count := 0
	walk = func(cmd *cobra.Command, path []string) {
		for _, child := range cmd.Commands() {
			walk(child, append(append([]string{}, path...), child.Name()))
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			require.Empty(t, f.Shorthand, "%v -%s", path, f.Name)
			value := map[string]string{"bool": "false", "duration": "1m", "name=value": "x=1"}[f.Value.Type()]
			if value == "" {
				value = "v"
			}
			spellings := [][]string{{"-" + f.Name + "=" + value}, {"--" + f.Name + "=" + value}}
			if f.Value.Type() != "bool" && f.NoOptDefVal == "" {
				spellings = append(spellings, []string{"-" + f.Name, value}, []string{"--" + f.Name, value})
			} else {
				spellings = append(spellings, []string{"-" + f.Name}, []string{"--" + f.Name})
			}
			for _, s := range spellings {
				for _, typed := range [][]string{append(append([]string{}, s...), "positional"), append([]string{"positional"}, s...)} {
					fresh := find(t, (&cli{env: func(string) string { return "" }}).root(), path)
					require.NoError(t, fresh.ParseFlags(normalize(typed)), "%v %v", path, typed)
					require.Equal(t, []string{"positional"}, fresh.Flags().Args(), "%v %v", path, typed)
					require.True(t, fresh.Flags().Changed(f.Name), "%v %v", path, typed)
					count++
				}
			}
		})
	}
	walk((&cli{env: func(string) string { return "" }}).root(), nil)
	require.Greater(t, count, 500)
}

func find(t *testing.T, root *cobra.Command, path []string) *cobra.Command {
	t.Helper()
	cmd, _, err := root.Find(path)
	require.NoError(t, err)
	return cmd
}

func TestRepeatedFlagsKeepTheirOrder(t *testing.T) {
	var p planning
	fresh := &cobra.Command{}
	p.register(fresh, func(string) string { return "" })
	require.NoError(t, fresh.ParseFlags(normalize([]string{"-var=a=1", "-var-file=f.sfvars", "-var", "b=2,3", "-target=view.a", "-target", "view.b,c"})))
	require.Len(t, p.vars, 3)
	require.Equal(t, "a", p.vars[0].Name)
	require.Equal(t, "f.sfvars", p.vars[1].File)
	require.Equal(t, "2,3", p.vars[2].Text, "commas do not split")
	require.Equal(t, []string{"view.a", "view.b,c"}, p.targets)
}

func TestInputFromTheEnvironment(t *testing.T) {
	for value, want := range map[string]bool{"": true, "1": true, "0": false, "false": false, "nonsense": true} {
		require.Equal(t, want, inputAllowed(func(n string) string { return map[string]string{"TF_INPUT": value}[n] }), "%q", value)
	}
	require.True(t, automated(func(n string) string { return map[string]string{"CI": "true"}[n] }))
	require.False(t, automated(func(n string) string { return map[string]string{"CI": "false"}[n] }))
	require.False(t, automated(func(string) string { return "" }))
}

func TestVersion(t *testing.T) {
	code, stdout, _ := invoke(t, nil, "version")
	require.Zero(t, code)
	require.Regexp(t, `^streamform v0\.1\.0\non \w+_\w+\n$`, stdout)
	for _, args := range [][]string{{"version", "-json"}, {"-version", "-json"}} {
		code, stdout, _ = invoke(t, nil, args...)
		require.Zero(t, code)
		var got tfjson.VersionOutput
		require.NoError(t, json.Unmarshal([]byte(stdout), &got))
		require.NotEmpty(t, got.Version)
		require.Contains(t, stdout, `"streamform_version": "0.1.0"`)
	}
}

func TestHelpShowsFlagsAsTheyAreTyped(t *testing.T) {
	code, stdout, _ := invoke(t, nil, "plan", "-help")
	require.Zero(t, code)
	require.Contains(t, stdout, "Usage: streamform plan [options]\n")
	require.Contains(t, stdout, "\n  -out=file ")
	require.Contains(t, stdout, "\n  -refresh=false ")
	require.NotContains(t, stdout, " --")
	require.NotContains(t, stdout, "parallelism", "flags without effect are not offered")
	code, stdout, _ = invoke(t, nil, "-help")
	require.Zero(t, code)
	require.Contains(t, stdout, "\n  plan ")
	require.Contains(t, stdout, "-chdir=DIR")
	code, _, stderr := invoke(t, nil)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "Main commands:")
	code, stdout, _ = invoke(t, nil, "help", "state", "mv")
	require.Zero(t, code)
	require.Contains(t, stdout, "Usage: streamform state mv [options] SOURCE DESTINATION\n")
}

func TestCompletionOffersTwoDashes(t *testing.T) {
	code, stdout, _ := invoke(t, nil, "completion", "bash")
	require.Zero(t, code)
	require.Contains(t, stdout, "__complete")
	code, stdout, _ = invoke(t, nil, "__complete", "plan", "--ou")
	require.Zero(t, code)
	require.Contains(t, stdout, "--out")
}

func TestCrashIsReported(t *testing.T) {
	var out bytes.Buffer
	require.Equal(t, exitCrash, guarded(&out, func() int { panic("broken promise") }))
	require.Contains(t, out.String(), "panic: broken promise")
	require.Equal(t, 3, guarded(&out, func() int { return 3 }))
}

// TestFirstInterrupt ends the context, so that the work in hand is finished in order.
func TestFirstInterrupt(t *testing.T) {
	var errOut bytes.Buffer
	s := &session{c: &cli{errOut: &errOut}}
	ctx, stop := s.interruptible(t.Context(), "Finishing the epochs in hand...")
	require.NoError(t, ctx.Err())
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the interrupt did not end the context")
	}
	stop()
	require.Contains(t, errOut.String(), "Interrupt received.\nFinishing the epochs in hand...\nGracefully shutting down...")
}

func TestFormat(t *testing.T) {
	const good, bad = "view \"x\" {\n  sql = \"SELECT 1\"\n}\n", "view \"x\" {\nsql=\"SELECT 1\"\n}\n"
	files := map[string]string{"good.sf.hcl": good, "bad.sf.hcl": bad, "below/worse.sf.hcl": bad, "vars.sfvars": "a=1\n", "other.txt": "a=1"}

	code, stdout, stderr := invoke(t, files, "fmt", "-check")
	require.Equal(t, 3, code, stderr)
	require.Equal(t, "bad.sf.hcl\nvars.sfvars\n", stdout)
	text, err := os.ReadFile("bad.sf.hcl")
	require.NoError(t, err)
	require.Equal(t, bad, string(text), "-check changes nothing")

	code, stdout, _ = invoke(t, files, "fmt", "-recursive", "-list=false")
	require.Zero(t, code)
	require.Empty(t, stdout)
	for _, name := range []string{"bad.sf.hcl", "below/worse.sf.hcl", "good.sf.hcl"} {
		text, err = os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, good, string(text), name)
	}

	code, stdout, _ = invoke(t, files, "fmt", "-check", "-diff", "bad.sf.hcl")
	require.Equal(t, 3, code)
	require.True(t, strings.HasPrefix(stdout, "bad.sf.hcl\n--- old/bad.sf.hcl\n+++ new/bad.sf.hcl\n@@"), stdout)

	code, _, stderr = invoke(t, map[string]string{"broken.sf.hcl": "view \"x\" {"}, "fmt")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "broken.sf.hcl line 1")
	code, _, stderr = invoke(t, files, "fmt", "nowhere")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "No file or directory")
	code, _, stderr = invoke(t, files, "fmt", "other.txt")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, ".sf.hcl")
}
