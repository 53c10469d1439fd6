package lang

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/lang/expand"
	"github.com/streamform/streamform/lang/schema"
	"github.com/zclconf/go-cty/cty"
)

// block is one resource block, which declares one instance or many.
type block struct {
	expand.Block
	body  *hclsyntax.Body
	shape *shape
	at    hcl.Range // the header
}

// declared is one instance of a block before and after evaluation.
type declared struct {
	Resource
	*block
	self expand.Instance
}

// topSchema lists the blocks a file may hold, those of later versions included so
// that they get an answer of their own.
func topSchema() *hcl.BodySchema {
	s := &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "streamform"}, {Type: "locals"},
		{Type: "variable", LabelNames: []string{"name"}}, {Type: "output", LabelNames: []string{"name"}},
		{Type: "module", LabelNames: []string{"name"}},
		{Type: "check", LabelNames: []string{"name"}}, {Type: "plan_policy", LabelNames: []string{"name"}},
		{Type: "moved"}, {Type: "removed"}, {Type: "import"},
	}}
	for _, b := range addr.Blocks() {
		labels := []string{"name"}
		if b.HasType() {
			labels = []string{"type", "name"}
		}
		s.Blocks = append(s.Blocks, hcl.BlockHeaderSchema{Type: string(b), LabelNames: labels})
	}
	return s
}

// declare enters everything the files declare, so that references can be checked
// before anything is evaluated.
func (l *loader) declare() {
	top := topSchema()
	for _, name := range l.order {
		content, diags := l.parsed[name].Body.Content(top)
		l.report(diags)
		for _, b := range content.Blocks {
			l.declareBlock(b)
		}
	}
}

func (l *loader) declareBlock(b *hcl.Block) {
	switch b.Type {
	case "streamform":
		l.declareSettings(b)
	case "locals":
		l.declareLocals(b)
	case "variable":
		l.declareVariable(b)
	case "output":
		l.declareOutput(b)
	case "check", "plan_policy":
		l.declareNamed(b)
	case "moved":
		l.declareMoved(b)
	case "module", "removed", "import":
		l.fail(&b.DefRange, fmt.Sprintf("Block %q is not supported in this version", b.Type), fmt.Sprintf("This version of streamform does not know %s blocks, and nothing in it would happen. Remove the block.", b.Type))
	default:
		l.declareResource(b)
	}
}

// validName checks a label that names something.
func (l *loader) validName(what, name string, at hcl.Range) bool {
	if addr.ValidName(name) {
		return true
	}
	l.fail(&at, "Invalid name", fmt.Sprintf("%q cannot name %s: a name begins with a letter or an underscore, and goes on with letters, digits, underscores and dashes.", name, what))
	return false
}

func (l *loader) declareResource(b *hcl.Block) {
	a := addr.Resource{Block: addr.Block(b.Type), Name: b.Labels[len(b.Labels)-1]}
	if a.Block.HasType() {
		a.Type = b.Labels[0]
	}
	shape := l.shape(a, b)
	if !l.validName("a "+b.Type, a.Name, b.LabelRanges[len(b.LabelRanges)-1]) || shape == nil {
		l.faulty[a] = true
		return
	}
	if other, ok := l.blocks[a]; ok {
		l.fail(&b.DefRange, fmt.Sprintf("Duplicate %s", a.Block), fmt.Sprintf("%s is already declared at %s. Each needs a name of its own.", a, rangeOf(other.at)))
		return
	}
	l.blocks[a] = &block{Block: expand.Block{Addr: a}, body: b.Body.(*hclsyntax.Body), shape: shape, at: b.DefRange}
}

// shape finds the kind of a resource; nil when there is none such, which is then reported.
func (l *loader) shape(a addr.Resource, b *hcl.Block) *shape {
	if s, ok := l.shapes[a.Kind()]; ok {
		return s
	}
	var types []string
	for _, k := range l.o.Kinds {
		if k.Block == a.Block && k.Type == a.Type {
			s := newShape(k)
			l.shapes[a.Kind()] = s
			return s
		}
		if k.Block == a.Block {
			types = append(types, k.Type)
		}
	}
	if !a.Block.HasType() || len(types) == 0 {
		l.fail(&b.DefRange, fmt.Sprintf("Block %q is not supported in this version", b.Type), "This version of streamform has no kind for it.")
		return nil
	}
	detail := fmt.Sprintf("There is no %s of type %q; there are %s.", a.Block, a.Type, quotedList(types))
	l.fail(&b.LabelRanges[0], "Unknown kind", detail+l.didYouMean(a.Type, types))
	return nil
}

