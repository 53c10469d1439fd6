// Package statement parses SQL with DuckDB, finds the relations it reads, and says what is wrong with it and where.
package statement

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/duck"
)

// Name is one relation that a query reads, and where it stands in the text.
type Name struct {
	Schema   string // "purchases" in purchases.malformed; empty for a bare name
	Relation string
	Start    int // bytes, End exclusive
	End      int
}

// Error is what is wrong with a query: a user's mistake. Start and End are byte
// offsets in the SQL, equal when the place is unknown.
type Error struct {
	Summary string
	Detail  string
	Start   int
	End     int
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Summary, e.Detail) }

// Statement is a parsed SELECT: DuckDB's own tree, as json_serialize_sql writes it.
type Statement struct {
	tree any
	Text string // as written
	Body string // the text without a closing semicolon
}

// Parse reads one SELECT. Anything else is an *Error.
func Parse(ctx context.Context, c *duck.Conn, sql string) (*Statement, error) {
	doc, err := Serialize(ctx, c, sql)
	if err != nil {
		return nil, err
	}
	return Read(doc, sql)
}

// Serialize asks DuckDB for a text's tree as JSON, for Read.
func Serialize(ctx context.Context, c *duck.Conn, sql string) (string, error) {
	if at := notText(sql); at >= 0 {
		return "", &Error{Summary: "SQL is not text", Detail: "The text holds a byte that is no character in UTF-8, or the zero byte. Remove it.", Start: at, End: at + 1}
	}
	doc, err := c.Value(ctx, "SELECT CAST(json_serialize_sql("+bound.Text(sql)+") AS VARCHAR)")
	if err != nil {
		return "", fmt.Errorf("parsing SQL: %w", err)
	}
	return QuoteNumbers(doc), nil
}

// Read reads what Serialize returned for sql.
func Read(doc, sql string) (*Statement, error) {
	var out struct {
		Report
		Statements []json.RawMessage `json:"statements"`
	}
	if err := json.Unmarshal([]byte(doc), &out); err != nil {
		return nil, fmt.Errorf("reading the parsed SQL: %w", err)
	}
	if out.Error {
		return nil, out.AsError(sql)
	}
	if len(out.Statements) != 1 {
		return nil, &Error{Summary: "One SELECT is needed", Detail: fmt.Sprintf("The text holds %d statements. Keep the SELECT that defines the relation and remove the others.", len(out.Statements))}
	}
	var tree any
	dec := json.NewDecoder(bytes.NewReader(out.Statements[0]))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("reading the parsed SQL: %w", err)
	}
	return &Statement{tree: tree, Text: sql, Body: withoutSemicolon(sql)}, nil
}

// notText is where the first byte stands that cannot be part of SQL; -1 when there is none.
func notText(sql string) int {
	for i, r := range sql {
		if r == 0 || r == utf8.RuneError && !strings.HasPrefix(sql[i:], "\uFFFD") {
			return i
		}
	}
	return -1
}

// Report is an error as DuckDB's JSON functions write it.
type Report struct {
	Error    bool   `json:"error"`
	Type     string `json:"error_type"`
	Message  string `json:"error_message"`
	Position string `json:"position"`
	Subtype  string `json:"error_subtype"`
	Name     string `json:"name"`
}

// AsError turns the report into what the user is told about sql.
func (r Report) AsError(sql string) *Error {
	e := &Error{Summary: "Invalid SQL", Detail: Sentence(strings.ReplaceAll(r.Message, "bindings: : ", "bindings: "))}
	switch {
	case strings.Contains(r.Message, "Only SELECT statements") && strings.Contains(strings.ToUpper(sql), "PIVOT"):
		e.Summary, e.Detail = "PIVOT without its columns", "Without IN the columns of the relation would change with its rows. Write the values out that become columns: PIVOT … ON kind IN ('a', 'b') USING …."
	case strings.Contains(r.Message, "Only SELECT statements"):
		e.Summary, e.Detail = "Only a SELECT can define a relation", "Statements that change data, files or settings are not allowed here. Write the SELECT whose rows the relation should hold."
	case r.Type == "parser":
		e.Summary = "SQL syntax error"
	case r.Subtype == "COLUMN_NOT_FOUND", strings.Contains(r.Message, "does not have a column named"):
		e.Summary = "Unknown column"
	case r.Subtype == "MISSING_ENTRY":
		e.Summary = "Unknown name in SQL"
	case strings.Contains(strings.ToLower(r.Type), "permission"):
		e.Summary, e.Detail = "SQL may not reach files or the network", "SQL reads relations only: declare a source for the data and read it by its name. "+e.Detail
	}
	if at, err := strconv.Atoi(r.Position); err == nil && at >= 0 && at <= len(sql) {
		e.Start, e.End = at, at+wordLength(sql[at:], r.Name)
	}
	return e
}

// Sentence begins a message with a capital letter and ends it with a full stop.
func Sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.ContainsAny(s[len(s)-1:], ".!?\"") {
		s += "."
	}
	return s
}

