package scan

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/streamform/streamform/runtime/query/result"
)

// Bad is one record that could not be read.
type Bad struct {
	Line   int64 // first line of the record in the file, from 1; 0 where records are not lines
	Row    int64 // its number among the file's records, where they are not lines
	Raw    []byte
	Reason string
}

// Cleaned is what is left of a JSON file: its readable records, one line each, as {"l": line, "r": record}, and "u": what is unknown of it.
type Cleaned struct {
	Path string
	From string // the file that was cleaned
	Rows int64
	Bad  []Bad
	// Values: l is the number of the record, which need not be a line.
	Values bool
	// Longest is the size of the longest line written, in bytes.
	Longest int
}

// CleanJSON copies the readable records of a JSON file into a file of its own. A
// file that is no list of lines is one JSON value or several: it is read whole or, with a *FileError, not at all. What a record has that is
// not known goes beside it, unless nothing is.
func CleanJSON(path, to string, known *result.Members) (Cleaned, error) {
	out := Cleaned{Path: to, From: path}
	whole, err := firstIsWhole(path)
	if err != nil {
		return out, err
	}
	if !whole {
		values, err := cleanValues(path, to, known)
		if err == nil {
			return values, nil
		}
		var file *FileError
		if first, e := firstByte(path); !errors.As(err, &file) || e != nil || first == '[' {
			return out, err
		}
	}
	return cleanLines(path, to, known)
}

// firstIsWhole reports whether the first line that is not blank is a JSON object by itself.
func firstIsWhole(path string) (bool, error) {
	r, err := Open(path)
	if err != nil {
		return false, &FileError{Path: path, Err: err}
	}
	defer r.Close()
	in := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line[0] == '{' && json.Valid(line), nil
		}
		if err != nil {
			return true, nil
		}
	}
}

func firstByte(path string) (byte, error) {
	r, err := Open(path)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	in := bufio.NewReader(r)
	for {
		b, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			return b, nil
		}
	}
}

type writer struct {
	file *os.File
	buf  *bufio.Writer
	rows int64
	// longest line so far
	longest int
	known   *result.Members // nil: what a record has is not looked at
}

func create(path string, known *result.Members) (*writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("writing cleaned records: %w", err)
	}
	return &writer{file: f, buf: bufio.NewWriterSize(f, 1<<20), known: known}, nil
}

func (w *writer) record(line int64, raw []byte) {
	w.rows++
	w.longest = max(w.longest, len(raw)+32)
	w.buf.WriteString(`{"l":`)
	w.buf.WriteString(strconv.FormatInt(line, 10))
	w.buf.WriteString(`,"r":`)
	w.buf.Write(raw)
	if w.known != nil {
		if left := leftOver(raw, w.known); left != nil {
			w.longest = max(w.longest, len(raw)+len(left)+32)
			w.buf.WriteString(`,"u":`)
			w.buf.Write(left)
		}
	}
	w.buf.WriteString("}\n")
}

func (w *writer) close() error {
	if err := errors.Join(w.buf.Flush(), w.file.Close()); err != nil {
		return fmt.Errorf("writing cleaned records: %w", err)
	}
	return nil
}

// rawLimit bounds how much of a bad record is kept, in bytes.
const rawLimit = 1 << 20

func cleanLines(path, to string, known *result.Members) (Cleaned, error) {
	out := Cleaned{Path: to, From: path}
	r, err := Open(path)
	if err != nil {
		return out, &FileError{Path: path, Err: err}
	}
	defer r.Close()
	w, err := create(to, known)
	if err != nil {
		return out, err
	}
	in := bufio.NewReaderSize(r, 1<<20)
	for line := int64(1); ; line++ {
		raw, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return out, errors.Join(&FileError{Path: path, Err: fmt.Errorf("the data is damaged or cut off: %w", err)}, w.close())
		}
		if text := bytes.TrimSpace(raw); len(text) > 0 {
			if reason := invalid(text); reason == "" {
				w.record(line, text)
			} else {
				out.Bad = append(out.Bad, Bad{Line: line, Raw: bytes.Clone(text[:min(len(text), rawLimit)]), Reason: reason})
			}
		}
		if err != nil {
			break
		}
	}
	out.Rows, out.Longest = w.rows, w.longest
	return out, w.close()
}

const notObject = "the record is not a JSON object"

// halved says that valid JSON has an escape that is no character: one half of a surrogate pair. It is "" otherwise.
func halved(text []byte) string {
	for i := bytes.IndexByte(text, '\\'); i >= 0 && i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		first := escaped(text[i:])
		switch {
		case !utf16.IsSurrogate(first):
			i++
		case utf16.DecodeRune(first, escaped(text[i+6:])) == unicode.ReplacementChar:
			return fmt.Sprintf("the escape %s is half a character: its other half does not follow or precede it", text[i:i+6])
		default:
			i += 11
		}
	}
	return ""
}

// escaped is the character that an escape of the form \uXXXX at the beginning of a text stands for; -1 where there is none.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// invalid says why a text is no record, or "".
func invalid(text []byte) string {
	if !utf8.Valid(text) {
		return "the record is not valid UTF-8"
	}
	if json.Valid(text) {
		if text[0] != '{' {
			return notObject
		}
		return halved(text)
	}
	var v any
	err := json.Unmarshal(text, &v)
	var at *json.SyntaxError
	if errors.As(err, &at) {
		return fmt.Sprintf("malformed JSON at byte %d: %s", at.Offset, at.Error())
	}
	return "malformed JSON"
}

// cleanValues reads an array of objects, or objects one after the other over any number of lines.
func cleanValues(path, to string, known *result.Members) (Cleaned, error) {
	out := Cleaned{Path: to, From: path}
	r, err := Open(path)
	if err != nil {
		return out, &FileError{Path: path, Err: err}
	}
	defer r.Close()
	w, err := create(to, known)
	if err != nil {
		return out, err
	}
	out.Values = true
	dec := json.NewDecoder(bufio.NewReaderSize(r, 1<<20))
	n := int64(0)
	for {
		var value json.RawMessage
		err := dec.Decode(&value)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return out, errors.Join(&FileError{Path: path, Err: fmt.Errorf("malformed JSON near byte %d: %w", dec.InputOffset(), err)}, w.close())
		}
		elements := []json.RawMessage{value}
		if value[0] == '[' {
			elements = nil
			if err := json.Unmarshal(value, &elements); err != nil {
				return out, errors.Join(&FileError{Path: path, Err: err}, w.close())
			}
		}
		for _, e := range elements {
			n++
			out.add(w, n, e)
		}
	}
	out.Rows, out.Longest = w.rows, w.longest
	return out, w.close()
}

func (c *Cleaned) add(w *writer, n int64, e json.RawMessage) {
	reason := notObject
	if e[0] == '{' {
		reason = halved(e)
	}
	if reason != "" {
		c.Bad = append(c.Bad, Bad{Row: n, Raw: bytes.Clone(e[:min(len(e), rawLimit)]), Reason: reason})
		return
	}
	var flat bytes.Buffer
	if json.Compact(&flat, e) != nil {
		flat.Write(e)
	}
	w.record(n, flat.Bytes())
}
