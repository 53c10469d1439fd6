// Package literal finds the value of a text in the raw literal that it was read from, so that places in the value are places in the file.
package literal

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Style says how a text is written in its file.
type Style int

// The styles.
const (
	Plain   Style = iota // as it is
	Heredoc              // lines, indentation may be stripped, $${ and %%{ escaped
	Quoted               // backslash escapes, $${ and %%{ escaped
)

// Run is a part of a value and the part of the raw text it was read from.
type Run struct {
	Start, End int  // bytes of the value
	From, To   int  // bytes of the raw text
	Exact      bool // byte for byte; otherwise the whole run stands for the whole raw part
}

// unit is the least piece of raw text that can be told apart in the value: a
// character with its combining marks, or an escape.
type unit struct {
	from, to int
	text     string // what it stands for
}

// units reads raw text. Texts are in Unicode's normal form C, as evaluated strings are.
func units(raw []byte, style Style) []unit {
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
func nextUnit(raw []byte, style Style) (size int, text string) {
	if style != Plain && len(raw) >= 3 && raw[2] == '{' && raw[0] == raw[1] && (raw[0] == '$' || raw[0] == '%') {
		return 3, string(raw[1:3])
	}
	if style == Quoted && raw[0] == '\\' && len(raw) > 1 {
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

// Align finds the value in raw text of which only white space at the ends may be
// missing (template markers such as ~} strip it); nil when it is not there.
func Align(value string, raw []byte, style Style) []Run {
	if string(raw) == value {
		return []Run{{End: len(value), To: len(raw), Exact: true}}
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
func matchUnits(value string, us []unit) []Run {
	runs := []Run{}
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
		next := Run{at, at + len(u.text), u.from, u.to, len(u.text) == u.to-u.from}
		at = next.End
		if n := len(runs); n > 0 && runs[n-1].Exact && next.Exact && runs[n-1].To == next.From {
			runs[n-1].End, runs[n-1].To = next.End, next.To
			continue
		}
		runs = append(runs, next)
	}
	if at < len(value) {
		return nil
	}
	return runs
}

// AlignLines finds the value of a heredoc in its raw lines: each may have lost
// indentation, and template markers may have stripped white space, whole lines too, at the ends.
func AlignLines(value string, raw []byte) ([]Run, bool) {
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

func matchLines(want []string, have [][]byte, offset int) ([]Run, bool) {
	var out []Run
	at := 0
	for i, line := range want {
		runs, ok := matchLine(line, have[i], i == len(want)-1)
		if !ok {
			return nil, false
		}
		for _, r := range runs {
			r.Start, r.End, r.From, r.To = r.Start+at, r.End+at, r.From+offset, r.To+offset
			if r.Start < r.End {
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
func matchLine(want string, have []byte, last bool) ([]Run, bool) {
	if skip := len(have) - len(want); bytes.HasSuffix(have, []byte(want)) && len(bytes.TrimSpace(have[:skip])) == 0 {
		return []Run{{End: len(want), From: skip, To: len(have), Exact: true}}, true
	}
	runs := Align(want, have, Heredoc)
	if runs == nil || !last && strings.HasSuffix(string(have), "\n") != strings.HasSuffix(want, "\n") {
		return nil, false
	}
	return runs, true
}

func isSpace(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) }) < 0
}
