package files

import (
	"fmt"
	"path"
	"strings"
)

// meta are the characters that make a path a glob.
const meta = `*?[{`

// maxAlternatives bounds what the braces of one glob expand to.
const maxAlternatives = 1000

// globSet is a set of globs that is matched one path segment at a time, so that
// a walk carries the match down and never looks at a folder that cannot match.
type globSet struct {
	globs [][]string // segments of each
}

// place is a position inside one glob: the segments before next have matched.
type place struct{ glob, next int }

// parseGlobs reads globs whose segments are separated by slashes: * ? [a-z] inside a
// segment, ** for any number of folders, {a,b} for alternatives. The error is a sentence for the user.
func parseGlobs(patterns []string) (*globSet, error) {
	set := &globSet{}
	for _, p := range patterns {
		alternatives, err := expandBraces(p)
		if err != nil {
			return nil, fmt.Errorf("%q is not a valid glob: %w", p, err)
		}
		for _, alt := range alternatives {
			segments := strings.Split(strings.Trim(path.Clean("/"+alt), "/"), "/")
			for _, s := range segments {
				if _, err := path.Match(s, ""); err != nil {
					return nil, fmt.Errorf("%q is not a valid glob: a character class [...] is not closed, or is empty", p)
				}
			}
			set.globs = append(set.globs, segments)
		}
	}
	return set, nil
}

// expandBraces writes out every alternative of {a,b}; braces may nest.
func expandBraces(p string) ([]string, error) {
	open := strings.IndexByte(p, '{')
	if open < 0 {
		if strings.IndexByte(p, '}') >= 0 {
			return nil, fmt.Errorf("there is a } without a { before it")
		}
		return []string{p}, nil
	}
	options, rest, err := alternatives(p[open:])
	if err != nil {
		return nil, err
	}
	var out []string
	for _, option := range options {
		expanded, err := expandBraces(p[:open] + option + rest)
		if err != nil {
			return nil, err
		}
		if out = append(out, expanded...); len(out) > maxAlternatives {
			return nil, fmt.Errorf("its braces stand for more than %d alternatives", maxAlternatives)
		}
	}
	return out, nil
}

// alternatives splits text that begins with a brace into the options of that
// brace and what follows it.
func alternatives(s string) (options []string, rest string, err error) {
	depth, start := 0, 1
	for i, c := range s {
		switch {
		case c == '{':
			depth++
		case c == ',' && depth == 1:
			options = append(options, s[start:i])
			start = i + 1
		case c == '}':
			if depth--; depth == 0 {
				return append(options, s[start:i]), s[i+1:], nil
			}
		}
	}
	return nil, "", fmt.Errorf("a { is not closed")
}

// start is where every glob of the set begins.
func (g *globSet) start() []place {
	var at []place
	for i := range g.globs {
		at = g.enter(at, place{i, 0})
	}
	return at
}

// enter adds a place, and the places behind it that need no further segment.
func (g *globSet) enter(at []place, p place) []place {
	for _, have := range at {
		if have == p {
			return at
		}
	}
	at = append(at, p)
	if glob := g.globs[p.glob]; p.next < len(glob) && glob[p.next] == "**" {
		at = g.enter(at, place{p.glob, p.next + 1})
	}
	return at
}

// step takes one more segment. Matched reports whether some glob is complete
// with it; next is where deeper segments go on, empty when none can match.
func (g *globSet) step(at []place, segment string) (next []place, matched bool) {
	for _, p := range at {
		glob := g.globs[p.glob]
		if p.next == len(glob) {
			continue
		}
		if glob[p.next] == "**" {
			next = g.enter(next, p)
		} else if ok, err := path.Match(glob[p.next], segment); err == nil && ok {
			next = g.enter(next, place{p.glob, p.next + 1})
		}
	}
	for _, p := range next {
		matched = matched || p.next == len(g.globs[p.glob])
	}
	return next, matched
}
