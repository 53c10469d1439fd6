package table

import (
	"context"
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
)

// Texts makes a table of texts, in columns with the given names.
func (s *Set) Texts(ctx context.Context, names []string, texts [][2][]byte) (string, error) {
	types := make([]string, len(names))
	for i := range names {
		types[i] = "VARCHAR"
	}
	l, err := s.Loader(names, types)
	if err != nil {
		return "", err
	}
	defer l.Release()
	var row []byte
	for _, cells := range texts {
		row = row[:0]
		for _, t := range cells {
			row = append(binary.AppendUvarint(append(row, 1), uint64(len(t))), t...)
		}
		if err := l.Append(ctx, row); err != nil {
			return "", err
		}
	}
	return l.Table(ctx)
}

// Schema says which Arrow types the bytes of a loader's columns stand for.
func (l *Loader) Schema() (*arrow.Schema, error) { return l.set.Conn.Layout(l.layout) }
