package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArguments(t *testing.T) {
	cases := map[string]struct {
		typed []string
		env   map[string]string
		want  []string
	}{
		"one dash":               {typed: []string{"plan", "-json"}, want: []string{"plan", "--json"}},
		"two dashes":             {typed: []string{"plan", "--json"}, want: []string{"plan", "--json"}},
		"value with equals":      {typed: []string{"plan", "-var=x=1"}, want: []string{"plan", "--var=x=1"}},
		"value apart":            {typed: []string{"plan", "-var", "x=1"}, want: []string{"plan", "--var", "x=1"}},
		"negative number":        {typed: []string{"plan", "-var=x", "-5"}, want: []string{"plan", "--var=x", "-5"}},
		"standard input":         {typed: []string{"fmt", "-"}, want: []string{"fmt", "-"}},
		"help":                   {typed: []string{"plan", "-h"}, want: []string{"plan", "-h"}},
		"behind two dashes":      {typed: []string{"query", "--", "-json"}, want: []string{"query", "--", "-json"}},
		"nothing":                {typed: nil, want: []string{}},
		"only a flag":            {typed: []string{"-help"}, want: []string{"--help"}},
		"flags of all commands":  {typed: []string{"plan", "-json"}, env: map[string]string{"STREAMFORM_CLI_ARGS": "-no-color"}, want: []string{"plan", "--no-color", "--json"}},
		"flags of one command":   {typed: []string{"plan"}, env: map[string]string{"STREAMFORM_CLI_ARGS_plan": `-var "x=a b"`}, want: []string{"plan", "--var", "x=a b"}},
		"of another":             {typed: []string{"apply"}, env: map[string]string{"STREAMFORM_CLI_ARGS_plan": "-json"}, want: []string{"apply"}},
		"command wins over all":  {typed: []string{"plan"}, env: map[string]string{"STREAMFORM_CLI_ARGS": "-lock=true", "STREAMFORM_CLI_ARGS_plan": "-lock=false"}, want: []string{"plan", "--lock=true", "--lock=false"}},
		"command of two words":   {typed: []string{"state", "list", "view.x"}, env: map[string]string{"STREAMFORM_CLI_ARGS_state_list": "-json"}, want: []string{"state", "list", "--json", "view.x"}},
		"command with a dash":    {typed: []string{"force-unlock", "id"}, env: map[string]string{"STREAMFORM_CLI_ARGS_force_unlock": "-force"}, want: []string{"force-unlock", "--force", "id"}},
		"group without command":  {typed: []string{"state"}, env: map[string]string{"STREAMFORM_CLI_ARGS_state": "-help"}, want: []string{"state", "--help"}},
		"global before command":  {typed: []string{"-help", "plan"}, env: map[string]string{"STREAMFORM_CLI_ARGS": "-json"}, want: []string{"--help", "plan", "--json"}},
		"positional in between":  {typed: []string{"apply", "p.plan", "-json"}, want: []string{"apply", "p.plan", "--json"}},
		"word after one command": {typed: []string{"output", "name"}, env: map[string]string{"STREAMFORM_CLI_ARGS_output": "-raw"}, want: []string{"output", "--raw", "name"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := arguments(c.typed, func(n string) string { return c.env[n] }, "state")
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestArgumentsUnclosedQuote(t *testing.T) {
	_, err := arguments([]string{"plan"}, func(n string) string {
		if n == "STREAMFORM_CLI_ARGS" {
			return `-var "x`
		}
		return ""
	})
	require.ErrorContains(t, err, "STREAMFORM_CLI_ARGS")
}

func TestChdir(t *testing.T) {
	cases := map[string]struct {
		typed []string
		dir   string
		rest  []string
		fails bool
	}{
		"none":            {typed: []string{"plan", "-json"}, rest: []string{"plan", "-json"}},
		"before":          {typed: []string{"-chdir=a/b", "plan"}, dir: "a/b", rest: []string{"plan"}},
		"two dashes":      {typed: []string{"--chdir=a", "plan"}, dir: "a", rest: []string{"plan"}},
		"behind":          {typed: []string{"plan", "-chdir=a"}, rest: []string{"plan", "-chdir=a"}},
		"without equals":  {typed: []string{"-chdir", "a", "plan"}, fails: true},
		"without a value": {typed: []string{"-chdir=", "plan"}, fails: true},
		"after help":      {typed: []string{"-help", "-chdir=a"}, dir: "a", rest: []string{"-help"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir, rest, found, err := chdir(c.typed)
			if c.fails {
				require.ErrorContains(t, err, "-chdir=DIR")
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.dir, dir)
			require.Equal(t, c.rest, rest)
			require.Equal(t, c.dir != "", found)
		})
	}
}

func FuzzArguments(f *testing.F) {
	f.Add("plan", "-json", "--")
	f.Add("state", "list", "-x=y")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		got, err := arguments([]string{a, b, c}, func(string) string { return "" }, "state")
		require.NoError(t, err)
		require.Len(t, got, 3)
		again, err := arguments(got, func(string) string { return "" }, "state")
		require.NoError(t, err)
		require.Equal(t, got, again, "parsing what was made long again changes nothing")
	})
}
