package rules

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// Table is the ```imports block of docs/architecture.md: what each room may import, and which room
// holds each large dependency.
type Table struct {
	rooms []room
	only  []holder
}

type room struct {
	pattern string   // a folder, or a folder and /*
	allowed []string // folders or patterns; "*" allows every room
	later   bool     // the room need not exist yet
}

type holder struct {
	dependency string   // part of an import path, such as hashicorp/hcl
	rooms      []string // folders; their subfolders hold it, too
}

// ParseTable finds the block in the document's text. A line reads
//
//	room < import import …          what a room may import of this module
//	room < import … (later)         the same for a room that need not exist yet
//	dependency only room room …     the rooms that may import a library
func ParseTable(doc string) (*Table, error) {
	_, rest, found := strings.Cut(doc, "```imports\n")
	if !found {
		return nil, fmt.Errorf("the document has no ```imports block")
	}
	block, _, _ := strings.Cut(rest, "```")
	table := &Table{}
	for _, line := range strings.Split(block, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := table.add(line); err != nil {
			return nil, err
		}
	}
	return table, nil
}

func (t *Table) add(line string) error {
	if name, list, ok := strings.Cut(line, "<"); ok {
		list, later := strings.CutSuffix(strings.TrimSpace(list), "(later)")
		t.rooms = append(t.rooms, room{pattern: strings.TrimSpace(name), allowed: strings.Fields(list), later: later})
		return nil
	}
	fields := strings.Fields(line)
	if len(fields) < 3 || fields[1] != "only" {
		return fmt.Errorf("the import table has a line that is neither `room < …` nor `dependency only …`: %q", line)
	}
	t.only = append(t.only, holder{dependency: fields[0], rooms: fields[2:]})
	return nil
}

// room returns the most exact line that speaks of a folder.
func (t *Table) room(dir string) *room {
	var best *room
	for i := range t.rooms {
		r := &t.rooms[i]
		if r.pattern == dir {
			return r
		}
		if matches(r.pattern, dir) && (best == nil || len(r.pattern) > len(best.pattern)) {
			best = r
		}
	}
	return best
}

func matches(pattern, dir string) bool {
	prefix, wild := strings.CutSuffix(pattern, "*")
	return pattern == dir || wild && strings.HasPrefix(dir, prefix)
}

// Check compares what the packages import, tests aside, with the table.
func (t *Table) Check(tree *Tree) []Breach {
	var out []Breach
	for _, p := range tree.Packages {
		out = append(out, t.checkPackage(tree, p)...)
	}
	return append(out, t.missing(tree)...)
}

func (t *Table) checkPackage(tree *Tree, p *Package) []Breach {
	var out []Breach
	r := t.room(p.Dir)
	if r == nil {
		return []Breach{{p.Dir, "is not in the import table of docs/architecture.md; add a line, and a decision if it changes a border"}}
	}
	for _, f := range p.Files {
		if f.Test {
			continue
		}
		for _, spec := range f.AST.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue
			}
			if text := t.refuse(tree, p.Dir, r, imported); text != "" {
				out = append(out, Breach{tree.place(spec.Pos()), text})
			}
		}
	}
	return out
}

// refuse says why a folder may not import something; empty when it may.
func (t *Table) refuse(tree *Tree, dir string, r *room, imported string) string {
	if inner, ours := strings.CutPrefix(imported, tree.Module+"/"); ours {
		for _, a := range r.allowed {
			if matches(a, inner) {
				return ""
			}
		}
		return fmt.Sprintf("%s may not import %s: imports go downwards only, see docs/architecture.md", dir, inner)
	}
	for _, h := range t.only {
		if strings.Contains(imported, h.dependency) && !h.holds(dir) {
			return fmt.Sprintf("%s may not import %s: only %s does", dir, imported, strings.Join(h.rooms, " and "))
		}
	}
	return ""
}

func (h holder) holds(dir string) bool {
	for _, r := range h.rooms {
		if dir == r || strings.HasPrefix(dir, r+"/") {
			return true
		}
	}
	return false
}

// missing reports lines of the table that no folder answers to.
func (t *Table) missing(tree *Tree) []Breach {
	var out []Breach
	for _, r := range t.rooms {
		found := r.later
		for _, p := range tree.Packages {
			found = found || matches(r.pattern, p.Dir)
		}
		if !found {
			out = append(out, Breach{path.Clean(r.pattern), "is in the import table but not in the tree; remove the line or mark it (later)"})
		}
	}
	return out
}
