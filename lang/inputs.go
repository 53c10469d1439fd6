package lang

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	hcljson "github.com/hashicorp/hcl/v2/json"
	"github.com/streamform/streamform/lang/addr"
	"github.com/zclconf/go-cty/cty"
)

// VarInput is one -var or -var-file: either Name and Text, or File.
type VarInput struct {
	Name string
	Text string // as typed: a text for variables of a simple type, otherwise an HCL expression
	File string // path of a .sfvars or .sfvars.json file
}

// ParseVar reads the argument of -var, NAME=VALUE. The error is a sentence for the user.
func ParseVar(arg string) (VarInput, error) {
	name, text, ok := strings.Cut(arg, "=")
	name = strings.TrimSpace(name)
	switch {
	case !ok:
		return VarInput{}, fmt.Errorf("-var %q has no equals sign; write -var 'NAME=VALUE'", arg)
	case !addr.ValidName(name):
		return VarInput{}, errors.New("-var needs the name of a variable before the equals sign; write -var 'NAME=VALUE'")
	}
	return VarInput{Name: name, Text: text}, nil
}

// The prefixes of environment variables that set variables; the later one wins.
func envPrefixes() []string { return []string{"TF_VAR_", "STREAMFORM_VAR_"} }

// given is the value a variable gets from outside.
type given struct {
	expr   hcl.Expression // of a file; nil for text
	text   string
	origin string // -var, or the name of the environment variable
}

// place is where a value was written, or else where its variable is declared.
func (g *given) place(v *variable) *hcl.Range {
	if g.expr != nil {
		at := g.expr.Range()
		return &at
	}
	return &v.at
}

// givenValues collects values from the environment, files and flags, later ones
// winning, and reports names that are not declared: an error on the command line, a warning in a file,
// nothing in the environment.
func (l *loader) givenValues() map[string]*given {
	out := map[string]*given{}
	l.fromEnvironment(out)
	for _, path := range l.autoFiles() {
		l.fromFile(out, path, true)
	}
	for _, in := range l.o.Vars {
		if in.File != "" {
			l.fromFile(out, in.File, false)
			continue
		}
		if _, ok := l.variables[in.Name]; !ok {
			detail := fmt.Sprintf("A variable named %q was given with -var, but the configuration does not declare it.", in.Name)
			l.fail(nil, "Value for undeclared variable", detail+l.didYouMean(in.Name, sortedKeys(l.variables)))
			continue
		}
		out[in.Name] = &given{text: in.Text, origin: "-var"}
	}
	return out
}

func (l *loader) fromEnvironment(out map[string]*given) {
	for _, prefix := range envPrefixes() {
		for _, entry := range l.o.Env {
			name, text, _ := strings.Cut(entry, "=")
			variable, ok := strings.CutPrefix(name, prefix)
			if _, declared := l.variables[variable]; ok && declared {
				out[variable] = &given{text: text, origin: name}
			}
		}
	}
}

// autoFiles lists the variable files that are read without being named.
func (l *loader) autoFiles() []string {
	var fixed, auto []string
	for _, name := range []string{"streamform.sfvars", "streamform.sfvars.json"} {
		path := filepath.Join(l.dir, name)
		if _, err := os.Stat(l.absolute(path)); err == nil {
			fixed = append(fixed, path)
		}
	}
	entries, err := os.ReadDir(l.absolute(l.dir))
	if err != nil {
		return fixed // a folder that cannot be read was reported before
	}
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() && !ignoredName(name) && (strings.HasSuffix(name, ".auto.sfvars") || strings.HasSuffix(name, ".auto.sfvars.json")) {
			auto = append(auto, filepath.Join(l.dir, name))
		}
	}
	sort.Strings(auto)
	return append(fixed, auto...)
}

func (l *loader) fromFile(out map[string]*given, path string, auto bool) {
	src, err := os.ReadFile(l.absolute(path))
	if err != nil {
		how := "named with -var-file"
		if auto {
			how = "read automatically"
		}
		l.fail(nil, "Failed to read variables file", fmt.Sprintf("The file %s, %s, could not be read: %s.", path, how, errorText(err)))
		return
	}
	shown := l.display(path)
	l.sources[shown] = src
	parse := func(src []byte, name string) (*hcl.File, hcl.Diagnostics) {
		return hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	}
	if strings.HasSuffix(path, ".json") {
		parse = hcljson.Parse
	}
	file, diags := parse(src, shown)
	l.report(diags)
	if file == nil || file.Body == nil {
		return
	}
	attrs, diags := file.Body.JustAttributes()
	l.report(diags)
	for _, name := range sortedKeys(attrs) {
		attr := attrs[name]
		if _, ok := l.variables[name]; !ok {
			detail := fmt.Sprintf("The file sets %q, but the configuration does not declare a variable of that name.", name)
			l.warn(&attr.NameRange, "Value for undeclared variable", detail+l.didYouMean(name, sortedKeys(l.variables)))
			continue
		}
		out[name] = &given{expr: attr.Expr, origin: shown}
	}
}

// parseGiven turns what was given into a value of the variable's type.
func (l *loader) parseGiven(v *variable, in *given) (cty.Value, bool) {
	var got cty.Value
	switch {
	case in.expr != nil:
		value, diags := in.expr.Value(nil)
		if diags.HasErrors() {
			l.report(diags)
			return cty.DynamicVal, false
		}
		got = value
	case !v.typed || v.typ.IsPrimitiveType():
		got = cty.StringVal(in.text)
	default:
		value, ok := l.parseText(v, in)
		if !ok {
			return cty.DynamicVal, false
		}
		got = value
	}
	out, err := v.convert(got)
	if err != nil {
		detail := fmt.Sprintf("The value given for the variable %q (by %s) does not fit its type: %s.", v.name, in.origin, errorWithPath(err))
		l.fail(in.place(v), "Invalid value for input variable", detail)
		return cty.DynamicVal, false
	}
	return out, true
}

// parseText evaluates the text of -var or the environment as an HCL expression.
func (l *loader) parseText(v *variable, in *given) (cty.Value, bool) {
	name := "<value for var." + v.name + ">"
	l.sources[name] = []byte(in.text)
	expr, diags := hclsyntax.ParseExpression([]byte(in.text), name, hcl.InitialPos)
	if diags.HasErrors() {
		l.report(diags)
		return cty.DynamicVal, false
	}
	got, diags := expr.Value(nil)
	l.report(diags)
	return got, !diags.HasErrors()
}
