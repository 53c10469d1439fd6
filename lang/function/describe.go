package function

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// Describe describes a value in a few words that follow its name, without what is sensitive; empty when it is not known.
func Describe(v cty.Value) string {
	switch {
	case v.HasMark(Sensitive):
		return "has a sensitive value"
	case v.ContainsMarked() && !v.IsMarked():
		return "is " + article(v.Type()) + " with sensitive parts"
	}
	v, _ = v.Unmark()
	ty := v.Type()
	switch {
	case !v.IsKnown():
		return ""
	case v.IsNull():
		return "is null"
	case ty == cty.String:
		text := v.AsString()
		if len(text) > 80 || strings.ContainsRune(text, '\n') {
			return fmt.Sprintf("is a string of %d characters", len([]rune(text)))
		}
		return fmt.Sprintf("is %q", text)
	case ty == cty.Number:
		return "is " + v.AsBigFloat().Text('f', -1)
	case ty == cty.Bool:
		return fmt.Sprintf("is %t", v.True())
	case ty.IsObjectType():
		return fmt.Sprintf("is object with %s", counted(len(ty.AttributeTypes()), "attribute"))
	case v.CanIterateElements():
		return fmt.Sprintf("is %s with %s", ty.FriendlyName(), counted(v.LengthInt(), "element"))
	}
	return "is " + article(ty)
}

func article(ty cty.Type) string {
	name := ty.FriendlyName()
	if strings.ContainsRune("aeiou", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
