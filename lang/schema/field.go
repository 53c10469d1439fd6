package schema

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/streamform/streamform/lang/addr"
	"github.com/zclconf/go-cty/cty"
)

// Option adds to a field what its type does not say.
type Option func(*Field)

// History declares the attribute history: what becomes of rows that were delivered when a change alters which rows there would have
// been. Kinds with such attributes (CostHistory), and streams, have it.
func History(target *string) Field {
	return Optional("history", target, "What becomes of rows that were delivered, when a change alters which rows there would have been: keep leaves them, and the new definition holds from the next epoch on; restate computes them anew from the start. Without it such a change is blocked.",
		OneOf("keep", "restate"), OnChange(CostNone))
}

// Since declares the attribute since of sinks: which rows are delivered.
func Since(target *string) Field {
	return Optional("since", target, "Which rows are delivered: all from the start, which also holds without the attribute, or now: only those that come after the sink was created. A sink since now is never given rows from before, whatever is edited.",
		OneOf("start", "now"), OnChange(CostCreation))
}

// Required declares an attribute that must be written.
func Required[T Value](name string, target *T, doc string, opts ...Option) Field {
	f := attribute(name, target, doc)
	f.Required, f.Default = true, cty.NilVal
	return finish(f, opts)
}

// Optional declares an attribute that may be left out. Its default is what target
// holds now, unless that is Go's zero value; then it is null, or what Default says.
func Optional[T Value](name string, target *T, doc string, opts ...Option) Field {
	return finish(attribute(name, target, doc), opts)
}

// Block declares a nested block that may stand once. target stays nil without it.
// fields lists the block's fields on a new T, which it may fill with defaults first.
func Block[T any](name string, target **T, doc string, fields func(*T) []Field, opts ...Option) Field {
	f := nested(name, doc, fields(new(T)))
	f.set = func(v cty.Value) error {
		t := new(T)
		if err := bindFields(fields(t), v); err != nil {
			return err
		}
		*target = t
		return nil
	}
	return finish(f, opts)
}

// BlockList declares a nested block that may stand any number of times, in order.
func BlockList[T any](name string, target *[]T, doc string, fields func(*T) []Field, opts ...Option) Field {
	f := nested(name, doc, fields(new(T)))
	f.Repeated = true
	f.set = func(v cty.Value) error {
		list := make([]T, v.LengthInt())
		for i, e := range v.AsValueSlice() {
			if err := bindFields(fields(&list[i]), e); err != nil {
				return fmt.Errorf("block %d: %w", i+1, err)
			}
		}
		*target = list
		return nil
	}
	return finish(f, opts)
}

// OnChange says what a later change of the value costs; without it CostInPlace,
// for SQL CostSemantics, and for a block the costliest of its fields.
func OnChange(c Cost) Option { return func(f *Field) { f.Cost = c } }

// Default is the value of an attribute that is not written, for defaults that are Go's zero value.
func Default[T Value](v T) Option { return func(f *Field) { f.Default = encode(&v) } }

// OneOf lists the texts that are allowed (in a list: for each element).
func OneOf(texts ...string) Option { return func(f *Field) { f.OneOf = texts } }

// Secret says that the value must be a secret reference: secret("env:NAME") in HCL.
func Secret() Option { return func(f *Field) { f.Secret = true } }

// Refs says which blocks a reference may name.
func Refs(blocks ...addr.Block) Option { return func(f *Field) { f.RefBlocks = blocks } }

// Bound is what a limit can be given as: a number, a Duration or a Size.
type Bound interface {
	int | int64 | float64 | Duration | Size
}

// Min is the least value allowed.
func Min[B Bound](least B) Option { return func(f *Field) { f.Min = boundValue(least) } }

// Max is the greatest value allowed.
func Max[B Bound](greatest B) Option { return func(f *Field) { f.Max = boundValue(greatest) } }

// Normal says that values with equal normal forms mean the same, so that a change between them is none.
func Normal[T Value](form func(T) T) Option {
	return func(f *Field) {
		same := f.same
		f.same = func(a, b cty.Value) bool {
			var x, y T
			if !a.IsNull() && !b.IsNull() && decode(&x, a) == nil && decode(&y, b) == nil {
				return reflect.DeepEqual(form(x), form(y))
			}
			return same(a, b)
		}
	}
}

