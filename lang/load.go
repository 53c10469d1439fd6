package lang

import (
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/lang/function"
	"github.com/streamform/streamform/lang/literal"
	"github.com/streamform/streamform/lang/schema"
	"github.com/zclconf/go-cty/cty"
)

// Suffix ends the names of configuration files.
const Suffix = ".sf.hcl"

// Options say how a folder is loaded.
type Options struct {
	Kinds   []schema.Kind // everything that can be declared
	Vars    []VarInput    // -var and -var-file, in the order of the command line
	Env     []string      // NAME=value; STREAMFORM_VAR_x and TF_VAR_x set variables
	WorkDir string        // the working directory; empty: the process's
	Version string        // streamform's own, for required_version; empty: not checked
}

// Load reads the *.sf.hcl files of one folder and evaluates them. All mistakes of all
// files are reported together; syntax errors come first, alone. The Config is complete only when no diagnostic is an
// error; otherwise it holds what could be read. It is never nil and always has Files, so that diagnostics can be shown.
func Load(dir string, o Options) (*Config, diag.Diagnostics) {
	l := newLoader(dir, o)
	l.parseFolder()
	syntax := slices.Clip(l.diags)
	l.declare()
	l.setVariables()
	l.evaluate()
	switch {
	case l.garbled: // what is missing because of a syntax error would be reported as missing
		l.diags = syntax
	case l.settings.mismatch != nil: // the rest would be about another version's language
		l.diags = diag.Diagnostics{*l.settings.mismatch}
	}
	return l.config(), l.sortedDiags()
}

// loader holds one load. Nothing in it outlives Load but what the Config takes.
type loader struct {
	o       Options
	dir     string // as given, cleaned
	workDir string
	reader  *function.Files

	parsed  map[string]*hcl.File // by display name
	sources map[string][]byte    // text of everything read, by display name
	texts   map[string]*literal.Source
	order   []string // configuration files, sorted
	diags   diag.Diagnostics

	shapes    map[string]*shape // by kind name
	variables map[string]*variable
	locals    map[string]*local
	outputs   map[string]*output
	blocks    map[addr.Resource]*block    // by address without key
	resources map[addr.Resource]*declared // every instance
	faulty    map[addr.Resource]bool      // blocks whose header was refused; references to them are not reported again
	settings  settingsDecl
	named     map[string][]namedBlock // check and plan_policy blocks
	checks    []Check
	policies  []Policy
	moved     []Move
	ctx       *hcl.EvalContext                 // of the expression at hand
	meanings  map[reading]map[string]cty.Value // of references; nil until blocks have instances
	reading   reading
	garbled   bool // a file has syntax errors
	trusting  bool // references to resources are taken as declared
	suggested int  // suggestions made, which are bounded
}

func newLoader(dir string, o Options) *loader {
	workDir := o.WorkDir
	if workDir == "" {
		workDir, _ = os.Getwd() // relative paths then fail one by one, with their names
	}
	return &loader{
		o: o, dir: filepath.Clean(dir), workDir: workDir, reader: function.NewFiles(workDir),
		parsed: map[string]*hcl.File{}, sources: map[string][]byte{}, texts: map[string]*literal.Source{},
		shapes: map[string]*shape{}, variables: map[string]*variable{}, locals: map[string]*local{},
		outputs: map[string]*output{}, blocks: map[addr.Resource]*block{}, resources: map[addr.Resource]*declared{}, faulty: map[addr.Resource]bool{},
		settings: settingsDecl{Settings: defaultSettings()}, named: map[string][]namedBlock{},
	}
}

// absolute turns a path a person gave on the command line into one that can be opened.
func (l *loader) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(l.workDir, path)
}

// display is the name diagnostics use for a file: relative to the working directory where that is shorter.
func (l *loader) display(path string) string {
	full := l.absolute(path)
	if rel, err := filepath.Rel(l.workDir, full); err == nil && len(rel) < len(full) {
		return filepath.ToSlash(rel)
	}
	return filepath.ToSlash(full)
}

// moduleDir is path.module: the configuration's folder, relative to the working directory where that is shorter.
func (l *loader) moduleDir() string { return l.display(l.dir) }

func (l *loader) parseFolder() {
	names, ok := l.configFiles()
	if !ok {
		return
	}
	for _, name := range names {
		path := filepath.Join(l.dir, name)
		src, err := os.ReadFile(l.absolute(path))
		if err != nil {
			l.fail(nil, "Failed to read file", "The configuration file "+l.display(path)+" could not be read: "+err.Error()+".")
			continue
		}
		l.parse(l.display(path), src)
	}
}

