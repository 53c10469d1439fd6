package project

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/graph/plan/saved"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/state"
)

// Save writes a plan to a file for apply.
func (p *Project) Save(path string, made *plan.Plan) (diag.Diagnostics, error) {
	err := saved.Write(path, saved.File{Plan: made, Files: p.config.Files})
	var place *saved.Unwritable
	switch {
	case errors.As(err, &place):
		return diag.Diagnostics{diag.NewError(nil, "Failed to write the plan file", place.Error()+". Name a file in a folder that exists and can be written to.")}, nil
	case err != nil:
		return nil, fmt.Errorf("saving the plan: %w", err)
	}
	return nil, nil
}

// Saved is the plan that OpenSaved read; nil when there is none.
func (p *Project) Saved() *plan.Plan {
	if p.saved == nil {
		return nil
	}
	return p.saved.Plan
}

// OpenSaved reads a saved plan, to be given to Apply.
func (p *Project) OpenSaved(path string) (diag.Diagnostics, error) {
	read, err := saved.Read(path)
	var unusable *saved.Unusable
	switch {
	case errors.As(err, &unusable):
		return diag.Diagnostics{diag.NewError(nil, "Failed to read the saved plan", fmt.Sprintf("%s cannot be used as a saved plan: %s. Make a new one with: streamform plan -out=FILE", unusable.Path, unusable.Reason))}, nil
	case err != nil:
		return diag.Diagnostics{diag.NewError(nil, "Failed to read the given file", sentence(err.Error()))}, nil
	}
	p.saved, p.files = read, read.Files
	return nil, nil
}

// CheckSaved refuses a saved plan when the configuration was edited since it was made.
func (p *Project) CheckSaved() (diag.Diagnostics, error) {
	name, err := edited(p.saved.Files)
	if err != nil || name == "" {
		return nil, err
	}
	return diag.Diagnostics{staleFinding(fmt.Sprintf("The file %s has changed since the plan was made.", name))}, nil
}

// CheckVariables refuses values given beside a saved plan that are not those it was made with.
func (p *Project) CheckVariables() (diag.Diagnostics, error) {
	if len(p.o.Vars) == 0 {
		return nil, nil
	}
	named, file := map[string]bool{}, false
	for _, v := range p.o.Vars {
		named[v.Name], file = true, file || v.File != ""
	}
	config, _ := lang.Load(".", p.langOptions()) // variables that are not given here may be missing
	var ds diag.Diagnostics
	for _, v := range p.o.Vars {
		if v.File == "" && !slices.ContainsFunc(config.Variables, func(of lang.Variable) bool { return of.Name == v.Name }) {
			ds = append(ds, diag.NewError(nil, "Value for undeclared variable", fmt.Sprintf("A variable named %q was given with -var, but the configuration does not declare it.", v.Name)))
		}
	}
	for _, v := range config.Variables {
		if !file && !named[v.Name] || v.Value == cty.NilVal || v.Value.IsNull() || !v.Value.IsWhollyKnown() {
			continue
		}
		value, err := ctyjson.Marshal(v.Value, v.Value.Type())
		if err != nil {
			return ds, fmt.Errorf("comparing variable %s with the saved plan: %w", v.Name, err)
		}
		was, known := p.saved.Plan.Variables[v.Name]
		if known && was != state.Digest(p.saved.Plan.Lineage, value) {
			ds = append(ds, diag.NewError(nil, "Can't change variable when applying a saved plan", fmt.Sprintf("The variable %q has another value than when the plan was made. A saved plan holds the values of its time: leave the variable out, or make a new plan.", v.Name)))
		}
	}
	return ds, nil
}

// edited names a file that is not as it was; empty when all are. Files of variables are compared where they still
// are: their values are in the plan.
func edited(files map[string][]byte) (string, error) {
	present, err := filepath.Glob("*" + lang.Suffix)
	if err != nil {
		return "", fmt.Errorf("looking for configuration files: %w", err)
	}
	for _, name := range present {
		if _, known := files[name]; !known {
			return name, nil
		}
	}
	for name, was := range files {
		is, err := os.ReadFile(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if !strings.Contains(filepath.Base(name), ".sfvars") {
				return name, nil
			}
		case err != nil:
			return "", fmt.Errorf("reading a file of the configuration: %w", err)
		case !bytes.Equal(was, is):
			return name, nil
		}
	}
	return "", nil
}

// Inspect reads a file that is either a saved plan or recorded state; exactly one of them is returned unless ds failed.
func (p *Project) Inspect(path string) (*plan.Plan, *state.Document, diag.Diagnostics, error) {
	ds, err := p.OpenSaved(path)
	if err == nil && !ds.Failed() {
		return p.Saved(), nil, ds, nil
	}
	document, isState, err := stateFile(path)
	switch {
	case err != nil:
		more, err := findings(nil, err)
		return nil, nil, more, err
	case isState:
		return nil, document, nil, nil
	}
	return nil, nil, ds, nil
}
