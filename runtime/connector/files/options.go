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

// evolutions are the modes of schema_evolution, and what each makes of values without a column.
func evolutions() map[string]string {
	return map[string]string{"propose": "rescue", "rescue": "rescue", "fail": "fail", "ignore": ""}
}

// checkEvolution is the rule of schema_evolution.
func checkEvolution(mode string) error {
	if _, ok := evolutions()[mode]; ok {
		return nil
	}
	if mode == "add_columns" || mode == "widen" {
		return fmt.Errorf("columns are not added while a pipeline runs in this version, so %q is not offered; \"propose\" keeps the values in the side relation rescued, and plan writes out the columns to declare.", mode)
	}
	return fmt.Errorf("%q is none of \"propose\", \"rescue\", \"fail\" and \"ignore\".", mode)
}

// rule checks the value of one reader option; its error completes "… must be".
type rule func(value string) error

// readerOptions lists the options of DuckDB's reader that may be set, by format. Left out are those
// that streamform decides (columns, types, sampling, rejected records, file names), and those that the careful scan of files
// with malformed records could not honour in the same way.
func readerOptions(format string) map[string]rule {
	switch format {
	case "json":
		return map[string]rule{
			"format":              oneOf("auto", "newline_delimited", "array", "unstructured"),
			"maximum_object_size": wholeNumber(1),
		}
	case "csv":
		return map[string]rule{
			"allow_quoted_nulls": oneOf("true", "false"),
			"delim":              characters(1, 1),
			"escape":             characters(0, 1),
			"header":             oneOf("true", "false"),
			"max_line_size":      wholeNumber(1),
			"null_padding":       oneOf("true", "false"),
			"nullstr":            func(string) error { return nil },
			"quote":              characters(0, 1),
			"skip":               wholeNumber(0),
			"strict_mode":        oneOf("true", "false"),
		}
	case "parquet":
		return map[string]rule{"binary_as_string": oneOf("true", "false")}
	}
	return nil
}

// hints says what to do instead of options that other tools and DuckDB itself have.
func hints() map[string]string {
	convert := "Give the column the type VARCHAR and convert it in a stream, with strptime, replace or a cast."
	columns := "Use the attribute columns of the source."
	return map[string]string{
		"delimiter": "Use delim.", "sep": "Use delim.", "nullvalue": "Use nullstr.", "null_value": "Use nullstr.", "maximum_line_size": "Use max_line_size.",
		"dateformat": convert, "date_format": convert, "dateFormat": convert, "timestampformat": convert, "timestamp_format": convert, "timestampFormat": convert,
		"decimal_separator": convert, "thousands": convert,
		"columns": columns, "types": columns, "dtypes": columns, "column_types": columns, "names": columns, "column_names": columns,
		"all_varchar":   "Use infer_types = false.",
		"sample_size":   "Use the attributes infer_files and infer_bytes of the source.",
		"filename":      "Use the attribute metadata of the source.",
		"ignore_errors": "Use the attribute on_malformed of the source.", "store_rejects": "Use the attribute on_malformed of the source.",
		"compression": "Compression is told by the file's ending: .gz or .zst.",
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
	hint := hints()[name]
	if near := schema.Nearest(name, possible); hint == "" && near != "" {
		hint = fmt.Sprintf("Did you mean %q?", near)
	}
	if hint != "" {
		hint = " " + hint
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
