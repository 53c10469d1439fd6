package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/logical"
)

// Scan is how a program reads one relation.
type Scan struct {
	Relation   string   // as Relation.Name spells it
	AppendOnly bool     // its rows are never taken back
	Columns    []string // read, in the relation's order
	Of         int      // how many columns the relation has
}

// Scans are the relations that a program reads, with the columns it needs of each.
func (p *Program) Scans() []Scan {
	var out []Scan
	for _, name := range p.Reads {
		leaf := strings.ToLower(name)
		s := Scan{Relation: name, AppendOnly: p.AppendRead[leaf], Of: len(p.LeafColumns[leaf])}
		used, pruned := p.Used[leaf]
		for _, c := range p.LeafColumns[leaf] {
			if !pruned || used[strings.ToLower(c.Name)] {
				s.Columns = append(s.Columns, c.Name)
			}
		}
		out = append(out, s)
	}
	return out
}

// Describe tells people what the aggregate does.
func (a Aggregate) Describe() Operator {
	o := Operator{ID: a.ID, Kind: "aggregate", Identity: a.Identity, Detail: a.Detail, AppendOnly: a.AppendOnly, Holds: parts(len(a.Partials)) + " per key",
		Cost: Cost{"the changed rows, then one merge for each touched key", "d + k"}}
	if a.Scalar() {
		o.Holds, o.Cost = parts(len(a.Partials)), Cost{"the changed rows, then one merge", "d"}
	}
	if len(a.Partials) == 1 && a.Partials[0].Kind == "rows" {
		o.Kind, o.Holds, o.Cost = "rows", "its rows", Cost{"nothing after the first", "0"}
	}
	return o
}

func parts(n int) string {
	switch n {
	case 0:
		return "one entry"
	case 1:
		return "1 partial"
	}
	return fmt.Sprintf("%d partials", n)
}

// Describe tells people what the operator does.
func (k Keyed) Describe() Operator {
	o := Operator{ID: k.ID, Kind: k.Kind, Identity: k.Identity, Detail: k.Detail, AppendOnly: !k.Retracts(), Holds: "rows by key",
		Cost: Cost{"the rows of touched keys, as they were and as they are", "d + r"}}
	switch {
	case k.Bilinear:
		o.Cost.Words = "the changed rows, joined with the other side's rows of their keys"
	case k.Singly > 0:
		one, other := "left", "right"
		if k.Singly == 2 {
			one, other = other, one
		}
		o.Cost.Words = fmt.Sprintf("the changed rows of the %s side, and where the %s side changed the rows of touched keys, as they were and as they are", one, other)
	}
	if len(k.Inputs) == 2 {
		o.Holds = "rows of both sides by key"
	}
	if k.Unstable {
		o.Holds = "rows and results by key"
	}
	if k.Best {
		o.Holds, o.Cost = "results by key, and all rows in order", Cost{"the changed rows, and what was given for their keys", "d + k"}
	}
	switch {
	case k.Best && !k.KeepsInput && k.Global():
		o.Holds, o.Cost = "results", Cost{"the changed rows, and what was given", "d"}
	case k.Best && !k.KeepsInput:
		o.Holds = "results by key"
	case k.Global() && k.Best:
		o.Holds, o.Cost = "results, and all rows in order", Cost{"the changed rows, and what was given", "d"}
	case k.Global():
		k.describeGlobal(&o)
	}
	if k.Why != nil {
		o.Reason, o.Rewrite = k.whyRows(o.Reason), k.Why.By.Rewrite()
	}
	return o
}

// whyRows says why an aggregate remembers rows instead of partials.
func (k Keyed) whyRows(already string) string {
	reason := "rows instead of partials, because of " + k.Why.Reason
	if already != "" {
		return already + "; " + reason
	}
	return reason
}

// describeGlobal is about an operator without a key: a change touches everything.
func (k Keyed) describeGlobal(o *Operator) {
	o.Holds = strings.TrimSuffix(o.Holds, " by key")
	o.Cost = Cost{"all rows, as they were and as they are", "n"}
	o.Reason = "no key: every change computes the whole operator again"
	switch {
	case k.Bilinear:
		o.Cost = Cost{"the changed rows, joined with all rows of the other side", "d · n"}
		o.Reason = "no key: every change is compared with the whole other side"
		o.Rewrite = "Add an equality between columns of both sides to the join's condition: then only rows of touched keys meet."
	case k.Kind == "join":
		o.Rewrite = "Add an equality between columns of both sides to the join's condition: then only touched keys are computed again."
	case k.Kind == "window":
		o.Rewrite = "Add PARTITION BY: then only touched partitions are computed again."
	case k.Kind == "top":
		o.Rewrite = "Where the first rows of each key are meant, use QUALIFY row_number() OVER (PARTITION BY … ORDER BY …) <= n: then only touched keys are computed again."
	case k.Kind == "aggregate":
		o.Rewrite = "Add GROUP BY: then only touched groups are computed again."
	}
}

func (p *Program) describeLinear(detail string) {
	p.Operators = append(p.Operators, p.resultOperator(detail, p.Reads))
}

// resultOperator is the last, linear part of a program.
func (p *Program) resultOperator(detail string, inputs []string) Operator {
	o := Operator{ID: ResultID, Kind: "linear", Identity: p.Identity, Detail: detail, Inputs: inputs, AppendOnly: p.AppendOnly, Holds: "nothing", Cost: Cost{"the changed rows", "d"}}
	if p.Final != "" {
		o.Identity = logical.Digest("result", p.Form.Identity())
	}
	if p.HoldsResult() {
		o.Holds = "result rows"
	}
	return o
}

func (p *Program) describeRefresh() {
	var inputs []string
	for _, s := range p.Scans() {
		id := InputID(strings.ToLower(s.Relation))
		p.Operators = append(p.Operators, Operator{ID: id, Kind: "input", Identity: logical.Digest("input", p.RelationForm(strings.ToLower(s.Relation)).Identity()), Detail: "all rows of " + s.Relation, Inputs: []string{s.Relation},
			AppendOnly: s.AppendOnly, Holds: "input rows", Cost: Cost{"the changed rows", "d"}})
		inputs = append(inputs, id)
	}
	p.Operators = append(p.Operators, Operator{ID: ResultID, Kind: "full_refresh", Identity: p.Identity, Detail: "the whole query", Inputs: inputs,
		Holds: "result rows", Cost: Cost{"all rows of its inputs, and the whole query over them", "n"}, Reason: p.FullRefresh, Rewrite: p.Rewrite})
}

func (p *Program) describeIncremental() {
	for _, o := range p.Steps {
		d := o.Describe()
		for _, sql := range o.InputSQL() {
			d.Inputs = append(d.Inputs, p.readNames(sql)...)
		}
		p.Operators = append(p.Operators, d)
	}
	p.Operators = append(p.Operators, p.resultOperator("filters and expressions", p.readNames(p.Final)))
}

// readNames are the relations and operators that SQL with leaves reads.
func (p *Program) readNames(sql string) []string {
	var out []string
	for _, leaf := range logical.Leaves(sql) {
		name := leaf
		for _, r := range p.Reads {
			if strings.EqualFold(r, leaf) {
				name = r
			}
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
