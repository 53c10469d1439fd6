package tpch

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// logs writes one file of changes per table.
type logs struct {
	files   map[string]*os.File
	writers map[string]*bufio.Writer
	rows    map[string]int
	seq     *int64
	line    []byte
	err     error
}

func openLogs(dir, suffix string, seq *int64) (*logs, error) {
	l := &logs{files: map[string]*os.File{}, writers: map[string]*bufio.Writer{}, rows: map[string]int{}, seq: seq}
	for _, t := range Tables() {
		f, err := os.Create(filepath.Join(dir, t.Log()+"-"+suffix+".json"))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("writing changes: %w", err), l.close())
		}
		l.files[t.Name], l.writers[t.Name] = f, bufio.NewWriterSize(f, 1<<18)
	}
	return l, nil
}

func (l *logs) close() error {
	err := l.err
	for name, f := range l.files {
		err = errors.Join(err, l.writers[name].Flush(), f.Close())
	}
	return err
}

// paths are the files that got a row, by the log's name.
func (l *logs) paths() map[string]string {
	out := map[string]string{}
	for _, t := range Tables() {
		if l.rows[t.Name] > 0 {
			out[t.Log()] = l.files[t.Name].Name()
		}
	}
	return out
}

// write ends a change and writes it.
func (l *logs) write(table, op string) {
	*l.seq++
	l.rows[table]++
	l.text("op", op)
	l.number("seq", *l.seq)
	l.line[0], l.line[len(l.line)-1] = '{', '}'
	if _, err := l.writers[table].Write(append(l.line, '\n')); err != nil {
		l.err = errors.Join(l.err, err)
	}
	l.line = l.line[:0]
}

// name begins a member; every member ends with a comma.
func (l *logs) name(column string) {
	if len(l.line) == 0 {
		l.line = append(l.line, ' ')
	}
	l.line = append(strconv.AppendQuote(l.line, column), ':')
}

func (l *logs) number(column string, n int64) {
	l.name(column)
	l.line = append(strconv.AppendInt(l.line, n, 10), ',')
}

func (l *logs) text(column, s string) {
	l.name(column)
	l.line = append(strconv.AppendQuote(l.line, s), ',')
}

// cents writes a decimal of two places.
func (l *logs) cents(column string, n int64) {
	l.name(column)
	if n < 0 {
		l.line, n = append(l.line, '-'), -n
	}
	l.line = strconv.AppendInt(l.line, n/100, 10)
	l.line = append(l.line, '.', byte('0'+n/10%10), byte('0'+n%10), ',')
}

func (l *logs) date(column string, t time.Time) {
	l.name(column)
	l.line = append(t.AppendFormat(append(l.line, '"'), time.DateOnly), '"', ',')
}

// random makes values as the specification's section 4.2.2 describes them.
type random struct {
	*rand.Rand
	*vocabulary
}

// between is uniform in [low, high].
func (r random) between(low, high int) int { return low + r.IntN(high-low+1) }

func (r random) of(list []string) string { return list[r.IntN(len(list))] }

// chance is true with the given probability.
func (r random) chance(p float64) bool { return r.Float64() < p }

// address is 10 to 40 random characters.
func (r random) address() string {
	const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ,"
	out := make([]byte, r.between(10, 40))
	for i := range out {
		out[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(out)
}

func (r random) phone(nation int) string {
	return fmt.Sprintf("%d-%d-%d-%d", nation+10, r.between(100, 999), r.between(100, 999), r.between(1000, 9999))
}

// comment is a text of words, cut to a length in [low, high].
func (r random) comment(low, high int) string {
	length := r.between(low, high)
	out := make([]byte, 0, length+24)
	for len(out) < length {
		for _, list := range [][]string{r.adverbs, r.adjectives, r.nouns, r.verbs} {
			if r.IntN(4) > 0 {
				out = append(append(out, r.of(list)...), ' ')
			}
		}
	}
	return string(out[:length])
}
