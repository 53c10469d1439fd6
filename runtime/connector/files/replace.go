package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	delta "github.com/streamform/streamform/runtime/delta/schema"
)

// ownerFile says whose rows the folder holds. It is hidden from readers of folders, as are all
// names that begin with a dot.
const ownerFile = ".streamform.json"

// owner is the content of ownerFile.
type owner struct {
	Pipeline   string `json:"pipeline"`
	Sink       string `json:"sink"`
	Generation int64  `json:"generation"`
	Base       string `json:"base"` // the file that the next change is applied to
	mark
}

// baseName is the file that holds the rows exactly: the data file where it is Parquet, else a hidden
// Parquet file beside it, since JSON and CSV do not keep all types.
func (s *sink) baseName() string {
	if s.format == "parquet" {
		return "data.parquet"
	}
	return ".data.rows.parquet"
}

// stageReplace applies the change to the rows delivered before and writes them whole.
func (s *sink) stageReplace(ctx context.Context, d connector.Delivery, st connector.Stager) (staged, error) {
	d, err := d.Counted(ctx, st)
	if err != nil {
		return staged{}, err
	}
	base, err := s.base(d)
	if err != nil {
		return staged{}, err
	}
	rows := "SELECT * FROM " + d.Change.Inserted
	expected := int64(-1)
	if base != "" {
		if same, err := unchanged(ctx, d, st); err != nil || same {
			return staged{counts: d.Counts}, err
		}
		before, err := countRows(ctx, st, base)
		if err != nil {
			return staged{}, err
		}
		expected = before - d.Counts.Deleted + d.Counts.Inserted
		rows = changed(d.Change, base)
	}
	columns, err := columnList(d.Change.Columns, "parquet")
	if err != nil {
		return staged{}, err
	}
	m, written, err := s.write(ctx, st, "SELECT "+columns+" FROM ("+rows+")", newMove(d, s.baseName()))
	if err != nil {
		return staged{}, err
	}
	if expected >= 0 && written.Rows != expected {
		lost := &connector.UserError{Summary: "A row that was delivered is not there any more",
			Detail: fmt.Sprintf("Epoch %d takes back %d rows, but %s does not hold all of them: it was changed by something else. Apply %s again with -replace to write it anew.",
				d.Epoch, d.Counts.Deleted, filepath.Join(s.dir, s.baseName()), d.Sink)}
		return staged{}, errors.Join(lost, removeAll(filepath.Join(s.dir, m.From)))
	}
	plan := staged{Moves: []move{m}, Rows: written.Rows, counts: d.Counts,
		Owner: &owner{Pipeline: d.Pipeline, Sink: d.Sink, Generation: d.Generation, Base: s.baseName(), mark: m.mark}}
	if s.format != "parquet" {
		data, _, err := s.write(ctx, st, selectBase(d.Change.Columns, filepath.Join(s.dir, m.From)), newMove(d, "data."+s.format))
		if err != nil {
			return staged{}, err
		}
		plan.Moves = append(plan.Moves, data)
	}
	if d.Overwrite {
		plan.Remove, err = s.epochFiles("")
	}
	return plan, err
}

// base is the path of the rows delivered before; empty when the change is all there is.
func (s *sink) base(d connector.Delivery) (string, error) {
	own, err := s.readOwner()
	if err != nil {
		return "", err
	}
	if err := s.checkForeign(d, own); err != nil || d.Overwrite {
		return "", err
	}
	path := filepath.Join(s.dir, s.baseName())
	if own == nil || own.Pipeline != d.Pipeline || own.Sink != d.Sink || own.Generation != d.Generation {
		if d.Previous == nil && d.Counts.Deleted == 0 {
			return "", nil
		}
		return "", taken(d.Sink, path, "is not there any more")
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", taken(d.Sink, path, "is not there any more")
	case err != nil:
		return "", connector.WriteError(s.dir, err)
	case own.Base != s.baseName() || own.mark != markOf(info):
		return "", taken(d.Sink, path, "was changed by something else")
	}
	return path, nil
}

// checkForeign refuses to replace a data file that this sink has not written.
func (s *sink) checkForeign(d connector.Delivery, own *owner) error {
	if own != nil && own.Sink == d.Sink {
		return nil
	}
	name := "data." + s.format
	if _, err := os.Lstat(filepath.Join(s.dir, name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	by := "something else"
	if own != nil {
		by = own.Sink
	}
	return &connector.UserError{Summary: "The folder holds a file that this sink has not written",
		Detail: fmt.Sprintf("%s in %s was written by %s, and %s would replace it. Move it away, or choose another path.", name, s.dir, by, d.Sink)}
}

func taken(sink, path, what string) error {
	return &connector.UserError{Summary: "The delivered file " + what,
		Detail: fmt.Sprintf("%s %s, so the change cannot be applied to it. Apply %s again with -replace to write it anew.", path, what, sink)}
}

// unchanged reports whether the change takes back exactly what it inserts.
func unchanged(ctx context.Context, d connector.Delivery, st connector.Stager) (bool, error) {
	if d.Counts.Inserted != d.Counts.Deleted || d.Counts.Inserted == 0 {
		return d.Counts.Inserted == d.Counts.Deleted, nil
	}
	query := fmt.Sprintf("SELECT 1 FROM ((SELECT * FROM %[1]s EXCEPT ALL SELECT * FROM %[2]s) UNION ALL (SELECT * FROM %[2]s EXCEPT ALL SELECT * FROM %[1]s)) LIMIT 1",
		d.Change.Inserted, d.Change.Deleted)
	rows, err := st.Query(ctx, query)
	if err != nil {
		return false, fmt.Errorf("looking at the change: %w", err)
	}
	return len(rows) == 0, nil
}

// countRows is the number of rows of a Parquet file.
func countRows(ctx context.Context, st connector.Stager, path string) (int64, error) {
	rows, err := st.Query(ctx, "SELECT count(*) FROM read_parquet("+delta.Literal(path)+")")
	if err != nil {
		return 0, fmt.Errorf("counting the rows of %s: %w", path, err)
	}
	n, err := strconv.ParseInt(*rows[0][0], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("counting the rows of %s: %w", path, err)
	}
	return n, nil
}

// changed is the query for the rows of a file after a change.
func changed(c batch.Change, base string) string {
	kept := selectBase(c.Columns, base)
	if c.Deleted != "" {
		kept = "(" + kept + " EXCEPT ALL SELECT * FROM " + c.Deleted + ")"
	}
	return kept + " UNION ALL SELECT * FROM " + c.Inserted
}

// selectBase reads a file of rows with the types they had.
func selectBase(columns batch.Schema, path string) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		name := delta.Identifier(c.Name)
		list[i] = fmt.Sprintf("CAST(%s AS %s) AS %s", name, c.Type, name)
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM read_parquet(" + delta.Literal(path) + ", hive_partitioning = false)"
}

func (s *sink) readOwner() (*owner, error) {
	text, err := os.ReadFile(filepath.Join(s.dir, ownerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, connector.WriteError(s.dir, err)
	}
	var o owner
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, nil // torn or foreign: nothing is known about the folder
	}
	return &o, nil
}

func (s *sink) writeOwner(o owner) error {
	text, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("writing %s: %w", ownerFile, err)
	}
	path := filepath.Join(s.dir, ownerFile)
	if err := os.WriteFile(path+".tmp", append(text, '\n'), 0o666); err != nil {
		return connector.WriteError(s.dir, err)
	}
	if err := sync(path + ".tmp"); err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return connector.WriteError(s.dir, err)
	}
	return nil
}
