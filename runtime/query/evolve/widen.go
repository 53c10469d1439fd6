package evolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/logical"
)

// widening is a column of a relation whose type can hold more than before, and all it held.
type widening struct{ before, after logical.Column }

// widened finds the columns whose values stay the same in the new type.
func widened(before, after *compile.Program) []widening {
	var out []widening
	for leaf := range before.LeafColumns {
		for _, b := range columns(before.RelationForm(leaf).Cols...) {
			for other := range after.LeafColumns {
				for _, a := range columns(after.RelationForm(other).Cols...) {
					if a.Of == b.Of && a.Name == b.Name && lossless(b.Type, a.Type) {
						out = append(out, widening{before: b, after: a})
					}
				}
			}
		}
	}
	return out
}

// form is a form with the new types, where no value in it depends on the type. What does keeps the old one, and so equals nothing new.
func widenForm(f logical.Form, ws []widening) logical.Form {
	f.Cols, f.Preds = slices.Clone(f.Cols), slices.Clone(f.Preds)
	for i, c := range f.Cols {
		f.Cols[i] = widenText(c, ws)
	}
	for i, p := range f.Preds {
		for _, w := range ws {
			for _, test := range []string{" IS NULL)", " IS NOT NULL)"} {
				if p == "("+w.before.Token()+test {
					f.Preds[i] = "(" + w.after.Token() + test
				}
			}
		}
	}
	slices.Sort(f.Preds)
	return f
}

// widenText is a text that is a column alone.
func widenText(text string, ws []widening) string {
	for _, w := range ws {
		if text == w.before.Token() {
			return w.after.Token()
		}
	}
	return text
}

// widenPartial is a partial over a column alone.
func widenPartial(p logical.Partial, ws []widening) string {
	switch p.Kind {
	case "count", "sum", "min", "max":
		for _, w := range ws {
			if p.Form == p.Kind+"("+w.before.Token()+")" {
				return p.Kind + "(" + w.after.Token() + ")"
			}
		}
	}
	return p.Form
}

// lossless reports whether one type holds all values of another, written the same way in sums and comparisons.
func lossless(from, to string) bool {
	if from == to {
		return false
	}
	if f, t := bits(from), bits(to); f != 0 && t != 0 {
		if f > 0 { // unsigned
			return t > 0 && t > f || t < 0 && -t > f
		}
		return t < f
	}
	var fw, fs, tw, ts int
	if _, err := fmt.Sscanf(to, "DECIMAL(%d,%d)", &tw, &ts); err == nil {
		if _, err := fmt.Sscanf(from, "DECIMAL(%d,%d)", &fw, &fs); err == nil {
			return ts >= fs && tw-ts >= fw-fs
		}
		return false
	}
	switch from {
	case "FLOAT":
		return to == "DOUBLE"
	case "DATE", "TIMESTAMP_S", "TIMESTAMP_MS":
		return to == "TIMESTAMP"
	}
	return false
}

// bits is the width of a whole number type, negative for a signed one; 0 for any other type.
func bits(typ string) int {
	unsigned, signed := 1, -1
	base, is := strings.CutPrefix(typ, "U")
	sign := signed
	if is {
		sign = unsigned
	}
	switch base {
	case "TINYINT":
		return sign * 8
	case "SMALLINT":
		return sign * 16
	case "INTEGER":
		return sign * 32
	case "BIGINT":
		return sign * 64
	case "HUGEINT":
		return sign * 128
	}
	return 0
}
