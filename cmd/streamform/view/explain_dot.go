package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/query/compile"
)

// ExplainedDOT writes relations and their operators in Graphviz's language: a box for each operator, a frame around
// those of one relation, solid arrows where rows are only added, dashed ones where they are also taken back.
func ExplainedDOT(w io.Writer, relations []project.Explanation) error {
	var b strings.Builder
	b.WriteString("digraph {\n  rankdir = \"LR\";\n  node [shape = \"box\"];\n")
	d := &dotWriter{Builder: &b, ends: map[string]string{}}
	for _, e := range relations {
		d.ends[strings.ToLower(e.Address.Relation())] = e.Address.String()
		if len(e.Operators) > 0 {
			d.ends[strings.ToLower(e.Address.Relation())] = e.Address.String() + "/" + compile.ResultID
		}
	}
	for i, e := range relations {
		d.relation(i, e)
	}
	b.WriteString("}\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the graph: %w", err)
	}
	return nil
}

type dotWriter struct {
	*strings.Builder
	ends map[string]string // relation name in lower case → the box that gives its rows
}

func (d *dotWriter) relation(i int, e project.Explanation) {
	if e.Address.Block == addr.Source {
		fmt.Fprintf(d, "  %s [shape = \"cylinder\"];\n", dotText(e.Address.String()))
		return
	}
	fmt.Fprintf(d, "  subgraph cluster_%d {\n    label = %s;\n", i, dotText(e.Address.String()))
	own := map[string]project.ExplainedStep{}
	for _, o := range e.Operators {
		own[o.ID] = o
		lines := []string{strings.ReplaceAll(o.Kind, "_", " "), o.Detail, "remembers " + o.Holds + sizes(o), "each epoch " + o.Cost.Formula}
		if o.Measured != nil {
			lines = append(lines, measured(o.Measured))
		}
		color := ""
		if o.Reason != "" {
			color = ", color = \"orange\""
		}
		fmt.Fprintf(d, "    %s [label = %s%s];\n", dotText(e.Address.String()+"/"+o.ID), dotText(strings.Join(lines, "\n")), color)
	}
	d.WriteString("  }\n")
	for _, o := range e.Operators {
		for _, in := range o.Inputs {
			from, only := e.Address.String()+"/"+in, own[in].AppendOnly
			if _, ok := own[in]; !ok {
				from, only = d.outside(e, in)
			}
			style := "dashed"
			if only {
				style = "solid"
			}
			fmt.Fprintf(d, "  %s -> %s [style = %q];\n", dotText(from), dotText(e.Address.String()+"/"+o.ID), style)
		}
	}
}

// outside is the box of another relation, or its name where that relation is not shown.
func (d *dotWriter) outside(e project.Explanation, name string) (box string, appendOnly bool) {
	for _, s := range e.Scans {
		if s.Relation == name {
			appendOnly = s.AppendOnly
		}
	}
	if end, ok := d.ends[strings.ToLower(name)]; ok {
		return end, appendOnly
	}
	return name, appendOnly
}

// dotText writes a string of Graphviz's language.
func dotText(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}
