package diag

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// Causes leaves out what only follows from an earlier syntax error: further findings at the
// same place, and a quotation mark left open on every line after it.
func Causes(found hcl.Diagnostics) hcl.Diagnostics {
	const openQuote = "Invalid multi-line string"
	var out hcl.Diagnostics
	seen := map[string]bool{}
	for _, d := range found {
		key := d.Summary
		if d.Summary != openQuote && d.Subject != nil {
			key = fmt.Sprint(d.Subject.Start)
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		if d.Subject != nil {
			seen[fmt.Sprint(d.Subject.Start)] = true
		}
		out = append(out, d)
	}
	return out
}

// Once leaves out what was found before in another instance of the same block.
func Once(ds Diagnostics) Diagnostics {
	type finding struct {
		at              Range
		summary, detail string
	}
	seen := map[finding]bool{}
	return slices.DeleteFunc(ds, func(d Diagnostic) bool {
		if d.Subject == nil {
			return false
		}
		f := finding{*d.Subject, d.Summary, d.Detail}
		again := seen[f]
		seen[f] = true
		return again
	})
}
