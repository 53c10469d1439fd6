package compile

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/statement"
	"github.com/streamform/streamform/runtime/query/temporal"
)

// Temporal is a logical.Temporal with the types DuckDB gives its columns, and the functions of the time worked out.
type Temporal struct {
	*logical.Temporal
	InputTypes []string
	ValueTypes []string
	Filter     temporal.Filter // its conditions in the order of Conditions
	Detail     string
}

// Name is the leaf name of the output.
func (t Temporal) Name() string { return t.ID }

// OutputColumns are the output's columns.
func (t Temporal) OutputColumns() batch.Schema { return Positional(t.InputTypes) }

// InputSQL is the SQL of what the filter reads.
func (t Temporal) InputSQL() []string { return []string{t.Input.SQL} }

// Describe tells people what the filter does.
func (t Temporal) Describe() Operator {
	return Operator{ID: t.ID, Kind: "temporal", Identity: t.Identity, Detail: t.Detail, Holds: "rows that the time may let in or out, in the order of their times",
		Cost: Cost{"the changed rows, and those that the time lets in or out", "d"}}
}

// clocked is what the compiler makes of a query's places that ask for the time.
type clocked struct {
	places []statement.Clock
	sql    string // with parameters in their place
}

// clocks finds the places of a query that ask for the time.
func (c *Compiler) clocks(s *statement.Statement, stream bool) (clocked, error) {
	if e := c.functions.Check(s, !stream); e != nil {
		return clocked{}, e
	}
	places, odd := c.functions.Clocks(s)
	switch {
	case odd != nil:
		return clocked{}, odd
	case stream || len(places) == 0:
		return clocked{sql: s.Text}, nil
	}
	return clocked{places: places, sql: s.WithClocks(places)}, nil
}

// explain turns what is wrong with a filter by the time into a mistake of the user, at its place.
func (c clocked) explain(err error) error {
	if len(c.places) == 0 {
		return err
	}
	at, reason := c.places[0], ""
	var clock *bound.ClockError
	var refresh *bound.Unsupported
	switch {
	case errors.As(err, &clock):
		reason = clock.Reason
		if clock.Place >= 0 && clock.Place < len(c.places) {
			at = c.places[clock.Place]
		}
	case errors.As(err, &refresh):
		reason = fmt.Sprintf("The view would have to run in full each time, because of %s. %s Or filter in a view of its own, and read that.", refresh.Reason, refresh.By.Rewrite())
	default:
		return err
	}
	return &statement.Error{Summary: "Volatile function", Detail: reason + " " + statement.TemporalForm, Start: at.Start, End: at.End}
}

// unplanned is what is wrong with a query that can be planned as it is written, but not with a time that is not known.
func (c clocked) unplanned(err error) error {
	var mistake *statement.Error
	if len(c.places) == 0 || !errors.As(err, &mistake) {
		return err
	}
	return c.explain(&bound.ClockError{Reason: "The time is asked for where it must be known before the query runs, such as among the arguments of a table function."})
}

// declareTemporal finds the types of a filter by the time, works out its functions, proves its SQL, and declares its output.
func (b *binding) declareTemporal(t *logical.Temporal) (Temporal, error) {
	out := Temporal{Temporal: t}
	if err := b.prove(t.Input.Tree, t.Input.SQL); err != nil {
		return out, err
	}
	list := make([]string, 0, len(t.Values)+1)
	for i, v := range t.Values {
		list = append(list, fmt.Sprintf("%s AS v%d", v, i))
	}
	columns, err := b.describe(asTables("SELECT " + strings.Join(append(list, "*"), ", ") + " FROM (" + t.Input.SQL + ")"))
	if err != nil || len(columns) != len(t.Values)+t.Input.Columns {
		return out, bound.Unsupportedf(bound.ByProof, "an input whose columns could not be written as SQL")
	}
	values, columns := columns[:len(t.Values)], columns[len(t.Values):]
	if err := rememberable(nil, columns); err != nil {
		return out, err
	}
	out.ValueTypes, out.InputTypes = typesOf(values), typesOf(columns)
	if slices.ContainsFunc(values, func(v batch.Column) bool { return !slices.Contains(logical.ClockTypes(), v.Type) }) {
		return out, bound.Unsupportedf(bound.ByType, "a comparison with the time as another type than DATE, TIMESTAMP or TIMESTAMPTZ")
	}
	b.table(logical.InputLeaf(0), columns)
	if err := b.prove(t.Tree, t.Body); err != nil {
		return out, err
	}
	b.table(t.ID, Positional(out.InputTypes))
	for _, c := range t.Conditions {
		f, words, err := b.clockFunction(c.Steps)
		if err != nil {
			return out, err
		}
		out.Filter = append(out.Filter, temporal.Condition{Value: c.Value, Sign: c.Sign, Function: f})
		out.Detail += " and " + t.Names[c.Value] + " " + c.Sign + " " + words
	}
	out.Detail = strings.TrimPrefix(out.Detail, " and ")
	return out, nil
}

