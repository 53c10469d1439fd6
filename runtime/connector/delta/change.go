package delta

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/streamform/streamform/runtime/connector"
	deltalake "github.com/streamform/streamform/runtime/delta"
)

// stage decides the delivery's table commit and writes its files; nil when there is nothing to change.
func (t *target) stage(ctx context.Context, mode string) (*deltalake.Transaction, error) {
	d := t.delivery
	if d.Overwrite {
		return t.overwrite(ctx)
	}
	if mode == modeAppend {
		return t.append(ctx)
	}
	same, err := t.cancelsOut(ctx)
	if err != nil || same {
		return nil, err
	}
	if mode == modeReplace {
		return t.replace(ctx)
	}
	return t.upsert(ctx)
}

// append adds the epoch's rows.
func (t *target) append(ctx context.Context) (*deltalake.Transaction, error) {
	if n := t.delivery.Counts.Deleted; n > 0 {
		return nil, &connector.UserError{Summary: "Rows that were appended cannot be taken back",
			Detail: fmt.Sprintf("Epoch %d takes back %d rows that %s has appended. Write a view with mode = \"upsert\" instead.", t.delivery.Epoch, n, t.delivery.Sink)}
	}
	tx := t.transaction("STREAMING UPDATE", map[string]string{"outputMode": "Append", "queryId": appID(t.delivery), "epochId": strconv.FormatInt(t.delivery.Epoch, 10)})
	rows, err := t.rows(t.delivery.Change.Inserted)
	if err != nil {
		return nil, err
	}
	if err := t.write(ctx, tx, rows); err != nil {
		return nil, err
	}
	if len(tx.Adds) == 0 && t.snap != nil {
		return nil, nil
	}
	return tx, nil
}

// replace writes the whole view anew: what the table holds, without the rows taken back, and with the new ones.
func (t *target) replace(ctx context.Context) (*deltalake.Transaction, error) {
	d := t.delivery
	if t.snap == nil || len(t.files) == 0 {
		return t.insertOnly(ctx)
	}
	tx := t.transaction("WRITE", map[string]string{"mode": "Overwrite"})
	tx.ReadWholeTable = true
	t.remove(tx, t.files)
	rows, err := t.rows(d.Change.Inserted)
	if err != nil {
		return nil, err
	}
	before, err := t.scan(ctx, t.files)
	if err != nil {
		return nil, err
	}
	if d.Counts.Deleted == 0 {
		return tx, t.write(ctx, tx, "("+before+") UNION ALL ("+rows+")")
	}
	deleted, err := t.rows(d.Change.Deleted)
	if err != nil {
		return nil, err
	}
	lost := "(" + deleted + ") EXCEPT ALL (" + before + ")"
	if none, err := t.none(ctx, lost); err != nil {
		return nil, err
	} else if !none {
		return nil, t.missing(ctx, lost)
	}
	return tx, t.write(ctx, tx, "(("+before+") EXCEPT ALL ("+deleted+")) UNION ALL ("+rows+")")
}

// insertOnly is a change of a table that holds no row yet.
func (t *target) insertOnly(ctx context.Context) (*deltalake.Transaction, error) {
	d := t.delivery
	rows, err := t.rows(d.Change.Inserted)
	if err != nil {
		return nil, err
	}
	if d.Counts.Deleted > 0 {
		deleted, err := t.rows(d.Change.Deleted)
		if err != nil {
			return nil, err
		}
		return nil, t.missing(ctx, deleted)
	}
	tx := t.transaction("MERGE", nil)
	tx.ReadWholeTable = true
	return tx, t.write(ctx, tx, rows)
}

// cancelsOut reports whether the change takes back exactly what it inserts: rows that differ may be equal with the table's types.
func (t *target) cancelsOut(ctx context.Context) (bool, error) {
	d := t.delivery
	if d.Counts.Inserted != d.Counts.Deleted {
		return false, nil
	}
	if d.Counts.Inserted == 0 {
		return true, nil
	}
	if t.asGiven() {
		return false, nil
	}
	inserted, err := t.rows(d.Change.Inserted)
	if err != nil {
		return false, err
	}
	deleted, err := t.rows(d.Change.Deleted)
	if err != nil {
		return false, err
	}
	return t.same(ctx, inserted, deleted)
}

// asGiven reports whether the table's types are those of the rows. These differ then, as a change is net.
func (t *target) asGiven() bool {
	for _, c := range t.incoming {
		if f, ok := t.schema.Field(c.Name); !ok || f.Type.DuckDB() != c.Type {
			return false
		}
	}
	return true
}

// same reports whether two queries have the same rows, counted. Sums of hashes tell most that differ
// without a table of either.
func (t *target) same(ctx context.Context, a, b string) (bool, error) {
	differ := fmt.Sprintf("SELECT 1 WHERE (SELECT (count(*), sum(hash(x))) FROM (%s) x) IS DISTINCT FROM (SELECT (count(*), sum(hash(x))) FROM (%s) x)", a, b)
	if none, err := t.none(ctx, differ); err != nil || !none {
		return false, err
	}
	return t.none(ctx, fmt.Sprintf("SELECT * FROM (((%[1]s) EXCEPT ALL (%[2]s)) UNION ALL ((%[2]s) EXCEPT ALL (%[1]s)))", a, b))
}

// none reports whether a query has no row.
func (t *target) none(ctx context.Context, query string) (bool, error) {
	found, err := t.stager.Query(ctx, "SELECT 1 FROM ("+query+") LIMIT 1")
	if err != nil {
		return false, fmt.Errorf("comparing rows for %s: %w", t.dir, err)
	}
	return len(found) == 0, nil
}

// missing is the failure of a row taken back that the table does not hold; query finds such rows.
func (t *target) missing(ctx context.Context, query string) error {
	example := ""
	found, err := t.stager.Query(ctx, "SELECT "+strings.Join(quoted(t.names()), ", ")+" FROM ("+query+") LIMIT 1")
	if err != nil {
		return fmt.Errorf("looking for a row in %s: %w", t.dir, err)
	}
	for _, row := range found {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = t.schema[i].Name + " = NULL"
			if c != nil {
				cells[i] = t.schema[i].Name + " = " + *c
			}
		}
		example = " (" + strings.Join(cells, ", ") + ")"
	}
	return &connector.UserError{Summary: "A row that was delivered is not in the Delta table",
		Detail: fmt.Sprintf("Epoch %d of %s takes back a row%s that the table at %s does not hold: something else has changed it. Let nothing else write to it, and apply the sink again with -replace to write it anew.",
			t.delivery.Epoch, t.delivery.Sink, example, t.dir)}
}

// names are the names of all columns.
func (t *target) names() []string {
	out := make([]string, len(t.schema))
	for i, f := range t.schema {
		out[i] = f.Name
	}
	return out
}
