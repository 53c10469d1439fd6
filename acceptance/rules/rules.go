// Package rules checks the house rules of a source tree: its import table, its budgets, and what no file may contain.
package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"sort"
	"strings"
)

// Breach is one place where the tree breaks a rule.
type Breach struct {
	Place string // a file and line, or a package
	Text  string // what is wrong, and what to do instead
}

func (b Breach) String() string { return b.Place + ": " + b.Text }

// Tree is the Go source of a module.
type Tree struct {
	Module   string // the module's path, such as example.org/thing
	Packages []*Package
	fset     *token.FileSet
}

// Package is the Go files of one folder.
type Package struct {
	Dir   string // relative to the module's root, with slashes; "." for the root
	Files []*File
}

// File is one parsed Go file.
type File struct {
	Path      string // relative to the module's root
	Test      bool
	Generated bool // by its header; budgets do not hold for it
	Lines     int
	AST       *ast.File
}

// Load parses every Go file below root. Folders that the go command ignores (testdata, names
// beginning with a dot or an underscore) are ignored here too, whatever their build tags.
func Load(root fs.FS, module string) (*Tree, error) {
	t := &Tree{Module: module, fset: token.NewFileSet()}
	byDir := map[string]*Package{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if ignored(name) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		f, err := t.parse(root, name)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		if byDir[dir] == nil {
			byDir[dir] = &Package{Dir: dir}
			t.Packages = append(t.Packages, byDir[dir])
		}
		byDir[dir].Files = append(byDir[dir].Files, f)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the source tree: %w", err)
	}
	sort.Slice(t.Packages, func(i, j int) bool { return t.Packages[i].Dir < t.Packages[j].Dir })
	return t, nil
}

func ignored(dir string) bool {
	base := path.Base(dir)
	return dir != "." && (base == "testdata" || base == "bin" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_"))
}

func (t *Tree) parse(root fs.FS, name string) (*File, error) {
	src, err := fs.ReadFile(root, name)
	if err != nil {
		return nil, err
	}
	parsed, err := parser.ParseFile(t.fset, name, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	return &File{
		Path:      name,
		Test:      strings.HasSuffix(name, "_test.go"),
		Generated: ast.IsGenerated(parsed),
		Lines:     strings.Count(string(src), "\n"),
		AST:       parsed,
	}, nil
}

// place names the file and line of a position.
func (t *Tree) place(pos token.Pos) string {
	p := t.fset.Position(pos)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}
