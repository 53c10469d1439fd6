package statement

import (
	"context"
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/query/duck"
)

// Functions is what is known about DuckDB's functions.
type Functions struct {
	volatile   map[string]bool // another answer at another time
	aggregates map[string]bool
}

// LoadFunctions asks DuckDB for its functions.
func LoadFunctions(ctx context.Context, c *duck.Conn) (Functions, error) {
	f := Functions{volatile: map[string]bool{}, aggregates: map[string]bool{}}
	rows, err := c.Text(ctx, "SELECT DISTINCT function_name, function_type, CAST(stability AS VARCHAR) FROM duckdb_functions()")
	if err != nil {
		return f, fmt.Errorf("listing DuckDB's functions: %w", err)
	}
	for _, r := range rows {
		name := *r[0]
		if r[2] != nil && *r[2] != "CONSISTENT" && name != "error" {
			f.volatile[name] = true
		}
		if *r[1] == "aggregate" {
			f.aggregates[name] = true
		}
	}
	for _, name := range []string{"ago", "current_timestamp", "current_time", "localtime", "localtimestamp", "getvariable", "current_setting"} {
		f.volatile[name] = true
	}
	return f, nil
}

// tableFunctionAllowed lists table functions that depend on their arguments only.
func tableFunctionAllowed(name string) bool {
	switch name {
	case "range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree":
		return true
	}
	return false
}

// Check refuses SQL whose result depends on anything but the relations it reads. Places that ask for the time are let
// through when clocks is set: see Clocks.
func (f Functions) Check(s *Statement, clocks bool) *Error {
	sql := s.Text
	var found *Error
	fail := func(m map[string]any, e *Error) {
		if at, ok := location(m); ok && at <= len(sql) {
			e.Start, e.End = at, at+wordLength(sql[at:], "")
		}
		if found == nil || e.Start < found.Start {
			found = e
		}
	}
	visit(s.tree, func(m map[string]any) bool {
		name := strings.ToLower(text(m, "function_name"))
		switch {
		case text(m, "type") == "TABLE_FUNCTION":
			fn, _ := m["function"].(map[string]any)
			if name := strings.ToLower(text(fn, "function_name")); !tableFunctionAllowed(name) {
				fail(m, tableFunctionError(name))
			}
		case clocks && text(m, "class") == "FUNCTION" && clockValue(name) != "" && argumentCount(m) == 0:
		case text(m, "class") == "FUNCTION" && (f.volatile[name] || name == "age" && argumentCount(m) == 1):
			fail(m, volatileError(name))
		case clocks && clockValue(f.bareClock(m)) != "":
		case f.bareClock(m) != "":
			fail(m, volatileError(columnName(m)))
		case text(m, "class") == "PARAMETER":
			fail(m, &Error{Summary: "Parameters are not allowed", Detail: "A query stands as it is: nobody gives it the values of $1, ? or $name. Write the values into the query."})
		case m["sample"] != nil:
			fail(m, &Error{Summary: "SAMPLE is not allowed", Detail: "A relation must give the same rows for the same input, and a sample is random. Filter on a hash of a column instead: hash(id) % 100 < 10."})
		}
		return true
	})
	return found
}

func argumentCount(m map[string]any) int {
	list, _ := m["children"].([]any)
	return len(list)
}

func columnName(m map[string]any) string {
	list, _ := m["column_names"].([]any)
	if len(list) != 1 {
		return ""
	}
	s, _ := list[0].(string)
	return strings.ToLower(s)
}

func tableFunctionError(name string) *Error {
	if strings.HasPrefix(name, "read_") || strings.HasSuffix(name, "_scan") || name == "glob" || name == "sniff_csv" || strings.HasPrefix(name, "parquet_") {
		return &Error{Summary: "SQL may not read files", Detail: fmt.Sprintf("%s() would read files that streamform does not track. Declare a source \"files\" for them and read it by its name.", name)}
	}
	return &Error{Summary: "Table function not allowed", Detail: fmt.Sprintf("%s() depends on more than the relations that the query reads. Allowed are range, generate_series, unnest, repeat, json_each and json_tree.", name)}
}

func volatileError(name string) *Error {
	instead := "Use a column of the input instead."
	switch {
	case strings.Contains(name, "now") || strings.Contains(name, "current") || strings.Contains(name, "time") || strings.Contains(name, "today") || name == "age" || name == "ago":
		instead = "Use an event time column of the input, or filter by time where the relation is read (streamform query)."
		if clockValue(name) != "" || name == "ago" || name == "age" {
			instead += " " + TemporalForm
		}
	case strings.Contains(name, "random"):
		instead = "Use a hash of a column: hash(id) % 1000 / 1000.0."
	case strings.Contains(name, "uuid"):
		instead = "Use a key of the input, or build one: md5(id || ts)."
	}
	return &Error{Summary: "Volatile function", Detail: fmt.Sprintf("%s gives another answer each time it runs, so the relation could not be kept equal to its SQL over the same input. %s", name, instead)}
}

// CorrectionPlace finds what makes a query take rows back: an aggregate, a
// window function, DISTINCT ON, or a LIMIT.
func (f Functions) CorrectionPlace(s *Statement) (what string, start, end int) {
	sql := s.Text
	visit(s.tree, func(m map[string]any) bool {
		name := strings.ToLower(text(m, "function_name"))
		if what != "" {
			return false
		}
		if f.aggregates[name] || text(m, "class") == "WINDOW" {
			what = name + "()"
			if at, ok := location(m); ok && at <= len(sql) {
				start, end = at, at+wordLength(sql[at:], name)
			}
		}
		return true
	})
	return what, start, end
}

// CheckReading refuses an ad-hoc query that reads anything but relations; volatile functions are fine there.
func CheckReading(s *Statement) *Error {
	var found *Error
	visit(s.tree, func(m map[string]any) bool {
		if text(m, "type") != "TABLE_FUNCTION" || found != nil {
			return true
		}
		fn, _ := m["function"].(map[string]any)
		if name := strings.ToLower(text(fn, "function_name")); !tableFunctionAllowed(name) {
			found = tableFunctionError(name)
			if at, ok := location(m); ok && at <= len(s.Text) {
				found.Start, found.End = at, at+wordLength(s.Text[at:], "")
			}
		}
		return true
	})
	return found
}
