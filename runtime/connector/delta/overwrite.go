package delta

import (
	"context"
	"fmt"
	"strconv"

	"github.com/streamform/streamform/runtime/batch"
	deltalake "github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/stats"
)

// overwrite makes the delivery the whole content of the table. What the table holds already stays where it is: only files with
// rows that are to go are written again. Where nothing differs only the delivery is recorded, for the generation's next one to find.
func (t *target) overwrite(ctx context.Context) (*deltalake.Transaction, error) {
	tx := t.transaction("WRITE", map[string]string{"mode": "Overwrite"})
	tx.ReadWholeTable = true
	rows, err := t.rows(t.delivery.Change.Inserted)
	if err != nil {
		return nil, err
	}
	if t.snap == nil || t.metadata != nil || len(t.files) == 0 {
		t.remove(tx, t.files)
		for _, f := range t.files {
			n, _ := stats.Rows(f)
			t.delivery.Counts.Deleted += n
		}
		return tx, t.write(ctx, tx, rows)
	}
	live, err := t.scan(ctx, t.files)
	if err != nil {
		return nil, err
	}
	if same, err := t.same(ctx, rows, live); err != nil || same {
		t.delivery.Counts = batch.Counts{}
		return tx, err
	}
	d := difference{gained: "(" + rows + ") EXCEPT ALL (" + live + ")", lost: "(" + live + ") EXCEPT ALL (" + rows + ")"}
	held, err := t.count(ctx, &d, live)
	if err != nil {
		return nil, err
	}
	t.delivery.Counts = batch.Counts{Inserted: d.more, Deleted: d.less}
	if d.less > held/2 {
		t.remove(tx, t.files)
		return tx, t.write(ctx, tx, rows)
	}
	return tx, t.patch(ctx, tx, d)
}

// difference is what tells a table from what it is to hold: queries, and how many rows they have.
type difference struct {
	gained, lost string
	more, less   int64
}

// count counts both sides of a difference, and the rows of the table.
func (t *target) count(ctx context.Context, d *difference, live string) (held int64, err error) {
	found, err := t.stager.Query(ctx, fmt.Sprintf("SELECT (SELECT count(*) FROM (%s)), (SELECT count(*) FROM (%s)), (SELECT count(*) FROM (%s))", d.gained, d.lost, live))
	if err != nil {
		return 0, fmt.Errorf("comparing rows for %s: %w", t.dir, err)
	}
	for i, n := range []*int64{&d.more, &d.less, &held} {
		if *n, err = strconv.ParseInt(*found[0][i], 10, 64); err != nil {
			return 0, fmt.Errorf("comparing rows for %s: %w", t.dir, err)
		}
	}
	return held, nil
}

// patch writes a difference into the transaction.
func (t *target) patch(ctx context.Context, tx *deltalake.Transaction, d difference) error {
	if d.less == 0 {
		return t.write(ctx, tx, d.gained)
	}
	t.delivery.Key = nil // rows that somebody else has changed may share a key
	found, err := t.locate(ctx, d.lost)
	if err != nil {
		return err
	}
	t.remove(tx, found.touched)
	kept, err := t.kept(ctx, d.lost, found)
	if err != nil {
		return err
	}
	return t.write(ctx, tx, kept+" UNION ALL ("+d.gained+")")
}
