package lang

import (
	"fmt"
	"sort"

	version "github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/streamform/streamform/lang/function"
	"github.com/streamform/streamform/lang/schema"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// declareSettings reads a streamform block. Its version requirement is checked at
// once: what another version means by the rest of the files is not for this one to judge.
func (l *loader) declareSettings(b *hcl.Block) {
	if l.settings.at != nil {
		l.fail(&b.DefRange, "Duplicate streamform block", fmt.Sprintf("There is already a streamform block at %s. Move the settings into one.", rangeOf(*l.settings.at)))
		return
	}
	l.settings.at = &b.DefRange
	content, diags := b.Body.Content(&hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "required_version"}},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "backend", LabelNames: []string{"type"}}, {Type: "runtime", LabelNames: []string{"type"}}},
	})
	l.report(diags)
	if attr, ok := content.Attributes["required_version"]; ok {
		l.requireVersion(attr)
	}
	seen := map[string]*hcl.Block{}
	for _, inner := range content.Blocks {
		if other := seen[inner.Type]; other != nil {
			l.fail(&inner.DefRange, fmt.Sprintf("Duplicate %s block", inner.Type), fmt.Sprintf("There is already one at %s.", rangeOf(other.DefRange)))
			continue
		}
		seen[inner.Type] = inner
		l.declareBackend(inner)
	}
}

func (l *loader) declareBackend(b *hcl.Block) {
	only := map[string]string{"backend": "local", "runtime": "embedded"}[b.Type]
	if b.Labels[0] != only {
		l.fail(&b.LabelRanges[0], fmt.Sprintf("Unsupported %s", b.Type), fmt.Sprintf("This version of streamform has one %s, %q; %q is not supported.", b.Type, only, b.Labels[0]))
		return
	}
	if b.Type == "backend" {
		l.settings.backend = b
	} else {
		l.settings.runtime = b
	}
}

func (l *loader) requireVersion(attr *hcl.Attribute) {
	text, ok := l.literal(attr, cty.String)
	if !ok {
		return
	}
	l.settings.RequiredVersion = text.AsString()
	at := attr.Expr.Range()
	want, err := version.NewConstraint(text.AsString())
	if err != nil {
		l.fail(&at, "Invalid version constraint", fmt.Sprintf("%q is not a version constraint; write one such as \">= 0.1\" or \"~> 1.2\".", text.AsString()))
		return
	}
	if l.o.Version == "" {
		return
	}
	have, err := version.NewVersion(l.o.Version)
	if err != nil || want.Check(have.Core()) { // a pre-release counts as the version it leads to
		return
	}
	l.fail(&at, "Unsupported streamform version", fmt.Sprintf("This configuration needs streamform %s, and this is version %s. Install a version that fits, or change required_version if the configuration works with this one.", text.AsString(), l.o.Version))
	mismatch := l.diags[len(l.diags)-1]
	l.settings.mismatch = &mismatch
}

// evaluateBackend reads the attribute of the backend and that of the runtime, which may use variables and locals.
func (l *loader) evaluateBackend() {
	l.evaluateSetting(l.settings.backend, &l.settings.Backend, "path", func(string) error { return nil })
	l.evaluateSetting(l.settings.runtime, &l.settings.Runtime, "memory", checkMemory)
}

func (l *loader) evaluateSetting(b *hcl.Block, to *BackendRef, name string, check func(string) error) {
	if b == nil {
		return
	}
	to.Range = rangeOf(b.DefRange)
	content, diags := b.Body.Content(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: name}}})
	l.report(diags)
	attr, ok := content.Attributes[name]
	if !ok {
		return
	}
	v, ok := l.plain(attr, cty.String, l.ctx)
	if !ok || v.IsNull() {
		return
	}
	if err := check(v.AsString()); err != nil {
		l.failExpr(attr.Expr, l.ctx, "Invalid "+name, err.Error())
		return
	}
	to.Value = cty.ObjectVal(map[string]cty.Value{name: v})
}

// checkMemory refuses what the runtime cannot work with: DuckDB alone needs its share.
func checkMemory(text string) error {
	size, err := schema.ParseSize(text)
	if err == nil && size < 256<<20 {
		err = fmt.Errorf("The runtime needs at least 256 MiB, and %q is less.", text)
	}
	return err
}

// plain evaluates an attribute that may hold nothing sensitive and no secret reference.
func (l *loader) plain(attr *hcl.Attribute, ty cty.Type, ctx *hcl.EvalContext) (cty.Value, bool) {
	v, ok := l.value(attr.Expr, ctx)
	if !ok {
		return v, false
	}
	if v.ContainsMarked() {
		what := "a sensitive value"
		if !holdsMark(v, function.Sensitive) {
			what = "a secret reference"
		}
		l.failExpr(attr.Expr, ctx, "Sensitive value not allowed", fmt.Sprintf("The argument %q must not be %s.", attr.Name, what))
		return v, false
	}
	out, err := convert.Convert(v, ty)
	if err != nil {
		l.failExpr(attr.Expr, ctx, "Incorrect attribute value type", fmt.Sprintf("Inappropriate value for attribute %q: %s.", attr.Name, err))
		return v, false
	}
	return out, true
}

// literal evaluates an attribute that must not depend on anything.
func (l *loader) literal(attr *hcl.Attribute, ty cty.Type) (cty.Value, bool) {
	v, diags := attr.Expr.Value(nil)
	if diags.HasErrors() {
		l.report(diags)
		return v, false
	}
	out, err := convert.Convert(v, ty)
	if err == nil && out.IsNull() {
		err = fmt.Errorf("it must not be null")
	}
	if err != nil {
		at := attr.Expr.Range()
		l.fail(&at, "Incorrect attribute value type", fmt.Sprintf("Inappropriate value for attribute %q: %s.", attr.Name, err))
		return v, false
	}
	return out, true
}

// sortByPlace orders things by file and place.
func sortByPlace[T any](list []T, at func(T) hcl.Range) {
	sort.Slice(list, func(i, j int) bool {
		a, b := at(list[i]), at(list[j])
		if a.Filename != b.Filename {
			return a.Filename < b.Filename
		}
		return a.Start.Byte < b.Start.Byte
	})
}
