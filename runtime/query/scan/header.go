package scan

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// headerLimit bounds the first record of a CSV file, in characters.
const headerLimit = 1 << 20

// heading is how a CSV file begins.
type heading struct {
	names []string // of its columns; nil when the file has no record
	skip  int      // lines before the one that names them
}

// heading reads the first record of a CSV file as the names of its columns, by the rules that DuckDB's reader has for the
// records after it. Blank lines before it count among those to skip: the reader would take the first of them for the header.
func (d dialect) heading(in *bufio.Reader) (heading, error) {
	h := heading{skip: d.skip}
	if bom, err := in.Peek(3); err == nil && string(bom) == "\ufeff" {
		if _, err := in.Discard(3); err != nil {
			return h, err
		}
	}
	for range d.skip {
		if _, err := in.ReadString('\n'); errors.Is(err, io.EOF) {
			return h, nil
		} else if err != nil {
			return h, err
		}
	}
	for ; ; h.skip++ {
		var err error
		if h.names, err = d.record(in); err != nil || len(h.names) != 1 || h.names[0] != "" {
			return h, err
		}
	}
}

// record reads the fields up to the end of a line that is not inside quotes; nil at the end of the file.
func (d dialect) record(in *bufio.Reader) ([]string, error) {
	var fields []string
	var field strings.Builder
	quoted, begun := false, false // inside quotes; a character of the record was read
	for n := 0; ; n++ {
		if n > headerLimit {
			return nil, errors.New("the header does not end; is a quote missing?")
		}
		c, _, err := in.ReadRune()
		switch {
		case errors.Is(err, io.EOF) && !begun:
			return nil, nil
		case errors.Is(err, io.EOF) && quoted:
			return nil, errors.New("the header ends inside quotes")
		case errors.Is(err, io.EOF):
			return append(fields, field.String()), nil
		case err != nil:
			return nil, err
		}
		begun = true
		next, _ := in.Peek(1)
		switch s := string(c); {
		case quoted && s == d.escape && string(next) == d.quote:
			field.WriteString(d.quote)
			if _, err := in.Discard(1); err != nil {
				return nil, err
			}
		case s == d.quote && (quoted || field.Len() == 0):
			quoted = !quoted
		case quoted:
			field.WriteRune(c)
		case s == d.delim:
			fields = append(fields, field.String())
			field.Reset()
		case s == "\n", s == "\r":
			if s == "\r" && string(next) == "\n" {
				if _, err := in.Discard(1); err != nil {
					return nil, err
				}
			}
			return append(fields, field.String()), nil
		default:
			field.WriteRune(c)
		}
	}
}