func quotedList(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = fmt.Sprintf("%q", w)
	}
	if len(quoted) == 1 {
		return quoted[0]
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " and " + quoted[len(quoted)-1]
}

// uniqueRelations reports relations whose names SQL could not tell apart. It goes through
// the files in order, so that the later block is the one at fault.
func (l *loader) uniqueRelations() {
	first := map[string]*declared{}
	for _, d := range l.inOrder() {
		if !d.Addr.Block.IsRelation() {
			continue
		}
		name := strings.ToLower(d.Addr.Relation())
		other, taken := first[name]
		if !taken {
			first[name] = d
			continue
		}
		why := "SQL reads sources, streams and views by their bare names"
		if d.Addr.Key != (addr.Key{}) || other.Addr.Key != (addr.Key{}) {
			why = fmt.Sprintf("SQL would read both as %s", d.Addr.Relation())
		}
		if other.Addr.Relation() != d.Addr.Relation() {
			why += ", and ignores case"
		}
		l.fail(&d.at, "Duplicate relation name", fmt.Sprintf("%s has the same name as %s, declared at %s. %s, so each name can be used only once. Rename one of them.", d.Addr, other.Addr, rangeOf(other.at), why))
	}
}

// inOrder lists the resources in the order of files and lines, instances by their keys.
func (l *loader) inOrder() []*declared {
	out := make([]*declared, 0, len(l.resources))
	for _, b := range l.blocksInOrder() {
		for _, k := range b.Keys {
			out = append(out, l.resources[b.Addr.Instance(k)])
		}
	}
	return out
}

func (l *loader) blocksInOrder() []*block {
	out := make([]*block, 0, len(l.blocks))
	for _, b := range l.blocks {
		out = append(out, b)
	}
	sortByPlace(out, func(b *block) hcl.Range { return b.at })
	return out
}

// settingsDecl is the streamform block and where it stands.
type settingsDecl struct {
	Settings
	at       *hcl.Range       // the first streamform block
	mismatch *diag.Diagnostic // that the required version is another one
	backend  *hcl.Block
	runtime  *hcl.Block
}

// shape is a kind as blocks are decoded by it: its fields, and what HCL is told to expect.
type shape struct {
	kind   schema.Kind
	fields []schema.Field
	body   *hcl.BodySchema
	nested map[string]*shape
}

func newShape(k schema.Kind) *shape {
	s := shapeOf(k.Fields())
	s.kind = k
	for _, meta := range append(unsupportedArguments(), string(addr.ForEach), string(addr.Count)) {
		s.body.Attributes = append(s.body.Attributes, hcl.AttributeSchema{Name: meta})
	}
	s.body.Blocks = append(s.body.Blocks, hcl.BlockHeaderSchema{Type: "lifecycle"})
	return s
}

// unsupportedArguments are Terraform's, read in every resource to be refused by name.
func unsupportedArguments() []string {
	return []string{"depends_on", "enabled", "provider"}
}

func shapeOf(fields []schema.Field) *shape {
	s := &shape{fields: fields, body: &hcl.BodySchema{}, nested: map[string]*shape{}}
	for _, f := range fields {
		if !f.Block {
			s.body.Attributes = append(s.body.Attributes, hcl.AttributeSchema{Name: f.Name})
			continue
		}
		header := hcl.BlockHeaderSchema{Type: f.Name}
		inner := f.Nested
		if f.Labeled {
			header.LabelNames = []string{"name"}
			inner = withoutName(inner)
		}
		s.body.Blocks = append(s.body.Blocks, header)
		s.nested[f.Name] = shapeOf(inner)
	}
	s.body.Blocks = append(s.body.Blocks, hcl.BlockHeaderSchema{Type: "dynamic", LabelNames: []string{"type"}})
	return s
}

// withoutName leaves out the field that a block's label fills.
func withoutName(fields []schema.Field) []schema.Field {
	out := make([]schema.Field, 0, len(fields))
	for _, f := range fields {
		if f.Name != "name" {
			out = append(out, f)
		}
	}
	return out
}

// defaultSettings are those of a configuration without a streamform block.
func defaultSettings() Settings {
	return Settings{
		Backend: BackendRef{Type: "local", Value: cty.ObjectVal(map[string]cty.Value{"path": cty.NullVal(cty.String)})},
		Runtime: BackendRef{Type: "embedded", Value: cty.EmptyObjectVal, Range: diag.Range{}},
	}
}
