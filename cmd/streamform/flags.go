package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/streamform/streamform/lang"
)

// variableFlag collects -var and -var-file into one list, because their order on
// the command line decides which value wins.
type variableFlag struct {
	list *[]lang.VarInput
	file bool
}

func (f variableFlag) String() string { return "" }

func (f variableFlag) Type() string {
	if f.file {
		return "file"
	}
	return "name=value"
}

func (f variableFlag) Set(text string) error {
	input := lang.VarInput{File: text}
	if !f.file {
		var err error
		if input, err = lang.ParseVar(text); err != nil {
			return err
		}
	}
	*f.list = append(*f.list, input)
	return nil
}

// looks are the flags on how a command prints.
type looks struct {
	json, noColor, compactWarnings bool
}

func (l *looks) register(flags *pflag.FlagSet) {
	flags.BoolVar(&l.json, "json", false, "Prints JSON for programs instead of text")
	flags.BoolVar(&l.noColor, "no-color", false, "Prints without colors")
}

// locking are the flags on the state and its lock.
type locking struct {
	lock    bool
	timeout time.Duration
	state   string
}

func (l *locking) register(flags *pflag.FlagSet) {
	flags.BoolVar(&l.lock, "lock", true, "Does not lock the recorded state; dangerous when others work on the same state")
	flags.DurationVar(&l.timeout, "lock-timeout", 0, "Waits this `duration` for a lock that somebody else holds")
	l.registerState(flags)
}

func (l *locking) registerState(flags *pflag.FlagSet) {
	flags.StringVar(&l.state, "state", "", "Keeps the recorded state in this `file` instead of where the backend says")
}

// variables are the flags that give input variables their values.
type variables struct {
	vars []lang.VarInput
}

func (v *variables) register(flags *pflag.FlagSet) {
	flags.Var(variableFlag{list: &v.vars}, "var", "Sets one input variable; may be given several times")
	flags.Var(variableFlag{list: &v.vars, file: true}, "var-file", "Sets input variables from a file; may be given several times")
}

// planning are the flags of everything that makes a plan.
type planning struct {
	looks
	locking
	variables
	destroy, refreshOnly, refresh, input bool
	targets, replaces, excludes, allowed []string
}

func (p *planning) register(cmd *cobra.Command, env environment) {
	flags := cmd.Flags()
	p.looks.register(flags)
	p.locking.register(flags)
	p.variables.register(flags)
	flags.BoolVar(&p.compactWarnings, "compact-warnings", false, "Shows warnings as a list of their summaries, unless there are errors")
	flags.BoolVar(&p.refresh, "refresh", true, "Does not ask the runtime what really exists before planning")
	flags.BoolVar(&p.input, "input", inputAllowed(env), "Never asks; fails instead when an answer is needed")
	flags.StringArrayVar(&p.targets, "target", nil, "Plans only this `address` and what it needs; may be given several times")
	flags.StringArrayVar(&p.excludes, "exclude", nil, "Leaves this `address` out, and what depends on it; may be given several times")
	flags.StringArrayVar(&p.allowed, "allow", nil, "Lets through, this once, what a plan_policy denies of this `address`; may be given several times")
	flags.StringArrayVar(&p.replaces, "replace", nil, "Computes this `address` anew although nothing about it changed; may be given several times")
	accept(flags, "parallelism", "10")
}

// accept takes a flag that Terraform has and that has nothing to decide here, so that tools which drive Terraform need no change.
func accept(flags *pflag.FlagSet, name, value string) {
	flags.String(name, value, "Accepted for tools that drive Terraform; has no effect")
	flags.Lookup(name).Hidden = true
	if _, err := strconv.ParseBool(value); err == nil {
		flags.Lookup(name).NoOptDefVal = "true"
	}
}

// inputAllowed reads STREAMFORM_INPUT and TF_INPUT.
func inputAllowed(env environment) bool {
	for _, name := range []string{"STREAMFORM_INPUT", "TF_INPUT"} {
		if allowed, err := strconv.ParseBool(env(name)); err == nil && !allowed {
			return false
		}
	}
	return true
}

// automated reports whether a program reads the output, so that hints on what to type next are left out.
func automated(env environment) bool {
	for _, name := range []string{"STREAMFORM_IN_AUTOMATION", "TF_IN_AUTOMATION", "CI"} {
		if value := strings.ToLower(env(name)); value != "" && value != "false" && value != "0" {
			return true
		}
	}
	return false
}