func (l *loader) parse(shown string, src []byte) {
	l.sources[shown] = src
	file, diags := (*hcl.File)(nil), diag.NotText(shown, src)
	if diags == nil {
		file, diags = hclsyntax.ParseConfig(src, shown, hcl.InitialPos)
	}
	if file != nil {
		l.parsed[shown] = file
		l.order = append(l.order, shown)
	}
	l.report(diag.Causes(diags))
	l.garbled = l.garbled || diags.HasErrors()
}

// CheckExample loads the example of a kind, for tests of kinds: it must declare a
// resource of the kind without mistakes. What it refers to need not be declared.
func CheckExample(k schema.Kind, kinds []schema.Kind) diag.Diagnostics {
	l := newLoader(".", Options{Kinds: kinds})
	l.trusting = true
	l.parse(k.Name(), []byte(k.Example))
	l.declare()
	l.setVariables()
	l.evaluate()
	found := false
	for a := range l.resources {
		found = found || a.Block == k.Block && a.Type == k.Type
	}
	if !found {
		l.fail(nil, "No such resource", "The example of "+k.Name()+" declares no resource of that kind.")
	}
	return l.sortedDiags()
}

// configFiles lists the configuration files of the folder in the order they are read.
func (l *loader) configFiles() ([]string, bool) {
	entries, err := os.ReadDir(l.absolute(l.dir))
	if err != nil {
		l.fail(nil, "Failed to read the configuration's folder", "The folder "+l.display(l.dir)+" could not be read: "+errorText(err)+".")
		return nil, false
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || ignoredName(name) {
			continue
		}
		switch {
		case strings.HasSuffix(name, ".sf.json"):
			l.fail(nil, "JSON configuration is not supported in this version", "The file "+l.display(filepath.Join(l.dir, name))+" would not be read. Write it as HCL, in a file that ends in "+Suffix+".")
		case name == "override"+Suffix || strings.HasSuffix(name, "_override"+Suffix):
			l.fail(nil, "Override files are not supported in this version", "The file "+l.display(filepath.Join(l.dir, name))+" would not override anything. Rename it, or move its settings into the blocks they are for.")
		case strings.HasSuffix(name, Suffix):
			names = append(names, name)
		}
	}
	if len(names) == 0 && !l.diags.Failed() {
		l.fail(nil, "No configuration files", "The folder "+l.display(l.dir)+" contains no file that ends in "+Suffix+". Change to the folder that does, or name it with -chdir=DIR.")
	}
	sort.Strings(names)
	return names, true
}

// ignoredName tells the temporary files of editors.
func ignoredName(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#")
}

func errorText(err error) string {
	switch {
	case os.IsNotExist(err):
		return "it does not exist"
	case os.IsPermission(err):
		return "permission denied"
	}
	return err.Error()
}

// config collects what was evaluated.
func (l *loader) config() *Config {
	cfg := &Config{Dir: l.absolute(l.dir), Files: l.sources, Settings: l.settings.Settings, Checks: l.checks, Policies: l.policies, Moved: l.moved, Repeated: map[addr.Resource]addr.Repetition{}}
	for a, b := range l.blocks {
		if b.Mode != addr.Once {
			cfg.Repeated[a] = b.Mode
		}
	}
	cfg.Resources = make([]Resource, 0, len(l.resources))
	for _, d := range l.resources {
		cfg.Resources = append(cfg.Resources, d.Resource)
	}
	sort.Slice(cfg.Resources, func(i, j int) bool { return cfg.Resources[i].Addr.Compare(cfg.Resources[j].Addr) < 0 })
	for _, o := range l.outputs {
		cfg.Outputs = append(cfg.Outputs, o.Output)
	}
	sort.Slice(cfg.Outputs, func(i, j int) bool { return cfg.Outputs[i].Name < cfg.Outputs[j].Name })
	for _, v := range l.variables {
		plain, _ := v.value.UnmarkDeep()
		cfg.Variables = append(cfg.Variables, Variable{Name: v.name, Value: plain, Sensitive: v.sensitive})
	}
	sort.Slice(cfg.Variables, func(i, j int) bool { return cfg.Variables[i].Name < cfg.Variables[j].Name })
	return cfg
}
