package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Value writes a JSON value in HCL's spelling: strings in quotes, collections
// over several lines, each line after the first indented by indent spaces.
func Value(raw json.RawMessage, indent int) string {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return string(raw)
	}
	return hcl(v, indent)
}

func hcl(v any, indent int) string {
	margin := strings.Repeat(" ", indent)
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return quoted(v)
	case []any:
		if len(v) == 0 {
			return "[]"
		}
		var b strings.Builder
		b.WriteString("[\n")
		for _, e := range v {
			fmt.Fprintf(&b, "%s  %s,\n", margin, hcl(e, indent+2))
		}
		return b.String() + margin + "]"
	case map[string]any:
		return object(v, indent)
	}
	return fmt.Sprint(v)
}

func object(v map[string]any, indent int) string {
	if len(v) == 0 {
		return "{}"
	}
	identifier := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)
	spelled, width := make(map[string]string, len(v)), 0
	names := make([]string, 0, len(v))
	for name := range v {
		s := name
		if !identifier.MatchString(name) {
			s = quoted(name)
		}
		spelled[name], width = s, max(width, len(s))
		names = append(names, name)
	}
	slices.Sort(names)
	margin := strings.Repeat(" ", indent)
	var b strings.Builder
	b.WriteString("{\n")
	for _, name := range names {
		fmt.Fprintf(&b, "%s  %-*s = %s\n", margin, width, spelled[name], hcl(v[name], indent+2))
	}
	return b.String() + margin + "}"
}

// quoted writes a string literal; ${ and %{ are doubled so that it reads back as the same text.
func quoted(s string) string {
	s = strconv.Quote(s)
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(s)
}
