package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
)

// Move is a moved block: what was declared as From is declared as To now, and is the same.
type Move struct {
	From, To addr.Resource
	Range    diag.Range // the block's header
}

// declareMoved enters a moved block. What it says is checked when everything is declared.
func (l *loader) declareMoved(b *hcl.Block) {
	content, diags := b.Body.Content(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "from", Required: true}, {Name: "to", Required: true}}})
	l.report(diags)
	from, okFrom := l.movedAddress(content.Attributes["from"])
	to, okTo := l.movedAddress(content.Attributes["to"])
	if okFrom && okTo {
		l.moved = append(l.moved, Move{From: from, To: to, Range: rangeOf(b.DefRange)})
	}
}

func (l *loader) movedAddress(attr *hcl.Attribute) (addr.Resource, bool) {
	if attr == nil {
		return addr.Resource{}, false
	}
	t, diags := hcl.AbsTraversalForExpr(attr.Expr)
	if !diags.HasErrors() {
		if a, rest, ok := addressIn(t); ok && len(rest) == 0 {
			return a, true
		}
	}
	at := attr.Expr.Range()
	l.fail(&at, "Invalid address", fmt.Sprintf("%s must be the address of a resource, without quotes, such as view.sales or source.files.purchases.", attr.Name))
	return addr.Resource{}, false
}

// addressIn reads the address that a traversal begins with, and the names behind it.
func addressIn(t hcl.Traversal) (a addr.Resource, rest []string, ok bool) {
	a.Block = addr.Block(t.RootName())
	if !slices.Contains(addr.Blocks(), a.Block) {
		return a, nil, false
	}
	var names []string
	for i := 1; i < len(t); i++ {
		name, isName := attrAt(t, i)
		if !isName {
			return a, nil, false
		}
		names = append(names, name)
	}
	if a.Block.HasType() && len(names) > 0 {
		a.Type, names = names[0], names[1:]
	}
	if len(names) == 0 {
		return a, nil, false
	}
	a.Name = names[0]
	return a, names[1:], true
}

// checkMoved refuses moves that could be understood in two ways, or in none.
func (l *loader) checkMoved() {
	froms, tos := map[addr.Resource]Move{}, map[addr.Resource]Move{}
	for _, m := range l.moved {
		froms[m.From] = m
	}
	for _, m := range l.moved {
		_, declared := l.resources[m.To]
		_, movesOn := froms[m.To]
		still, exists := l.resources[m.From]
		other, twice := tos[m.To]
		switch {
		case m.From.Block == addr.View && m.To.Block == addr.Stream:
			l.failMove(m, "Invalid move", fmt.Sprintf("%s cannot become %s: a view takes rows back, and what has read it may hold such rows, while a stream never does. Declare the stream beside the view, and let readers change over.", m.From, m.To))
		case m.From.Kind() != m.To.Kind() && (m.From.Block != addr.Stream || m.To.Block != addr.View):
			l.failMove(m, "Invalid move", fmt.Sprintf("%s is a %s and %s is a %s: a move changes the name only. (A stream may become a view.)", m.From, m.From.Kind(), m.To, m.To.Kind()))
		case l.circular(m, froms):
			l.failMove(m, "Moves form a circle", fmt.Sprintf("Following the moves from %s leads back to it, so there is no last place for it. A moved block cannot tell an exchange that was made from one to be made. To exchange two names, go through a third one, in three applies, and take each moved block out when it is applied.", m.From))
		case exists:
			l.failMove(m, "Moved resource still exists", fmt.Sprintf("%s is said to be %s now, but it is still declared at %s. Remove one of the two.", m.From, m.To, rangeOf(still.at)))
		case froms[m.From] != m:
			l.failMove(m, "Ambiguous moves", fmt.Sprintf("%s is said to be both %s and %s.", m.From, m.To, froms[m.From].To))
		case twice:
			l.failMove(m, "Ambiguous moves", fmt.Sprintf("Both %s and %s are said to be %s.", other.From, m.From, m.To))
		case !declared && !movesOn && !l.faulty[m.To]:
			l.failMove(m, "Reference to undeclared resource", l.undeclared(m.To))
		}
		tos[m.To] = m
	}
}

// circular reports whether following moves leads back to where one starts.
func (l *loader) circular(m Move, froms map[addr.Resource]Move) bool {
	at := m.To
	for range froms {
		if at == m.From {
			return true
		}
		at = froms[at].To
	}
	return false
}

func (l *loader) failMove(m Move, summary, detail string) {
	l.diags = append(l.diags, diag.NewError(&m.Range, summary, detail))
}

// Trigger is one entry of replace_triggered_by: a resource, or one attribute of it.
type Trigger struct {
	To   addr.Resource
	Attr string // empty: any change
}

func (t Trigger) String() string { return strings.TrimSuffix(t.To.String()+"."+t.Attr, ".") }
