package delta

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	deltalake "github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/action"
	columns "github.com/streamform/streamform/runtime/delta/schema"
	"github.com/streamform/streamform/runtime/delta/stats"
)

// upsert takes rows back by writing the files that hold them again without them (copy-on-write), the new rows
// with them. Files that hold none of them are not touched.
func (t *target) upsert(ctx context.Context) (*deltalake.Transaction, error) {
	d := t.delivery
	if d.Counts.Deleted == 0 || len(t.files) == 0 {
		return t.insertOnly(ctx)
	}
	inserted, err := t.rows(d.Change.Inserted)
	if err != nil {
		return nil, err
	}
	deleted, err := t.rows(d.Change.Deleted)
	if err != nil {
		return nil, err
	}
	found, err := t.locate(ctx, deleted)
	if err != nil {
		return nil, err
	}
	tx := t.transaction("MERGE", nil)
	tx.ReadWholeTable = true
	t.remove(tx, found.touched)
	kept, err := t.kept(ctx, deleted, found)
	if err != nil {
		return nil, err
	}
	return tx, t.write(ctx, tx, kept+" UNION ALL "+inserted)
}

// located is where the rows taken back are.
type located struct {
	touched []action.Add // files that hold some
	// Relations that are held, where the files that might have some are small: all rows of these, and the places of the ones taken back.
	held, matched string
}

// mostHeld bounds the bytes of files whose rows are held while the ones taken back are looked for and left out.
const mostHeld = 1 << 20

func (t *target) hold(ctx context.Context, query string) (string, error) {
	relation, err := t.stager.Hold(ctx, query)
	if err != nil {
		return "", t.readError(err)
	}
	return relation, nil
}

// missingFile finds the file in what DuckDB says of one that is not there.
var missingFile = regexp.MustCompile(`(?:No files found that match the pattern|Cannot open file) "([^"]+)"`)

// readError tells a table that has lost files apart from a disk that fails.
func (t *target) readError(err error) error {
	if found := missingFile.FindStringSubmatch(err.Error()); found != nil {
		if _, e := os.Stat(found[1]); errors.Is(e, fs.ErrNotExist) {
			return &connector.UserError{Summary: "The Delta table has lost a file", Detail: fmt.Sprintf("The log of the table at %s names %s, which is not there: somebody has deleted it. Restore it, "+
				"or move the folder away and apply the sink again with -replace=%s, which writes the table anew from what streamform holds.", t.dir, filepath.Base(found[1]), t.delivery.Sink)}
		}
	}
	return fmt.Errorf("reading the Delta table %s: %w", t.dir, err)
}

// holdFiles holds the rows of files, with their places. Files that hide rows are not read as they are.
func (t *target) holdFiles(ctx context.Context, scan string, files []action.Add) (string, error) {
	paths := make([]string, len(files))
	for i, f := range files {
		path, err := deltalake.FilePath(t.dir, f)
		if err != nil {
			return "", fmt.Errorf("reading the Delta table %s: %w", t.dir, err)
		}
		if paths[i] = path; f.DeletionVector != nil {
			return t.hold(ctx, scan)
		}
	}
	var all batch.Schema
	for _, f := range t.snap.Schema {
		all = append(all, batch.Column{Name: f.Name, Type: f.Type.DuckDB()})
	}
	all = append(all, batch.Column{Name: fileColumn, Type: "VARCHAR"}, batch.Column{Name: rowColumn, Type: "BIGINT"})
	relation, err := t.stager.HoldFiles(ctx, scan, paths, all)
	if err != nil {
		return "", t.readError(err)
	}
	return relation, nil
}

