package project

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/diag"
)

// Ready is what Init found and made.
type Ready struct {
	Empty   bool   // there is no configuration in the folder
	State   string // file of the recorded state
	DataDir string
}

// Init checks the settings of the configuration and makes the data directory. Repeating it is harmless.
func (p *Project) Init(_ context.Context) (Ready, diag.Diagnostics, error) {
	found, err := filepath.Glob("*" + lang.Suffix)
	if err != nil {
		return Ready{}, nil, fmt.Errorf("looking for configuration files: %w", err)
	}
	if len(found) == 0 {
		return Ready{Empty: true}, nil, nil
	}
	path, ds := p.backendPath()
	if ds.Failed() {
		return Ready{}, ds, nil
	}
	if err := os.MkdirAll(p.DataDir(), 0o700); err != nil {
		return Ready{}, ds, fmt.Errorf("making the data directory: %w", err)
	}
	return Ready{State: path, DataDir: p.DataDir()}, ds, nil
}
