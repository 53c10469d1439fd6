package evolve

import "github.com/streamform/streamform/runtime/query/compile"

// Compare says what an edit from one program to another means for what the runtime holds. It is deterministic. Relations
// pair by their identities, operators by the canonical forms of what they do and of what is below them.
func Compare(before, after *compile.Program, _ Held) Evolution {
	if before.Identity == after.Identity {
		return Evolution{Class: Noop}
	}
	e := Evolution{Class: ReplayFromSource, Reason: "the query means something else"}
	for _, o := range after.Operators {
		e.Operators = append(e.Operators, Fate{Name: o.ID, Kind: o.Kind, Detail: o.Detail, Fate: Replayed})
	}
	return e
}