// search is a query for the places of the rows taken back, and one for all rows of the files they may be in.
func (t *target) search(ctx context.Context, deleted string, files []action.Add, out *located) (matches, scan string, err error) {
	if scan, err = t.places(ctx, files); err != nil {
		return "", "", err
	}
	var bytes int64
	for _, f := range files {
		bytes += f.Size
	}
	if bytes > mostHeld {
		return t.matches(deleted, scan), scan, nil
	}
	if out.held, err = t.holdFiles(ctx, scan, files); err != nil {
		return "", "", err
	}
	scan = "SELECT * FROM " + out.held
	if out.matched, err = t.hold(ctx, t.matches(deleted, scan)); err != nil {
		return "", "", err
	}
	return "SELECT * FROM " + out.matched, scan, nil
}

// locate finds the files that hold the rows taken back. Each must be there, and with a key once.
func (t *target) locate(ctx context.Context, deleted string) (out located, err error) {
	ranges, err := t.ranges(ctx, deleted)
	if err != nil {
		return out, err
	}
	candidates := deltalake.Prune(t.snap, ranges)
	if len(candidates) == 0 {
		return out, t.missing(ctx, deleted)
	}
	matches, scan, err := t.search(ctx, deleted, candidates, &out)
	if err != nil {
		return out, err
	}
	found, err := t.stager.Query(ctx, "SELECT "+columns.Identifier(fileColumn)+", count(*) FROM ("+matches+") GROUP BY ALL")
	if err != nil {
		return out, fmt.Errorf("locating rows in %s: %w", t.dir, err)
	}
	byPath := map[string]action.Add{}
	for _, f := range candidates {
		path, err := deltalake.FilePath(t.dir, f)
		if err != nil {
			return out, fmt.Errorf("locating rows in %s: %w", t.dir, err)
		}
		byPath[path] = f
	}
	var rows int64
	for _, r := range found {
		file, ok := byPath[*r[0]]
		n, err := strconv.ParseInt(*r[1], 10, 64)
		if !ok || err != nil {
			return out, fmt.Errorf("locating rows in %s: unexpected answer %s, %s", t.dir, *r[0], *r[1])
		}
		out.touched, rows = append(out.touched, file), rows+n
	}
	slices.SortFunc(out.touched, func(a, b action.Add) int { return strings.Compare(a.Path, b.Path) })
	switch want := t.delivery.Counts.Deleted; {
	case rows < want:
		return out, t.missing(ctx, t.unmatched(deleted, scan))
	case rows > want:
		return out, &connector.UserError{Summary: "The Delta table holds a key twice",
			Detail: fmt.Sprintf("Epoch %d of %s takes back %d rows by %s, and the table at %s holds %d such rows: something else has changed it. Let nothing else write to it, and apply the sink again with -replace to write it anew.",
				t.delivery.Epoch, t.delivery.Sink, want, strings.Join(t.delivery.Key, ", "), t.dir, rows)}
	}
	return out, nil
}

// ranges says between which values the rows taken back lie, so that statistics can rule files out.
func (t *target) ranges(ctx context.Context, deleted string) ([]stats.Range, error) {
	var list []string
	var names []string
	for _, name := range t.identity() {
		if f, _ := t.schema.Field(name); !ordered(f.Type) {
			continue
		}
		c := columns.Identifier(name)
		list = append(list, fmt.Sprintf("min(%[1]s), max(%[1]s), count(%[1]s), count(*)", c))
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, nil
	}
	found, err := t.stager.Query(ctx, "SELECT "+strings.Join(list, ", ")+" FROM ("+deleted+")")
	if err != nil {
		return nil, fmt.Errorf("looking at the rows taken back from %s: %w", t.dir, err)
	}
	ranges := make([]stats.Range, len(names))
	for i, name := range names {
		cells := found[0][4*i : 4*i+4]
		ranges[i] = stats.Range{Column: []string{name}, Min: cells[0], Max: cells[1]}
		switch values := *cells[2]; {
		case values == "0":
			ranges[i].Null = stats.OnlyNull
		case values != *cells[3]:
			ranges[i].Null = stats.OrNull
		}
	}
	return ranges, nil
}

