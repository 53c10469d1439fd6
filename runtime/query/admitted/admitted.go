// Package admitted reads rows of sources that were admitted before and are held since, in place of their files.
package admitted

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/scan"
	"github.com/streamform/streamform/runtime/query/table"
)

// Rows are what one epoch admitted of a source.
type Rows struct {
	Last    int64        // ordinal of the last file
	Count   int64        // rows
	Bytes   int64        // as held
	Columns batch.Schema // the source's at that time: all that it has now, in types that convert to its own without loss
	// Blocks visits the blocks of the rows, or of those that were set aside in the named side relation.
	Blocks func(side string, fn func(block []byte) error) error
}

// growth is what a byte that is held becomes in memory, by estimate.
const growth = 3

// Memory estimates how many bytes the rows take in memory.
func (r Rows) Memory() int64 { return growth * r.Bytes }

// Count is how many rows these are.
func Count(held []Rows) (n int64) {
	for _, r := range held {
		n += r.Count
	}
	return n
}

// from is what stands after FROM to read the rows with the columns of a scan.
func from(ctx context.Context, set *table.Set, held []Rows, s batch.Scan) (string, error) {
	columns := scan.Columns(s)
	var arms []string
	for len(held) > 0 {
		n := 1
		for n < len(held) && slices.Equal(held[n].Columns, held[0].Columns) {
			n++
		}
		rows, err := load(ctx, set, held[:n], held[0].Columns, "")
		if err != nil {
			return "", err
		}
		list := make([]string, len(columns))
		for i, c := range columns {
			list[i] = fmt.Sprintf("CAST(%s AS %s) AS %s", bound.Ident(c.Name), c.Type, bound.Ident(c.Name))
		}
		if arms = append(arms, "SELECT "+strings.Join(list, ", ")+" FROM "+rows); slices.Equal(held[0].Columns, columns) {
			arms[len(arms)-1] = "SELECT * FROM " + rows
		}
		held = held[n:]
	}
	return "(" + strings.Join(arms, " UNION ALL ") + ")", nil
}

// Held is what is read of rows that are held: they themselves with the columns of a scan, or what was set aside with them in a side relation.
type Held struct {
	Rows []Rows
	Scan batch.Scan
	Side string // empty: the rows themselves
}

// Beside is what stands after FROM to read what is held beside others, and how many rows are held.
func Beside(ctx context.Context, set *table.Set, h Held, others string) (rows string, n int64, err error) {
	if n = Count(h.Rows); h.Side == "" {
		rows, err = from(ctx, set, h.Rows, h.Scan)
	} else if rows, err = load(ctx, set, h.Rows, scan.SideColumns(h.Side), h.Side); err == nil {
		n, err = set.Count(ctx, rows)
	}
	return "(SELECT * FROM " + others + " UNION ALL SELECT * FROM " + rows + ")", n, err
}

func load(ctx context.Context, set *table.Set, held []Rows, columns batch.Schema, side string) (string, error) {
	names, types := table.Split(columns)
	return set.LoadBlocks(ctx, names, types, func(fn func(block []byte) error) error {
		for _, r := range held {
			if err := r.Blocks(side, fn); err != nil {
				return err
			}
		}
		return nil
	})
}
