package view

import (
	"unicode"

	"golang.org/x/text/width"
)

// columnsOf is how many columns of a terminal a text takes: two for wide characters, none for marks above others.
func columnsOf(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case wide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

func wide(r rune) bool {
	if r < 0x1100 {
		return false
	}
	k := width.LookupRune(r).Kind()
	return k == width.EastAsianWide || k == width.EastAsianFullwidth
}