// ordered reports whether statistics have bounds for a type.
func ordered(t columns.Type) bool {
	switch t.Name {
	case columns.Array, columns.Map, columns.Struct, columns.Void, columns.Binary, columns.Boolean:
		return false
	}
	return true
}

// identity is the columns that tell rows apart: the key, else all.
func (t *target) identity() []string {
	var names []string
	for _, k := range t.delivery.Key {
		f, ok := t.schema.Field(k)
		if !ok {
			names = nil
			break
		}
		names = append(names, f.Name)
	}
	if len(names) > 0 {
		return names
	}
	return t.names()
}

// keyed reports whether a row can be there only once.
func (t *target) keyed() bool {
	return len(t.identity()) == len(t.delivery.Key) && len(t.delivery.Key) > 0
}

// equal is the condition that rows of two aliases are the same one.
func (t *target) equal(a, b string) string {
	var parts []string
	for _, name := range t.identity() {
		c := columns.Identifier(name)
		parts = append(parts, fmt.Sprintf("%s.%s IS NOT DISTINCT FROM %s.%s", a, c, b, c))
	}
	return strings.Join(parts, " AND ")
}

// numbered counts equal rows, so that each row taken back meets one row of the table. Within the
// table they are counted in the order of their places: every query that counts them sees the same.
func (t *target) numbered(query, order string) string {
	return fmt.Sprintf("SELECT *, row_number() OVER (PARTITION BY %s%s) AS %s FROM (%s)",
		strings.Join(quoted(t.identity()), ", "), order, columns.Identifier(equalColumn), query)
}

// matches is a query for the places of the rows taken back.
func (t *target) matches(deleted, scan string) string {
	on := t.equal("f", "d")
	place := "f." + columns.Identifier(fileColumn) + ", f." + columns.Identifier(rowColumn)
	if t.keyed() {
		return fmt.Sprintf("SELECT %s FROM (%s) f JOIN (%s) d ON %s", place, scan, deleted, on)
	}
	order := " ORDER BY " + columns.Identifier(fileColumn) + ", " + columns.Identifier(rowColumn)
	held := t.numbered(fmt.Sprintf("SELECT f.* FROM (%s) f SEMI JOIN (%s) d ON %s", scan, deleted, on), order)
	return fmt.Sprintf("SELECT %[1]s FROM (%[2]s) f JOIN (%[3]s) d ON f.%[4]s = d.%[4]s AND %[5]s",
		place, held, t.numbered(deleted, ""), columns.Identifier(equalColumn), on)
}

// unmatched is a query for the rows taken back that the table does not hold, or not often enough.
func (t *target) unmatched(deleted, scan string) string {
	on := t.equal("f", "d")
	if t.keyed() {
		return fmt.Sprintf("SELECT d.* FROM (%s) d ANTI JOIN (%s) f ON %s", deleted, scan, on)
	}
	return fmt.Sprintf("SELECT d.* FROM (%s) d ANTI JOIN (%s) f ON f.%[3]s = d.%[3]s AND %[4]s",
		t.numbered(deleted, ""), t.numbered(scan, ""), columns.Identifier(equalColumn), on)
}

// kept is a query for the rows of the touched files that stay.
func (t *target) kept(ctx context.Context, deleted string, found located) (string, error) {
	file, row := columns.Identifier(fileColumn), columns.Identifier(rowColumn)
	scan, matches := "SELECT * FROM "+found.held+" WHERE "+file+" IN (SELECT "+file+" FROM "+found.matched+")", "SELECT * FROM "+found.matched
	if found.held == "" {
		var err error
		if scan, err = t.places(ctx, found.touched); err != nil {
			return "", err
		}
		matches = t.matches(deleted, scan)
	}
	return fmt.Sprintf("SELECT k.* EXCLUDE (%[1]s, %[2]s) FROM (%[3]s) k ANTI JOIN (%[4]s) m ON k.%[1]s = m.%[1]s AND k.%[2]s = m.%[2]s", file, row, scan, matches), nil
}
