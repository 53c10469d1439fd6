package files

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/streamform/streamform/lang/schema"
)

// formats lists what files can be decoded from.
func formats() []string { return []string{"json", "csv", "parquet"} }

// laterFormats lists formats that people will ask for and that this version does not read.
func laterFormats() []string { return []string{"avro", "text", "binary", "orc", "xml"} }

// checkFormat is the rule of the attribute format.
func checkFormat(format string) error {
	if slices.Contains(formats(), format) {
		return nil
	}
	if slices.Contains(laterFormats(), strings.ToLower(format)) {
		return fmt.Errorf("files of format %q are not read in this version; use \"json\", \"csv\" or \"parquet\".", format)
	}
	msg := fmt.Sprintf("%q is not a format; use \"json\" (also for newline-delimited JSON), \"csv\" or \"parquet\".", format)
	if near := schema.Nearest(strings.ToLower(format), append(formats(), laterFormats()...)); slices.Contains(formats(), near) {
		msg += fmt.Sprintf(" Did you mean %q?", near)
	}
	return errors.New(msg)
}

// rule checks the value of one reader option; its error completes "… must be".
type rule func(value string) error

// readerOptions lists the options of DuckDB's reader that may be set, by format. Left out are those
// that streamform decides: columns, types, sampling, rejected records, hive partitions and file names.
func readerOptions(format string) map[string]rule {
	switch format {
	case "json":
		return map[string]rule{
			"compression":                 oneOf("auto", "none", "gzip", "zstd"),
			"convert_strings_to_integers": isBool,
			"dateformat":                  notEmpty,
			"format":                      oneOf("auto", "newline_delimited", "array", "unstructured"),
			"map_inference_threshold":     wholeNumber(-1),
			"maximum_depth":               wholeNumber(-1),
			"maximum_object_size":         wholeNumber(1),
			"timestampformat":             notEmpty,
		}
	case "csv":
		return map[string]rule{
			"allow_quoted_nulls": isBool,
			"comment":            characters(0, 1),
			"compression":        oneOf("auto", "none", "gzip", "zstd"),
			"dateformat":         notEmpty,
			"decimal_separator":  oneOf(".", ","),
			"delim":              characters(1, 4),
			"encoding":           oneOf("utf-8", "utf-16", "latin-1"),
			"escape":             characters(0, 1),
			"header":             isBool,
			"max_line_size":      wholeNumber(1),
			"new_line":           oneOf(`\n`, `\r`, `\r\n`),
			"normalize_names":    isBool,
			"null_padding":       isBool,
			"nullstr":            anything,
			"quote":              characters(0, 1),
			"skip":               wholeNumber(0),
			"strict_mode":        isBool,
			"thousands":          characters(1, 1),
			"timestampformat":    notEmpty,
		}
	case "parquet":
		return map[string]rule{"binary_as_string": isBool}
	}
	return nil
}

// otherNames gives the reader's name of options people know by the name another tool has for them.
func otherNames() map[string]string {
	return map[string]string{
		"delimiter": "delim", "sep": "delim", "nullvalue": "nullstr", "null_value": "nullstr",
		"dateFormat": "dateformat", "date_format": "dateformat", "timestampFormat": "timestampformat", "timestamp_format": "timestampformat",
		"charset": "encoding", "maximum_line_size": "max_line_size", "ignore_errors": "on_malformed", "all_varchar": "infer_types",
		"sample_size": "infer_bytes", "columns": "columns", "types": "columns", "names": "columns", "filename": "metadata", "union_by_name": "columns",
	}
}

// anyFormatOption is the rule of format_options where the format is not known: an option that no format has.
func anyFormatOption(options map[string]string) error {
	for _, name := range sortedKeys(options) {
		known := slices.ContainsFunc(formats(), func(f string) bool { return readerOptions(f)[name] != nil })
		if !known {
			return unknownOption(name, allOptionNames())
		}
	}
	return nil
}

// checkOptions is the rule of format_options for one format.
func checkOptions(format string, options map[string]string) error {
	rules := readerOptions(format)
	for _, name := range sortedKeys(options) {
		check, ok := rules[name]
		if !ok {
			return fmt.Errorf("in format_options for %s files: %w", format, unknownOption(name, sortedKeys(rules)))
		}
		if err := check(options[name]); err != nil {
			return fmt.Errorf("in format_options for %s files, %s = %q must be %w.", format, name, options[name], err)
		}
	}
	return nil
}

// unknownOption says what is possible instead of a name.
func unknownOption(name string, possible []string) error {
	hint := ""
	if other, ok := otherNames()[name]; ok {
		hint = fmt.Sprintf(" Use %s.", other)
		if !slices.Contains(possible, other) {
			hint = fmt.Sprintf(" Use the attribute %s of the source.", other)
		}
	} else if near := schema.Nearest(name, possible); near != "" {
		hint = fmt.Sprintf(" Did you mean %q?", near)
	}
	return fmt.Errorf("%q is not an option here.%s Possible are %s.", name, hint, strings.Join(possible, ", "))
}

// allOptionNames lists the options of all formats, sorted.
func allOptionNames() []string {
	all := map[string]rule{}
	for _, f := range formats() {
		for name, r := range readerOptions(f) {
			all[name] = r
		}
	}
	return sortedKeys(all)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

func anything(string) error { return nil }

func notEmpty(value string) error {
	if value == "" {
		return errors.New("a format such as %Y-%m-%d, not empty")
	}
	return nil
}

func isBool(value string) error { return oneOf("true", "false")(value) }

func oneOf(values ...string) rule {
	return func(value string) error {
		if slices.Contains(values, value) {
			return nil
		}
		return fmt.Errorf("one of %s", strings.Join(values, ", "))
	}
}

func wholeNumber(least int64) rule {
	return func(value string) error {
		if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < least {
			return fmt.Errorf("a whole number of at least %d", least)
		}
		return nil
	}
}

func characters(least, most int) rule {
	return func(value string) error {
		n := utf8.RuneCountInString(value)
		switch {
		case n >= least && n <= most:
			return nil
		case least == most:
			return fmt.Errorf("exactly %d character", least)
		}
		return fmt.Errorf("%d to %d characters", least, most)
	}
}
