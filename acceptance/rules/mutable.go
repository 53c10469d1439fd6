package rules

import (
	"fmt"
	"go/ast"
	"go/token"
)

// mutable reports package-level variables that some function changes, and those whose type only
// makes sense when they change (locks, atomics).
func mutable(tree *Tree, p *Package) []Breach {
	vars := map[string]*ast.Ident{}
	var out []Breach
	for _, f := range p.Files {
		for _, d := range f.AST.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, s := range gen.Specs {
				spec := s.(*ast.ValueSpec)
				for _, name := range spec.Names {
					if name.Name != "_" {
						vars[name.Name] = name
					}
				}
				if from := packageOf(spec.Type); from == "sync" || from == "atomic" {
					out = append(out, Breach{tree.place(spec.Pos()), fmt.Sprintf("%s is state shared by the whole process: put it in a struct", spec.Names[0].Name)})
				}
			}
		}
	}
	for _, f := range p.Files {
		out = append(out, changes(tree, f, vars)...)
	}
	return out
}

// changes finds the statements of a file that change one of the variables.
func changes(tree *Tree, f *File, vars map[string]*ast.Ident) []Breach {
	var out []Breach
	flag := func(e ast.Expr) {
		id := root(e)
		if id == nil || vars[id.Name] == nil || local(id, vars[id.Name]) {
			return
		}
		out = append(out, Breach{tree.place(e.Pos()), fmt.Sprintf("package-level variable %s is changed here: pass a value, or put it in a struct", id.Name)})
	}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, e := range n.Lhs {
					flag(e)
				}
			}
		case *ast.IncDecStmt:
			flag(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				flag(n.X)
			}
		case *ast.CallExpr:
			if fn, ok := n.Fun.(*ast.Ident); ok && (fn.Name == "delete" || fn.Name == "clear") && len(n.Args) > 0 {
				flag(n.Args[0])
			}
		}
		return true
	})
	return out
}

// root is the variable that an assignable expression changes: x in x, x.f, x[i], *x.
func root(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return root(e.X)
	case *ast.IndexExpr:
		return root(e.X)
	case *ast.StarExpr:
		return root(e.X)
	case *ast.ParenExpr:
		return root(e.X)
	}
	return nil
}

// local reports whether a name was declared inside a function: the parser resolves names within
// their file, so a use that resolves to anything but the package-level name is local.
func local(use, declared *ast.Ident) bool {
	return use.Obj != nil && use.Obj != declared.Obj
}

// packageOf is the package in a type such as sync.Mutex; empty for other types.
func packageOf(e ast.Expr) string {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if id, ok := sel.X.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}
