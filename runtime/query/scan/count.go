package scan

import (
	"context"
	"fmt"

	"github.com/streamform/streamform/runtime/batch"
)

// RowsOf reads the answer to Plan.Count: the rows of each file, and of all.
func RowsOf(files []batch.File, answer [][]*string) (byFile []int64, all int64, err error) {
	byFile = make([]int64, len(files))
	at := map[string]int{}
	for i, f := range files {
		at[f.Path] = i
	}
	for _, row := range answer {
		if row[0] == nil {
			continue
		}
		i, ok := at[*row[0]]
		if !ok {
			return nil, 0, fmt.Errorf("rows of a file that was not asked for: %s", *row[0])
		}
		if _, err := fmt.Sscan(*row[1], &byFile[i]); err != nil {
			return nil, 0, fmt.Errorf("counting rows: %w", err)
		}
		all += byFile[i]
	}
	return byFile, all, nil
}

// Count is the records of files of JSON lines being counted beside their scan, which only sees them as a whole.
type Count struct {
	byFile []int64
	all    int64
	done   chan error // gets what became of it, once
}

// CountBeside starts to count.
func CountBeside(files []batch.File) *Count {
	c := &Count{byFile: make([]int64, len(files)), done: make(chan error, 1)}
	go func() {
		for i, f := range files {
			n, err := CountLines(f.Path)
			if err != nil {
				c.done <- err
				return
			}
			c.byFile[i] = n
			c.all += n
		}
		c.done <- nil
	}()
	return c
}

// Wait returns the records of each file, and of all, once they are counted. It is called once.
func (c *Count) Wait(ctx context.Context) (byFile []int64, all int64, err error) {
	select {
	case err := <-c.done:
		return c.byFile, c.all, err
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
}
