package lang

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// literalStyle says how a text is written in its file.
type literalStyle int

const (
	plainStyle   literalStyle = iota // as it is
	heredocStyle                     // lines, indentation may be stripped, $${ and %%{ escaped
	quotedStyle                      // backslash escapes, $${ and %%{ escaped
)

// styleAt tells a heredoc from a quoted template by how it begins.
func styleAt(src *sourceText, offset int) literalStyle {
	if bytes.HasPrefix(src.from(offset), []byte("<<")) {
		return heredocStyle
	}
	return quotedStyle
}

// run is a part of a value and the part of the raw text it was read from.
type run struct {
	start, end int // bytes of the value
	from, to   int // bytes of the raw text
	exact      bool
}

// unit is the least piece of raw text that can be told apart in the value: a
// character with its combining marks, or an escape.
type unit struct {
	from, to int
	text     string // what it stands for
}

// units reads raw text. Texts are in Unicode's normal form C, as evaluated strings are.
func units(raw []byte, style literalStyle) []unit {
	var out []unit
	for i := 0; i < len(raw); {
		size, text := nextUnit(raw[i:], style)
		joins := text[0] >= utf8.RuneSelf && !norm.NFC.PropertiesString(text).BoundaryBefore()
		if joins && len(out) > 0 {
			last := &out[len(out)-1]
			last.to, last.text = i+size, norm.NFC.String(last.text+text)
		} else {
			out = append(out, unit{i, i + size, norm.NFC.String(text)})
		}
		i += size
	}
	return out
}

// nextUnit reads one character or escape.
func nextUnit(raw []byte, style literalStyle) (size int, text string) {
	if style != plainStyle && len(raw) >= 3 && raw[2] == '{' && raw[0] == raw[1] && (raw[0] == '$' || raw[0] == '%') {
		return 3, string(raw[1:3])
	}
	if style == quotedStyle && raw[0] == '\\' && len(raw) > 1 {
		switch raw[1] {
		case 'n':
			return 2, "\n"
		case 'r':
			return 2, "\r"
		case 't':
			return 2, "\t"
		case 'u', 'U':
			digits := map[byte]int{'u': 4, 'U': 8}[raw[1]]
			if len(raw) >= 2+digits {
				if n, err := strconv.ParseUint(string(raw[2:2+digits]), 16, 32); err == nil {
					return 2 + digits, string(rune(n))
				}
			}
		}
		return 2, string(raw[1:2])
	}
	_, size = utf8.DecodeRune(raw)
	return size, string(raw[:size])
}

// alignText finds the value in raw text of which only white space at the ends may be
// missing (template markers such as ~} strip it); nil when it is not there.
func alignText(value string, raw []byte, style literalStyle) []run {
	if string(raw) == value {
		return []run{{end: len(value), to: len(raw), exact: true}}
	}
	us := units(raw, style)
	for skip := 0; ; skip++ {
		if runs := matchUnits(value, us[skip:]); runs != nil {
			return runs
		}
		if skip == len(us) || !isSpace(us[skip].text) {
			return nil
		}
	}
}

// matchUnits takes units until the value is complete; the rest must be white space.
func matchUnits(value string, us []unit) []run {
	runs := []run{}
	at := 0
	for _, u := range us {
		if at == len(value) {
			if !isSpace(u.text) {
				return nil
			}
			continue
		}
		if !strings.HasPrefix(value[at:], u.text) {
			return nil
		}
		next := run{at, at + len(u.text), u.from, u.to, len(u.text) == u.to-u.from}
		at = next.end
		if n := len(runs); n > 0 && runs[n-1].exact && next.exact && runs[n-1].to == next.from {
			runs[n-1].end, runs[n-1].to = next.end, next.to
			continue
		}
		runs = append(runs, next)
	}
	if at < len(value) {
		return nil
	}
	return runs
}

// alignLines finds the value of a heredoc in its raw lines: each may have lost
// indentation, and template markers may have stripped white space, whole lines too, at the ends.
func alignLines(value string, raw []byte) ([]run, bool) {
	want := strings.SplitAfter(value, "\n")
	have := bytes.SplitAfter(raw, []byte("\n"))
	skipped := 0
	for first := 0; first+len(want) <= len(have); first++ {
		if runs, ok := matchLines(want, have[first:], skipped); ok {
			return runs, true
		}
		if len(bytes.TrimSpace(have[first])) > 0 {
			break
		}
		skipped += len(have[first])
	}
	return nil, false
}

func matchLines(want []string, have [][]byte, offset int) ([]run, bool) {
	var out []run
	at := 0
	for i, line := range want {
		runs, ok := matchLine(line, have[i], i == len(want)-1)
		if !ok {
			return nil, false
		}
		for _, r := range runs {
			r.start, r.end, r.from, r.to = r.start+at, r.end+at, r.from+offset, r.to+offset
			if r.start < r.end {
				out = append(out, r)
			}
		}
		at += len(line)
		offset += len(have[i])
	}
	for _, rest := range have[len(want):] {
		if len(bytes.TrimSpace(rest)) > 0 {
			return nil, false
		}
	}
	return out, true
}

// matchLine finds a line of the value in a raw line that may begin with stripped white space.
func matchLine(want string, have []byte, last bool) ([]run, bool) {
	if skip := len(have) - len(want); bytes.HasSuffix(have, []byte(want)) && len(bytes.TrimSpace(have[:skip])) == 0 {
		return []run{{end: len(want), from: skip, to: len(have), exact: true}}, true
	}
	runs := alignText(want, have, heredocStyle)
	if runs == nil || !last && strings.HasSuffix(string(have), "\n") != strings.HasSuffix(want, "\n") {
		return nil, false
	}
	return runs, true
}

func isSpace(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) }) < 0
}
