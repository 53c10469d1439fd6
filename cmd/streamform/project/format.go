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

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/diag"
)

// FormatRequest says which files Format is to look at.
type FormatRequest struct {
	Targets   []string // files and folders; empty: the working directory
	Recursive bool     // also folders below
	Write     bool     // changes the files
}

// Formatted is a text before and after formatting.
type Formatted struct {
	Name          string
	Before, After []byte
}

// Changed reports whether formatting made a difference.
func (f Formatted) Changed() bool { return !bytes.Equal(f.Before, f.After) }

// Diff is what formatting changes, as a unified diff.
func (f Formatted) Diff() string {
	return udiff.Unified("old/"+f.Name, "new/"+f.Name, string(f.Before), string(f.After))
}

// Format formats configuration files and returns those that were not in the canonical format.
func (p *Project) Format(r FormatRequest) ([]Formatted, diag.Diagnostics, error) {
	if len(r.Targets) == 0 {
		r.Targets = []string{"."}
	}
	var names []string
	var ds diag.Diagnostics
	for _, target := range r.Targets {
		found, wrong, err := formattable(target, r.Recursive)
		if err != nil {
			return nil, ds, err
		}
		names, ds = append(names, found...), append(ds, wrong...)
	}
	var changed []Formatted
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return changed, ds, fmt.Errorf("reading a file to format: %w", err)
		}
		f, wrong := p.FormatText(name, text)
		ds = append(ds, wrong...)
		if wrong.Failed() || !f.Changed() {
			continue
		}
		changed = append(changed, f)
		if r.Write {
			if err := overwrite(name, f.After); err != nil {
				return changed, ds, fmt.Errorf("writing a formatted file: %w", err)
			}
		}
	}
	return changed, ds, nil
}

// formattable lists the configuration files that a target stands for.
func formattable(target string, recursive bool) ([]string, diag.Diagnostics, error) {
	info, err := os.Stat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Diagnostics{diag.NewError(nil, "No file or directory", fmt.Sprintf("There is no file or directory at %s.", target))}, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("looking at %s: %w", target, err)
	}
	if !info.IsDir() {
		if !isConfiguration(target) {
			return nil, diag.Diagnostics{diag.NewError(nil, "Unsupported file extension", fmt.Sprintf("Only files that end in %s can be formatted, and %s does not.", strings.Join(configurationEndings(), ", "), target))}, nil
		}
		return []string{filepath.Clean(target)}, nil, nil
	}
	var names []string
	err = filepath.WalkDir(target, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != target && (!recursive || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !d.IsDir() && isConfiguration(path):
			names = append(names, path)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("listing %s: %w", target, err)
	}
	return names, nil, nil
}

func configurationEndings() []string { return []string{".sf.hcl", ".sfvars", ".sftest.hcl"} }

func isConfiguration(name string) bool {
	return slices.ContainsFunc(configurationEndings(), func(end string) bool { return strings.HasSuffix(name, end) })
}

// overwrite replaces a file's text, keeping its mode.
func overwrite(name string, text []byte) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, text, info.Mode().Perm())
}

// FormatText formats one text. Text that does not parse is left as it is.
func (p *Project) FormatText(name string, text []byte) (Formatted, diag.Diagnostics) {
	p.files[name] = text
	after, ds := lang.Format(text, name)
	return Formatted{Name: name, Before: text, After: after}, ds
}
