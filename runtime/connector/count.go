package connector

import (
	"context"
	"fmt"
	"strconv"

	"github.com/streamform/streamform/runtime/batch"
)

// Counted returns the delivery with its rows counted, which costs one reading of the change where
// the engine has not counted them (Counts.Inserted is -1 then).
func (d Delivery) Counted(ctx context.Context, s Stager) (Delivery, error) {
	if d.Counts.Inserted >= 0 {
		return d, nil
	}
	query := "SELECT (SELECT count(*) FROM " + d.Change.Inserted + "), "
	if d.Change.Deleted == "" {
		query += "0"
	} else {
		query += "(SELECT count(*) FROM " + d.Change.Deleted + ")"
	}
	rows, err := s.Query(ctx, query)
	if err != nil {
		return d, fmt.Errorf("counting the rows for %s: %w", d.Sink, err)
	}
	var counts [2]int64
	for i, cell := range rows[0] {
		if counts[i], err = strconv.ParseInt(*cell, 10, 64); err != nil {
			return d, fmt.Errorf("counting the rows for %s: %w", d.Sink, err)
		}
	}
	d.Counts = batch.Counts{Inserted: counts[0], Deleted: counts[1]}
	return d, nil
}
