package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/streamform/streamform/runtime/connector"
)

// epochFile is the name of one epoch's file. It is the same whenever the epoch is staged, and sorts
// in the order of the epochs of a generation.
func epochFile(d connector.Delivery, format string) string {
	return fmt.Sprintf("epoch-%d-%010d.%s", d.Generation, d.Epoch, format)
}

// stageAppend writes the epoch's rows to a file of their own.
func (s *sink) stageAppend(ctx context.Context, d connector.Delivery, st connector.Stager) (staged, error) {
	if d.Change.Deleted != "" && !d.Overwrite {
		var err error
		if d, err = d.Counted(ctx, st); err != nil {
			return staged{}, err
		}
	}
	if d.Counts.Deleted > 0 && !d.Overwrite {
		return staged{}, &connector.UserError{Summary: "Rows that were written cannot be taken back",
			Detail: fmt.Sprintf("Epoch %d deletes %d rows of what %s has appended. Write a view with mode = \"replace\" instead.", d.Epoch, d.Counts.Deleted, d.Sink)}
	}
	name := epochFile(d, s.format)
	var plan staged
	if d.Overwrite {
		earlier, err := s.epochFiles(name)
		if err != nil {
			return staged{}, err
		}
		plan.Remove = earlier
	} else if _, err := os.Lstat(filepath.Join(s.dir, name)); !errors.Is(err, fs.ErrNotExist) {
		return staged{}, &connector.UserError{Summary: "The folder already holds output of another sink",
			Detail: fmt.Sprintf("%s exists, and this sink has not written it: it comes from another sink or from an earlier life of this one. Empty %s, or choose another path.", name, s.dir)}
	}
	columns, err := columnList(d.Change.Columns, s.format)
	if err != nil {
		return staged{}, err
	}
	m, written, err := s.write(ctx, st, "SELECT "+columns+" FROM "+d.Change.Inserted, newMove(d, name))
	if err != nil {
		return staged{}, err
	}
	plan.counts.Inserted = written.Rows
	if plan.Rows = written.Rows; plan.Rows == 0 {
		return plan, removeAll(filepath.Join(s.dir, m.From))
	}
	plan.Moves = []move{m}
	return plan, nil
}

// epochFiles lists the files that epochs were written to, but for one.
func (s *sink) epochFiles(except string) ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, connector.WriteError(s.dir, err)
	}
	pattern := regexp.MustCompile(`^epoch-[0-9]+-[0-9]{10,}\.(parquet|json|csv)$`)
	var names []string
	for _, e := range entries {
		if pattern.MatchString(e.Name()) && e.Name() != except {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