// clockFunction works out a function of the time: its constants have values now. It is told in words, too.
func (b *binding) clockFunction(steps []logical.ClockStep) (temporal.Function, string, error) {
	var f temporal.Function
	words := "now()"
	for _, s := range steps {
		value, err := b.constant(s.Constant)
		if err != nil {
			return nil, "", err
		}
		if s.OneSign != "" {
			compared, err := b.constant(s.OneSign)
			if err != nil {
				return nil, "", err
			}
			if v, ok := compared.(duckdb.Interval); ok && min(int64(v.Months), int64(v.Days), v.Micros) < 0 && max(int64(v.Months), int64(v.Days), v.Micros) > 0 {
				return nil, "", &bound.ClockError{Place: s.Place, Reason: "The difference to the time is compared with an interval whose parts differ in sign, which DuckDB does not compare by length. Write it with parts of one sign: INTERVAL '-19 days -21 hours' instead of INTERVAL '-20 days 3 hours'."}
			}
		}
		next, text, err := clockStep(s, value)
		if err != nil {
			return nil, "", err
		}
		f, words = append(f, next...), fmt.Sprintf(text, words)
	}
	return f, words, nil
}

// constant is the value of an expression without columns.
func (b *binding) constant(sql string) (value driver.Value, err error) {
	row := make([]driver.Value, 1)
	rows, err := b.conn.Open(b.ctx, "SELECT "+sql)
	if err == nil {
		err = errors.Join(rows.Next(row), rows.Close())
	}
	if err != nil {
		return nil, &statement.Error{Summary: "Invalid SQL", Detail: statement.Sentence(FirstLine(err.Error()))}
	}
	return row[0], nil
}

const microsPerDay = int64(24 * time.Hour / time.Microsecond)

// clockStep is one step with its constant's value, and a format of its words.
func clockStep(s logical.ClockStep, value driver.Value) (temporal.Function, string, error) {
	sign := int64(1)
	if s.Kind == "-" {
		sign = -1
	}
	switch v := value.(type) {
	case duckdb.Interval:
		return addInterval(s, duckdb.Interval{Months: int32(sign) * v.Months, Days: int32(sign) * v.Days, Micros: sign * v.Micros}), "%s " + s.Kind + " " + intervalWords(v), nil
	case int32:
		return temporal.Function{{Shift: sign * int64(v) * microsPerDay}}, fmt.Sprintf("%%s %s %d", s.Kind, v), nil
	case string:
		unit := strings.ToLower(v)
		if s.Kind == "trunc" && temporal.CanTrunc(unit) {
			return temporal.Function{{Trunc: unit}}, "date_trunc('" + unit + "', %s)", nil
		}
	}
	return nil, "", bound.Unsupportedf(bound.ByConstant, "a constant beside the time that is %v", value)
}

// addInterval adds in the order of DuckDB: months, days, then what is shorter. For a TIMESTAMPTZ and an interval of which a part is
// negative, what is shorter comes first.
func addInterval(s logical.ClockStep, v duckdb.Interval) temporal.Function {
	months, days, micros := temporal.Step{Months: int64(v.Months)}, temporal.Step{Shift: int64(v.Days) * microsPerDay}, temporal.Step{Shift: v.Micros}
	f := temporal.Function{months, days, micros}
	if s.Type == "TIMESTAMP WITH TIME ZONE" && (v.Months < 0 || v.Days < 0 || v.Micros < 0) {
		f = temporal.Function{micros, months, days}
	}
	return slices.DeleteFunc(f, func(s temporal.Step) bool { return s == temporal.Step{} })
}

func intervalWords(v duckdb.Interval) string {
	var parts []string
	for _, p := range []struct {
		n    int64
		unit string
	}{{int64(v.Months), "month"}, {int64(v.Days), "day"}} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 "+p.unit)
		case p.n != 0:
			parts = append(parts, fmt.Sprintf("%d %ss", p.n, p.unit))
		}
	}
	if v.Micros != 0 || len(parts) == 0 {
		parts = append(parts, (time.Duration(v.Micros) * time.Microsecond).String())
	}
	return strings.Join(parts, " ")
}