// wordLength is how much of rest an error means: the name, or the word that begins there.
func wordLength(rest, name string) int {
	if name != "" && strings.HasPrefix(strings.ToLower(rest), strings.ToLower(name)) {
		return len(name)
	}
	n := strings.IndexFunc(rest, func(r rune) bool {
		return !(r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127)
	})
	switch {
	case n < 0:
		return len(rest)
	case n == 0 && len(rest) > 0:
		return 1
	}
	return n
}

// visit walks the tree. fn returns false to leave a part out.
func visit(v any, fn func(map[string]any) bool) {
	switch v := v.(type) {
	case map[string]any:
		if !fn(v) {
			return
		}
		for _, k := range slices.Sorted(mapKeys(v)) {
			visit(v[k], fn)
		}
	case []any:
		for _, e := range v {
			visit(e, fn)
		}
	}
}

func mapKeys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// location is the byte offset of a tree part; ok is false where DuckDB gives none.
func location(m map[string]any) (int, bool) {
	n, isNumber := m["query_location"].(json.Number)
	if !isNumber {
		return 0, false
	}
	u, err := strconv.ParseUint(string(n), 10, 64)
	if err != nil || u > math.MaxInt32 {
		return 0, false
	}
	return int(u), true
}

// Names lists the relations read, without CTEs, in the order they stand in the text.
func (s *Statement) Names() []Name {
	sql := s.Text
	var out []Name
	collectNames(s.tree, nil, func(m map[string]any) {
		n := Name{Schema: text(m, "schema_name"), Relation: text(m, "table_name")}
		if at, ok := location(m); ok && at <= len(sql) {
			n.Start, n.End = at, at+nameLength(sql[at:], n)
		}
		out = append(out, n)
	})
	slices.SortStableFunc(out, func(a, b Name) int { return a.Start - b.Start })
	return out
}

func nameLength(rest string, n Name) int {
	for _, form := range []string{n.Relation, `"` + n.Relation + `"`, n.Schema + "." + n.Relation, "'" + n.Relation + "'"} {
		if strings.HasPrefix(strings.ToLower(rest), strings.ToLower(form)) {
			return len(form)
		}
	}
	return wordLength(rest, "")
}

// collectNames calls found for every base table that is no CTE of its scope.
func collectNames(v any, ctes []string, found func(map[string]any)) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			collectNames(e, ctes, found)
		}
	case map[string]any:
		if text(v, "type") == "BASE_TABLE" {
			bare := text(v, "schema_name") == "" && text(v, "catalog_name") == ""
			if !bare || !slices.Contains(ctes, strings.ToLower(text(v, "table_name"))) {
				found(v)
			}
		}
		scope := ctes
		if name := text(v, "cte_name"); name != "" {
			scope = append(slices.Clone(scope), strings.ToLower(name))
		}
		if entries, ok := cteEntries(v); ok {
			scope = slices.Clone(scope)
			for _, e := range entries {
				collectNames(e["value"], recursive(e, scope), found)
				scope = append(scope, strings.ToLower(text(e, "key")))
			}
		}
		for _, k := range slices.Sorted(mapKeys(v)) {
			if k != "cte_map" {
				collectNames(v[k], scope, found)
			}
		}
	}
}

// recursive adds a CTE's own name to its scope when it may read itself.
func recursive(entry map[string]any, scope []string) []string {
	isRecursive := false
	visit(entry["value"], func(m map[string]any) bool {
		isRecursive = isRecursive || text(m, "type") == "RECURSIVE_CTE_NODE"
		return true
	})
	if isRecursive {
		return append(slices.Clone(scope), strings.ToLower(text(entry, "key")))
	}
	return scope
}

func cteEntries(m map[string]any) ([]map[string]any, bool) {
	cteMap, ok := m["cte_map"].(map[string]any)
	if !ok {
		return nil, false
	}
	list, _ := cteMap["map"].([]any)
	var out []map[string]any
	for _, e := range list {
		if entry, ok := e.(map[string]any); ok {
			out = append(out, entry)
		}
	}
	return out, true
}

// withoutSemicolon cuts the text at its closing semicolon, so that it can stand in parentheses.
func withoutSemicolon(sql string) string {
	for i := 0; i < len(sql); i++ {
		switch sql[i] {
		case ';':
			return sql[:i]
		case '\'', '"':
			i += skipTo(sql[i+1:], sql[i:i+1])
		case '-':
			if strings.HasPrefix(sql[i:], "--") {
				i += skipTo(sql[i+1:], "\n")
			}
		case '/':
			if strings.HasPrefix(sql[i:], "/*") {
				i += skipTo(sql[i+2:], "*/") + 2
			}
		case '$':
			if tag := dollarTag(sql[i:]); tag != "" {
				i += len(tag) - 1 + skipTo(sql[i+len(tag):], tag)
			}
		}
	}
	return sql
}

func skipTo(rest, end string) int {
	n := strings.Index(rest, end)
	if n < 0 {
		return len(rest)
	}
	return n + len(end)
}

func dollarTag(rest string) string {
	n := strings.IndexByte(rest[1:], '$')
	if n < 0 {
		return ""
	}
	tag := rest[:n+2]
	for _, r := range tag[1 : len(tag)-1] {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return ""
		}
	}
	return tag
}
