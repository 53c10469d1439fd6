package plan

import "github.com/streamform/streamform/lang"

// Refusal is why a connector would not do what a change asks of it.
type Refusal struct {
	Summary, Detail string
}

// occupied blocks a sink that is new where its target is not: it would be refused when it delivers.
func (m *maker) occupied(c *Change, r lang.Resource) {
	if m.in.Facts == nil || c.Action != Create {
		return
	}
	if no, taken := m.in.Facts.Occupied[c.Addr]; taken {
		m.block(c, &r.Range, no.Summary, no.Detail)
	}
}