// Labeled says that the block is written with one label, which fills its field "name": expect "positive" { … }.
func Labeled() Option { return func(f *Field) { f.Labeled = true } }

// Check adds a rule of its own; its error is a sentence for the user, such as
// "it must not be empty".
func Check[T Value](rule func(T) error) Option {
	return func(f *Field) {
		f.checks = append(f.checks, func(v cty.Value) error {
			var got T
			if err := decode(&got, v); err != nil {
				return err
			}
			return rule(got)
		})
	}
}

func attribute[T Value](name string, target *T, doc string) Field {
	f := Field{Name: name, Doc: doc, Cost: CostInPlace, Type: typeOf(target), Format: formatOf(target), Default: encode(target)}
	f.Refs, f.SQLText = f.Format == FormatReference, f.Format == FormatSQL
	if f.SQLText {
		f.Cost = CostSemantics
	}
	start := *target
	f.set = func(v cty.Value) error { return decode(target, v) }
	f.checks = []func(cty.Value) error{func(v cty.Value) error {
		var probe T
		return decode(&probe, v)
	}}
	f.same = func(a, b cty.Value) bool {
		x, y := start, start
		if decodeOrKeep(&x, a) != nil || decodeOrKeep(&y, b) != nil {
			return a.RawEquals(b)
		}
		return reflect.DeepEqual(x, y) || isEmpty(reflect.ValueOf(x)) && isEmpty(reflect.ValueOf(y))
	}
	return f
}

func nested(name, doc string, fields []Field) Field {
	return Field{Name: name, Doc: doc, Block: true, Nested: fields, Type: objectType(fields)}
}

func finish(f Field, opts []Option) Field {
	for _, o := range opts {
		o(&f)
	}
	if f.Block {
		if f.Cost == "" {
			f.Cost = costliest(f.Nested)
		}
		return f
	}
	if f.Default != cty.NilVal { // what is left out then means the default, also when Default said it
		same, def := f.same, f.Default
		f.same = func(a, b cty.Value) bool { return same(orDefault(a, def), orDefault(b, def)) }
	}
	own := f.checks[0]
	rules := f.checks[1:]
	f.checks = append([]func(cty.Value) error{own, f.checkSecret, f.checkOneOf, f.checkBounds}, rules...)
	return f
}

func orDefault(v, def cty.Value) cty.Value {
	if v.IsNull() {
		return def
	}
	return v
}

// costliest is the greatest cost among the fields; CostInPlace when there are none.
func costliest(fields []Field) Cost {
	worst := CostInPlace
	for _, f := range fields {
		if slices.Index(Costs(), f.Cost) > slices.Index(Costs(), worst) {
			worst = f.Cost
		}
	}
	return worst
}

func (f Field) checkSecret(v cty.Value) error {
	if !f.Secret {
		return nil
	}
	for _, t := range texts(v) {
		if _, _, err := ParseSecret(t); err != nil {
			return err
		}
	}
	return nil
}

func (f Field) checkOneOf(v cty.Value) error {
	if f.OneOf == nil {
		return nil
	}
	for _, t := range texts(v) {
		if slices.Contains(f.OneOf, t) {
			continue
		}
		msg := fmt.Sprintf("%q is not possible here; use %s.", t, orList(f.OneOf))
		if near := Nearest(t, f.OneOf); near != "" {
			msg += fmt.Sprintf(" Did you mean %q?", near)
		}
		return errors.New(msg)
	}
	return nil
}

func (f Field) checkBounds(v cty.Value) error {
	if f.Min == cty.NilVal && f.Max == cty.NilVal {
		return nil
	}
	n, err := magnitude(f.Format, v)
	if err != nil {
		return err
	}
	if f.Min != cty.NilVal && n.LessThan(f.Min).True() {
		return fmt.Errorf("it must be at least %s.", f.boundText(f.Min))
	}
	if f.Max != cty.NilVal && n.GreaterThan(f.Max).True() {
		return fmt.Errorf("it must be at most %s.", f.boundText(f.Max))
	}
	return nil
}

// orList writes "a", "b" or "c".
func orList(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = fmt.Sprintf("%q", t)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
}
