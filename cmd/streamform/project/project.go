// Package project is one configuration folder at work: it loads, binds, plans, applies, runs and queries by joining the rooms below.
package project

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/cmd/streamform/control"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/graph/plan/saved"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host"
	"github.com/streamform/streamform/runtime/host/engines"
	"github.com/streamform/streamform/runtime/kinds"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/store"
	"github.com/streamform/streamform/state/local"
)

// Options say how a folder is worked on. The folder is the working directory.
type Options struct {
	Version   string              // streamform's
	Env       func(string) string // looks up an environment variable
	Environ   []string            // all of them, NAME=value
	Vars      []lang.VarInput     // values of input variables, in the order of the command line
	StatePath string              // file of the recorded state; empty: as the backend says
	Console   func(line string)   // where sink.console prints
	Looks     bool                // the command changes nothing, so the runtime is opened to be read
	Host      *host.Host          // the runtime of this folder, which somebody else has opened and closes; nil: it is opened when it is needed
	// Holding is told that no other process can open the runtime from now on, before it is opened; nil: nobody is.
	Holding func()
	// Retrying is told of failures of the machine that are tried again.
	Retrying func(pipeline string, err error, in time.Duration)
	// Stopped is told of a pipeline that failed for good while others go on.
	Stopped func(pipeline string, err error)
}

// Project is an opened folder. What a call needs (configuration, recorded state,
// compiler, runtime) is opened when it is first needed and kept until Close. It is used by one goroutine.
type Project struct {
	o        Options
	defs     []connector.Definition
	config   *lang.Config
	loaded   diag.Diagnostics  // of loading config, not told yet
	files    map[string][]byte // for snippets; also of texts that are in no file
	store    *local.Store
	lockID   string // of the lock that is held; empty: none
	saved    *saved.File
	compiler *query.Compiler
	host     *host.Host
	extents  map[addr.Resource]plan.Extent // what sampled sources hold

	hostLock   sync.Mutex // bind samples two sources at once
	scratch    *host.Host // a runtime for looking at sources only; nil: none yet
	scratchDir string
}

// New prepares a project. It opens nothing.
func New(o Options) *Project {
	return &Project{o: o, host: o.Host, defs: kinds.All(), files: map[string][]byte{}, extents: map[addr.Resource]plan.Extent{}}
}

// Close frees what was opened. The recorded state must have been unlocked.
func (p *Project) Close() error {
	var errs []error
	if p.host != nil && p.host != p.o.Host {
		errs = append(errs, p.host.Close())
	}
	if p.scratch != nil {
		errs = append(errs, p.scratch.Close(), os.RemoveAll(p.scratchDir))
	}
	if p.compiler != nil {
		errs = append(errs, p.compiler.Close())
	}
	p.host, p.scratch, p.compiler = nil, nil, nil
	return errors.Join(errs...)
}

// Kind finds a kind by its name.
func (p *Project) Kind(name string) (schema.Kind, bool) {
	for _, k := range p.kinds() {
		if k.Name() == name {
			return k, true
		}
	}
	return schema.Kind{}, false
}

func (p *Project) kinds() []schema.Kind {
	out := make([]schema.Kind, len(p.defs))
	for i, d := range p.defs {
		out[i] = d.Kind
	}
	return out
}

func (p *Project) definition(kind string) (connector.Definition, bool) {
	for _, d := range p.defs {
		if d.Kind.Name() == kind {
			return d, true
		}
	}
	return connector.Definition{}, false
}

// Files are the texts that findings point into, by the name the findings use.
func (p *Project) Files() map[string][]byte {
	all := maps.Clone(p.files)
	if p.config != nil {
		maps.Copy(all, p.config.Files)
	}
	return all
}

// DataDir is the folder of everything streamform keeps beside the recorded state.
func (p *Project) DataDir() string { return dataDir(p.o.Env) }

func dataDir(env func(string) string) string {
	if dir := env("STREAMFORM_DATA_DIR"); dir != "" {
		return dir
	}
	return ".streamform"
}

// runtimeDir is the folder of the embedded runtime.
func (p *Project) runtimeDir() string { return runtimeDir(p.o.Env) }

func runtimeDir(env func(string) string) string { return filepath.Join(dataDir(env), "runtime") }

// ControlPath is where the process that runs this folder's pipelines listens.
func ControlPath(env func(string) string) string { return control.Path(runtimeDir(env)) }

// openCompiler starts the compiler, which needs no data.
func (p *Project) openCompiler(ctx context.Context) (*query.Compiler, error) {
	if p.compiler == nil {
		c, err := query.NewCompiler(ctx, compilerWorkers)
		if err != nil {
			return nil, fmt.Errorf("starting the SQL compiler: %w", err)
		}
		p.compiler = c
	}
	return p.compiler, nil
}

// compilerWorkers is how many queries bind compiles at once.
const compilerWorkers = 2

// openHost opens the runtime of this folder, or makes it.
func (p *Project) openHost(ctx context.Context) (*host.Host, error) {
	if p.host == nil {
		if err := os.MkdirAll(p.DataDir(), 0o700); err != nil {
			return nil, fmt.Errorf("making the data directory: %w", err)
		}
		memory := p.memory()
		if memory == 0 {
			memory = engines.DefaultMemory()
		}
		debug.SetMemoryLimit(engines.HeapLimit(memory)) // keyed data and rows on their way are in Go's heap
		h, err := p.newHost(ctx, p.runtimeDir(), p.o.Holding)
		if err != nil {
			return nil, fmt.Errorf("opening the runtime: %w", err)
		}
		p.host = h
	}
	return p.host, nil
}

func (p *Project) newHost(ctx context.Context, dir string, locked func()) (*host.Host, error) {
	env, err := p.env()
	if err != nil {
		return nil, err
	}
	return host.Open(ctx, host.Options{DataDir: dir, ProjectDir: env.Dir, Definitions: p.defs, Version: p.o.Version, Memory: p.memory(), Out: env.Out,
		Store: store.Options{ReadOnly: p.o.Looks, Locked: locked}, Retrying: p.o.Retrying, Stopped: p.o.Stopped})
}

// memory is what the runtime block allows, in bytes; 0 when it does not say.
func (p *Project) memory() int64 {
	p.loadForRanges()
	v := p.config.Settings.Runtime.Value
	if v == cty.NilVal || v.IsNull() || !v.Type().HasAttribute("memory") {
		return 0
	}
	size, err := schema.ParseSize(v.GetAttr("memory").AsString())
	if err != nil {
		return 0 // loading has told
	}
	return int64(size)
}

// env is what connectors that are opened here may know; nothing is staged.
func (p *Project) env() (connector.Env, error) {
	here, err := os.Getwd()
	if err != nil {
		return connector.Env{}, fmt.Errorf("finding the working directory: %w", err)
	}
	return connector.Env{Dir: here, Version: p.o.Version, Now: time.Now, Out: p.o.Console}, nil
}
