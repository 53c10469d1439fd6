// Package view prints what commands found out: text for people, lines of JSON for programs.
package view

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Terminal is what is known about a stream that is printed to.
type Terminal struct {
	io.Writer
	Interactive bool // a person watches: lines may be redrawn
	Color       bool
	Width       int // columns; 0 when it is no terminal
}

// Look finds out about a stream. NO_COLOR and noColor switch colors off,
// FORCE_COLOR and CLICOLOR_FORCE switch them on where there is no terminal.
func Look(w io.Writer, env func(string) string, noColor bool) Terminal {
	t := Terminal{Writer: w}
	if width, is := Screens(w); is {
		t.Interactive = env("TERM") != "dumb"
		t.Width = width
	}
	forced := set(env("FORCE_COLOR")) || set(env("CLICOLOR_FORCE"))
	t.Color = (t.Interactive || forced) && env("NO_COLOR") == "" && !noColor
	return t
}

// IsTerminal reports whether a person can answer on the stream.
func IsTerminal(r io.Reader) bool {
	_, is := Screens(r)
	return is
}

// screen is a stream that ends on another process's terminal, or on none.
type screen interface {
	Screens() (width int, terminal bool)
}

// Screens reports whether a stream is a terminal, and its width in columns: 80 where it is not known.
func Screens(stream any) (width int, terminal bool) {
	switch s := stream.(type) {
	case screen:
		return s.Screens()
	case *os.File:
		if !term.IsTerminal(int(s.Fd())) {
			return 0, false
		}
		if width, _, err := term.GetSize(int(s.Fd())); err == nil && width > 0 {
			return width, true
		}
		return 80, true
	}
	return 0, false
}

func set(value string) bool {
	value = strings.ToLower(value)
	return value != "" && value != "0" && value != "false"
}

// Style is one way to set text off, as a terminal's SGR parameters.
type Style string

// The styles in use.
const (
	Bold      Style = "1"
	Red       Style = "31"
	Green     Style = "32"
	Yellow    Style = "33"
	Dim       Style = "90"
	BoldGreen Style = "1;32"
	BoldRed   Style = "1;31"
)

// Paint sets text off where colors are on.
func (t Terminal) Paint(s Style, text string) string {
	if !t.Color || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}
