package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mattn/go-shellwords"
)

// environment looks up one environment variable; empty when it is not set.
type environment func(name string) string

// arguments turns what was typed into what cobra parses: long flags with one
// dash become flags with two, and the flags that STREAMFORM_CLI_ARGS and
// STREAMFORM_CLI_ARGS_command hold are put right behind the command. No command
// defines a shorthand flag, so that nothing else can begin with one dash.
// groups are the commands that have commands of their own.
func arguments(typed []string, env environment, groups ...string) ([]string, error) {
	args := normalize(typed)
	at := slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	if at < 0 {
		return args, nil
	}
	name := args[at]
	if slices.Contains(groups, name) && at+1 < len(args) && !strings.HasPrefix(args[at+1], "-") {
		at++
		name += "_" + args[at]
	}
	var extra []string
	for _, variable := range []string{"STREAMFORM_CLI_ARGS", "STREAMFORM_CLI_ARGS_" + strings.ReplaceAll(name, "-", "_")} {
		words, err := shellwords.Parse(env(variable))
		if err != nil {
			return nil, fmt.Errorf("reading the flags in %s: %w", variable, err)
		}
		extra = append(extra, words...)
	}
	return slices.Insert(args, at+1, normalize(extra)...), nil
}

// normalize gives long flags their second dash. Everything behind "--" is left
// alone, and so are negative numbers and "-", which means standard input.
func normalize(in []string) []string {
	out := make([]string, 0, len(in))
	for i, a := range in {
		if a == "--" {
			return append(out, in[i:]...)
		}
		if len(a) > 2 && a[0] == '-' && a[1] != '-' && (a[1] < '0' || a[1] > '9') {
			a = "-" + a
		}
		out = append(out, a)
	}
	return out
}

// chdir takes -chdir=DIR off the front of what was typed. found is false when it
// is not there; an error says how it is written.
func chdir(typed []string) (dir string, rest []string, found bool, err error) {
	for i, a := range typed {
		if !strings.HasPrefix(a, "-") {
			break
		}
		name, value, equals := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if name != "chdir" {
			continue
		}
		if !equals || value == "" {
			return "", nil, false, fmt.Errorf("the global option -chdir is written -chdir=DIR, before the command")
		}
		return value, slices.Delete(slices.Clone(typed), i, i+1), true, nil
	}
	return "", typed, false, nil
}
