package bound

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// nestedSQL renders a row or a map of constants as the call that makes it.
func (v Value) nestedSQL() (string, error) {
	members, err := v.members()
	if err != nil {
		return "", err
	}
	if v.Type.ID == "MAP" {
		return mapOf(members)
	}
	parts := make([]string, len(members))
	names := v.Type.Info.Children
	if len(names) != len(members) {
		return "", Unsupportedf(ByConstant, "a constant of type STRUCT of an unknown form")
	}
	for i, m := range members {
		if parts[i], err = m.SQL(); err != nil {
			return "", err
		}
		parts[i] = names[i].name(i) + " := " + parts[i]
	}
	return "struct_pack(" + strings.Join(parts, ", ") + ")", nil
}

// members are a nested constant's parts.
func (v Value) members() ([]Value, error) {
	var list struct {
		Children []Value `json:"children"`
	}
	if err := json.Unmarshal(v.Data, &list); err != nil || len(list.Children) == 0 || v.Type.Info == nil {
		return nil, Unsupportedf(ByConstant, "a constant of type %s of an unknown form", v.Type.ID)
	}
	return list.Children, nil
}

func mapOf(entries []Value) (string, error) {
	keys, values := make([]string, len(entries)), make([]string, len(entries))
	for i, e := range entries {
		pair, err := e.members()
		if err != nil {
			return "", err
		}
		if len(pair) != 2 {
			return "", Unsupportedf(ByConstant, "a constant of type MAP of an unknown form")
		}
		if keys[i], err = pair[0].SQL(); err != nil {
			return "", err
		}
		if values[i], err = pair[1].SQL(); err != nil {
			return "", err
		}
	}
	list := Ident("list_value")
	return Ident("map") + "(" + list + "(" + strings.Join(keys, ", ") + "), " + list + "(" + strings.Join(values, ", ") + "))", nil
}

// rowOf is the type of a row without member names. SQL cannot declare it: it is written with the names v1, v2, …, so that rows can be remembered.
func (t Type) rowOf() bool {
	return t.ID == "STRUCT" && t.Info != nil && len(t.Info.Children) > 0 && t.Info.Children[0].First == ""
}

// name is a member's name in SQL.
func (m member) name(i int) string {
	return Ident(m.text(i))
}

func (m member) text(i int) string {
	if m.First == "" {
		return fmt.Sprintf("v%d", i+1)
	}
	return m.First
}

// ofRow reports a function that picks a member of a row without names by its number.
func (e *Expr) ofRow() bool {
	return (e.Name == "array_extract" || e.Name == "struct_extract" || e.Name == "struct_extract_at") && len(e.Children) == 2 && e.Children[0].ResultType().rowOf()
}

func (e *Expr) rowMember(of string) (string, error) {
	number := e.Children[1]
	if number.Class == "BOUND_CAST" {
		number = number.Child
	}
	var n int
	members := e.Children[0].ResultType().Info.Children
	if number.Value == nil || json.Unmarshal(number.Value.Data, &n) != nil || n < 1 || n > len(members) {
		return "", Unsupportedf(ByRow, "a member of a row without names, picked by an expression")
	}
	return Member(of, members[n-1].text(n-1)), nil
}

// clockSQL writes a time of day, which the plan counts in microseconds.
func (v Value) clockSQL(typ string) (string, error) {
	var n int64
	const day = 24 * int64(time.Hour/time.Microsecond)
	if json.Unmarshal(v.Data, &n) != nil || n < 0 || n >= day {
		return "", Unsupportedf(ByConstant, "a constant of type %s of an unknown form", typ)
	}
	return "CAST(" + Text(time.UnixMicro(n).UTC().Format("15:04:05.999999")) + " AS " + typ + ")", nil
}

// uuidSQL writes a UUID, whose highest bit the plan keeps flipped so that its order is that of numbers.
func (v Value) uuidSQL(typ string) (string, error) {
	digits, err := v.integer()
	if err != nil {
		return "", err
	}
	n, _ := new(big.Int).SetString(digits, 10)
	n.Add(n, new(big.Int).Lsh(big.NewInt(1), 127))
	if n.Sign() < 0 || n.BitLen() > 128 {
		return "", Unsupportedf(ByConstant, "a constant of type %s of an unknown form", typ)
	}
	hex := fmt.Sprintf("%032x", n)
	return "CAST('" + strings.Join([]string{hex[:8], hex[8:12], hex[12:16], hex[16:20], hex[20:]}, "-") + "' AS " + typ + ")", nil
}

// blobSQL writes bytes as the plan does: printable ones as they are, others as \xAA.
func (v Value) blobSQL(typ string) (string, error) {
	var s string
	if json.Unmarshal(v.Data, &s) != nil {
		return "", Unsupportedf(ByConstant, "a constant of type %s of an unknown form", typ)
	}
	return "CAST(" + Text(s) + " AS " + typ + ")", nil
}

// intervalSQL writes an interval by its three parts, which are not converted into each other.
func (v Value) intervalSQL(typ string) (string, error) {
	var part struct{ Months, Days, Micros int64 }
	if json.Unmarshal(v.Data, &part) != nil {
		return "", Unsupportedf(ByConstant, "a constant of type %s of an unknown form", typ)
	}
	return fmt.Sprintf("CAST('%d months %d days %d microseconds' AS %s)", part.Months, part.Days, part.Micros, typ), nil
}

// compared is one side of a comparison as a user writes it: the binder compares intervals in a normal form.
func compared(e *Expr) *Expr {
	if e.Class == "BOUND_FUNCTION" && e.Name == "normalized_interval" && len(e.Children) == 1 {
		return e.Children[0]
	}
	return e
}

// castable is what a cast casts. Between rows with and without member names, members go by their place: such rows are written without.
func (s Scope) castable(e *Expr) (string, error) {
	from := e.Child.ResultType()
	if from.ID != "STRUCT" || e.Return.ID != "STRUCT" || from.rowOf() == e.Return.rowOf() {
		return s.SQL(e.Child)
	}
	members := e.Child.rowMembers()
	if len(members) == 0 || !from.rowOf() {
		return "", Unsupportedf(ByRow, "a cast between rows with and without member names")
	}
	return s.Joined(members, Ident("row")+"(", ", ", ")")
}

// rowMembers are the parts of row(…), or of a constant row; nil for anything else.
func (e *Expr) rowMembers() []*Expr {
	if e.Class == "BOUND_FUNCTION" && e.Name == "row" {
		return e.Children
	}
	if e.Class != "BOUND_CONSTANT" || e.Value == nil || e.Value.IsNull || e.Value.Type.ID != "STRUCT" {
		return nil
	}
	values, err := e.Value.members()
	if err != nil {
		return nil
	}
	out := make([]*Expr, len(values))
	for i := range values {
		out[i] = &Expr{Class: "BOUND_CONSTANT", Value: &values[i]}
	}
	return out
}
