package compile

import (
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/logical"
)

// prove binds rendered SQL again and compares canonical forms: a rendering that means something else is
// never run. The plan as bound is compared too: the optimizers may move a filter that stands where the tree has it.
func (b *binding) prove(tree *bound.Op, sql string) error {
	want, err := logical.Canonical(tree, byName)
	if err != nil {
		return err
	}
	for _, optimize := range []bool{true, false} {
		doc, err := b.serialize(asTables(sql), optimize)
		if err != nil {
			return bound.Unsupportedf(bound.ByProof, "an expression that could not be written back as SQL")
		}
		if got, err := canonicalOf(doc); err == nil && got == want {
			return nil
		}
	}
	return bound.Unsupportedf(bound.ByProof, "an expression whose rendering could not be proven equal")
}

func canonicalOf(doc []byte) (string, error) {
	op, err := bound.Decode(doc)
	if err != nil {
		return "", err
	}
	return logical.Canonical(op, byName)
}

func byName(string) logical.Source { return logical.Source{} }
