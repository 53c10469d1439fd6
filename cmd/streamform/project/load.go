package project

import (
	"fmt"
	"path/filepath"

	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/state/local"
)

// load reads the configuration, once. Mistakes are told to every caller, warnings to the first.
func (p *Project) load() diag.Diagnostics {
	p.loadForRanges()
	ds := p.loaded
	if ds.Failed() {
		return ds
	}
	p.loaded = nil
	return append(ds, p.settings()...)
}

func (p *Project) langOptions() lang.Options {
	return lang.Options{Kinds: p.kinds(), Vars: p.o.Vars, Env: p.o.Environ, Version: p.o.Version}
}

// loadForRanges reads the configuration so that findings can point into it; what is wrong with it is left for load to tell.
func (p *Project) loadForRanges() {
	if p.config == nil {
		p.config, p.loaded = lang.Load(".", p.langOptions())
	}
}

// settings refuses backends and runtimes that this version does not have.
func (p *Project) settings() diag.Diagnostics {
	var ds diag.Diagnostics
	s := p.config.Settings
	if s.Backend.Type != "" && s.Backend.Type != "local" {
		ds = append(ds, unsupported(s.Backend, "backend", "local"))
	}
	if s.Runtime.Type != "" && s.Runtime.Type != "embedded" {
		ds = append(ds, unsupported(s.Runtime, "runtime", "embedded"))
	}
	return ds
}

func unsupported(ref lang.BackendRef, what, have string) diag.Diagnostic {
	at := ref.Range
	return diag.NewError(&at, "Unsupported "+what, fmt.Sprintf("This version of streamform has no %s %q; it has %q.", what, ref.Type, have))
}

// backendPath is the file of the recorded state that the backend block names. The block is all
// that is needed of the configuration, so that other mistakes in it do not matter.
func (p *Project) backendPath() (string, diag.Diagnostics) {
	p.loadForRanges()
	if ds := p.settings(); ds.Failed() {
		return "", ds
	}
	path := local.DefaultName
	v := p.config.Settings.Backend.Value
	if v != cty.NilVal && !v.IsNull() && v.Type().HasAttribute("path") {
		if text := v.GetAttr("path"); !text.IsNull() && text.Type() == cty.String {
			path = text.AsString()
		}
	}
	return filepath.Clean(path), nil
}
