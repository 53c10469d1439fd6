package plan

import (
	"slices"
	"strings"

	"github.com/streamform/streamform/lang"
)

// trigger replaces what replace_triggered_by binds to something that changes, and reports whether that is new.
func (m *maker) trigger() bool {
	before := len(m.triggered)
	for _, a := range m.order {
		if !m.wanted(a) || m.prior[a] == nil || m.triggered[a] != "" {
			continue
		}
		for _, by := range m.config[a].Lifecycle.ReplaceTriggeredBy {
			if m.fires(by) {
				m.triggered[a] = "replace_triggered_by names " + by.String() + ", which changes"
				break
			}
		}
	}
	return len(m.triggered) > before
}

// fires reports whether a resource, or one attribute of it, changes in this plan.
func (m *maker) fires(by lang.Trigger) bool {
	c := m.changes[by.To]
	switch {
	case c == nil || c.Action == NoOp || c.Prior == nil:
		return false
	case by.Attr == "":
		return true
	}
	return slices.ContainsFunc(c.Changed, func(path string) bool {
		return path == by.Attr || strings.HasPrefix(path, by.Attr+".") || strings.HasPrefix(path, by.Attr+"[")
	})
}
