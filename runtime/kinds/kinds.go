// Package kinds is the explicit list of all kinds.
package kinds

import (
	"github.com/streamform/streamform/lang/builtin"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/connector/console"
	"github.com/streamform/streamform/runtime/connector/delta"
	"github.com/streamform/streamform/runtime/connector/files"
	"github.com/streamform/streamform/runtime/connector/nexmark"
)

// All lists every kind and what opens it, in the order of the reference: sources, sinks, then the
// kinds that need no connector.
func All() []connector.Definition {
	all := []connector.Definition{
		files.SourceDefinition(),
		nexmark.Definition(),
		delta.Definition(),
		files.SinkDefinition(),
		console.Definition(),
	}
	for _, k := range builtin.Kinds() {
		all = append(all, connector.Definition{Kind: k})
	}
	for i, d := range all {
		all[i].Kind = d.Kind.Prepared()
	}
	return all
}

// Schemas lists the schemas of all kinds, in the same order.
func Schemas() []schema.Kind {
	var kinds []schema.Kind
	for _, d := range All() {
		kinds = append(kinds, d.Kind)
	}
	return kinds
}
