package files

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// matches walks a path through a set of globs, as a listing does.
func (g *globSet) matches(name string) bool {
	at, matched := g.start(), false
	for _, segment := range strings.Split(name, "/") {
		at, matched = g.step(at, segment)
	}
	return matched
}

// slowly is the meaning of one glob without braces, by trying every way.
func slowly(glob, name []string) bool {
	switch {
	case len(glob) == 0:
		return len(name) == 0
	case glob[0] == "**":
		return slowly(glob[1:], name) || len(name) > 0 && slowly(glob, name[1:])
	case len(name) == 0:
		return false
	}
	ok, err := path.Match(glob[0], name[0])
	return err == nil && ok && slowly(glob[1:], name[1:])
}

func TestExpandBraces(t *testing.T) {
	for glob, want := range map[string][]string{
		"a":            {"a"},
		"{a,b}":        {"a", "b"},
		"x{a,{b,c}d}y": {"xay", "xbdy", "xcdy"},
		"{a,}{1,2}":    {"a1", "a2", "1", "2"},
		"{a/b,c}/d":    {"a/b/d", "c/d"},
	} {
		got, err := expandBraces(glob)
		require.NoError(t, err)
		require.Equal(t, want, got, glob)
	}
}

func FuzzGlobs(f *testing.F) {
	for _, seed := range [][2]string{{"**/a*", "x/y/ab"}, {"a/**/b/**", "a/b/c"}, {"{a,**}/[b-d]?", "q/cx"}, {"[", "["}, {"a}", "a"}, {"**/**", "a"}, {"", "a"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, glob, name string) {
		name = strings.Trim(path.Clean("/"+name), "/")
		if name == "" || len(name) > 60 || len(glob) > 60 {
			return
		}
		set, err := parseGlobs([]string{glob})
		if err != nil {
			return
		}
		want := false
		for _, g := range set.globs {
			want = want || slowly(g, strings.Split(name, "/"))
		}
		require.Equal(t, want, set.matches(name))
	})
}
