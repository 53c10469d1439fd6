package lang

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/lang/expand"
)

// Move is a moved block: what was declared as From is declared as To now, and is the same. With a key on neither side it is about
// all instances, which keep their keys; else it is about one, and an address without a key is that of a resource that is one.
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
		if a, rest, ok := expand.Address(t); ok && len(rest) == 0 {
			return a, true
		}
	}
	at := attr.Expr.Range()
	l.fail(&at, "Invalid address", fmt.Sprintf("%s must be the address of a resource, without quotes, such as view.sales, source.files.purchases or view.sales[\"eu\"].", attr.Name))
	return addr.Resource{}, false
}

// checkMoved refuses moves that could be understood in two ways, or in none.
func (l *loader) checkMoved() {
	froms, tos := map[addr.Resource]Move{}, map[addr.Resource]Move{}
	for _, m := range l.moved {
		froms[m.From] = m
	}
	for _, m := range l.moved {
		_, movesOn := froms[m.To]
		still, exists, undeclared := l.standing(m)
		other, twice := tos[m.To]
		switch {
		case m.From.Block == addr.View && m.To.Block == addr.Stream:
			l.failMove(m, "Invalid move", fmt.Sprintf("%s cannot become %s: a view takes rows back, and what has read it may hold such rows, while a stream never does. Declare the stream beside the view, and let readers change over.", m.From, m.To))
		case m.From.Kind() != m.To.Kind() && (m.From.Block != addr.Stream || m.To.Block != addr.View):
			l.failMove(m, "Invalid move", fmt.Sprintf("%s is a %s and %s is a %s: a move changes the name only. (A stream may become a view.)", m.From, m.From.Kind(), m.To, m.To.Kind()))
		case l.circular(m, froms):
			l.failMove(m, "Moves form a circle", fmt.Sprintf("Following the moves from %s leads back to it, so there is no last place for it. A moved block cannot tell an exchange that was made from one to be made. To exchange two names, go through a third one, in three applies, and take each moved block out when it is applied.", m.From))
		case exists:
			l.failMove(m, "Moved resource still exists", fmt.Sprintf("%s is said to be %s now, but it is still declared at %s. Remove one of the two.", m.From, m.To, rangeOf(still)))
		case froms[m.From] != m:
			l.failMove(m, "Ambiguous moves", fmt.Sprintf("%s is said to be both %s and %s.", m.From, m.To, froms[m.From].To))
		case twice:
			l.failMove(m, "Ambiguous moves", fmt.Sprintf("Both %s and %s are said to be %s.", other.From, m.From, m.To))
		case undeclared != nil && !movesOn:
			l.failMove(m, undeclared.summary, undeclared.detail)
		}
		tos[m.To] = m
	}
}

// standing says whether what has moved is still declared, and where, and what is wrong with the place it has moved to.
func (l *loader) standing(m Move) (at hcl.Range, exists bool, undeclared *problem) {
	from, to := l.blocks[m.From.Whole()], l.blocks[m.To.Whole()]
	none := addr.Key{}
	all := m.From.Key == none && m.To.Key == none
	if from != nil {
		_, exists = l.resources[m.From]
		at, exists = from.at, exists || all
	}
	switch {
	case l.faulty[m.To.Whole()]:
	case to == nil:
		undeclared = &problem{"Reference to undeclared resource", l.undeclared(m.To)}
	case !all:
		undeclared = l.checkKey(to, m.To.Key)
	}
	return at, exists, undeclared
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
