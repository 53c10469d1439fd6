package nexmark

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// random is splitmix64: a generator whose whole state is one number, so that every event has its own.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// n is in [0, k). Its bias is too small to matter.
func (r *random) n(k int64) int64 { return int64(r.next() % uint64(k)) }

// price is log-uniform between 100 and 100,000,000.
func (r *random) price() int64 {
	return int64(math.Round(math.Pow(10, 6*float64(r.next()>>11)/(1<<53)) * 100))
}

// text is 3 to limit-1 characters, less the spaces at its ends.
func (r *random) text(limit int64, filler byte) string {
	out := make([]byte, 3+r.n(limit-3))
	for i := range out {
		out[i] = filler
		if r.n(13) != 0 {
			out[i] = byte('a' + r.n(26))
		}
	}
	return strings.Trim(string(out), " ")
}

func (r *random) url() string {
	return "https://www.nexmark.com/" + r.text(5, '_') + "/" + r.text(5, '_') + "/" + r.text(5, '_') + "/item.htm?query=1"
}

// extra fills a row of have bytes up to about average.
func (g *Generator) extra(r *random, have, average int) string {
	if have > average {
		return ""
	}
	missing := int64(average - have)
	spread := int64(math.Round(float64(missing) * 0.2))
	length := missing - spread
	if spread > 0 {
		length += r.n(2 * spread)
	}
	at := r.n(letterCount - length)
	return g.letters[at : at+length]
}

// line is a JSON object under construction; every member ends with a comma.
type line struct{ out []byte }

func (l *line) name(s string) { l.out = append(strconv.AppendQuote(l.out, s), ':') }

func (l *line) number(name string, n int64) {
	l.name(name)
	l.out = append(strconv.AppendInt(l.out, n, 10), ',')
}

// text writes plain letters: nothing this room makes needs escaping.
func (l *line) text(name, s string) {
	l.name(name)
	l.out = append(append(append(l.out, '"'), s...), '"', ',')
}

func (l *line) time(name string, millis int64) {
	l.name(name)
	l.out = time.UnixMilli(millis).UTC().AppendFormat(append(l.out, '"'), "2006-01-02 15:04:05.000")
	l.out = append(l.out, '"', ',')
}
