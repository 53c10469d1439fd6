package schema

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/streamform/streamform/lang/addr"
	"github.com/zclconf/go-cty/cty"
)

// CheckKind reports what is wrong with the declaration of a kind itself: names,
// sentences, defaults that break their own rules, labels without a name field. Tests call it
// on every kind; whether the example decodes is for a test of package lang's caller.
func CheckKind(k Kind) error {
	var errs []error
	report := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", k.Name(), fmt.Sprintf(format, args...)))
	}
	switch {
	case !slices.Contains(addr.Blocks(), k.Block):
		report("%q is no block", k.Block)
	case k.Block.HasType() != (k.Type != ""):
		report("a %s has a type exactly when its block has two labels", k.Block)
	case k.Type != "" && !addr.ValidName(k.Type):
		report("%q is not a valid type", k.Type)
	}
	if !isSentence(k.Doc) {
		report("the doc %q is not a sentence", k.Doc)
	}
	if k.Example == "" {
		report("there is no example")
	}
	for _, s := range k.Sides {
		if !k.Block.IsRelation() || !addr.ValidName(s) {
			report("side relation %q: only relations have them, and they need a name", s)
		}
	}
	if k.New == nil {
		report("New is missing")
		return errors.Join(errs...)
	}
	checkFields(k.Fields(), "", report)
	return errors.Join(errs...)
}

// reservedNames are read by package lang itself, in every resource.
func reservedNames() []string {
	return []string{"lifecycle", "count", "for_each", "depends_on", "enabled", "dynamic", "provider"}
}

func checkFields(fields []Field, prefix string, report func(string, ...any)) {
	seen := map[string]bool{}
	for _, f := range fields {
		path := prefix + f.Name
		if !regexp.MustCompile(`^[a-z][a-z0-9_]*$`).MatchString(f.Name) || slices.Contains(reservedNames(), f.Name) {
			report("%q is not a valid field name", path)
		}
		if seen[f.Name] {
			report("field %q is declared twice", path)
		}
		seen[f.Name] = true
		checkField(f, path, report)
		if f.Block {
			checkFields(f.Nested, path+".", report)
		}
	}
}

func checkField(f Field, path string, report func(string, ...any)) {
	if !isSentence(f.Doc) {
		report("field %q: the doc %q is not a sentence", path, f.Doc)
	}
	if !slices.Contains(Costs(), f.Cost) {
		report("field %q: %q is no cost", path, f.Cost)
	}
	if f.Labeled && !slices.ContainsFunc(f.Nested, func(n Field) bool { return n.Name == "name" && n.Required && n.Type == cty.String }) {
		report("field %q: a labeled block needs a required text field \"name\"", path)
	}
	if f.Labeled && !f.Repeated {
		report("field %q: only repeated blocks have labels", path)
	}
	if f.Secret && (f.Type != cty.String || f.Default != cty.NilVal) {
		report("field %q: a secret is a text without a default", path)
	}
	if f.RefBlocks != nil && !f.Refs {
		report("field %q: Refs on something that is no reference", path)
	}
	if f.Default == cty.NilVal {
		return
	}
	if !f.Default.Type().Equals(f.Type) {
		report("field %q: the default has type %s, not %s", path, f.Default.Type().FriendlyName(), f.Type.FriendlyName())
	} else if err := f.Check(f.Default); err != nil {
		report("field %q: the default: %s", path, err)
	}
}

func isSentence(s string) bool {
	return len(s) > 5 && strings.HasSuffix(s, ".") && s[:1] == strings.ToUpper(s[:1])
}
