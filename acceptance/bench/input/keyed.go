package input

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/streamform/streamform/acceptance/bench/plain"
)

// Keyed names rows of k BIGINT, v BIGINT, id BIGINT: first Base rows that have every key from 0 to before Keys in turn, in files of BaseFile
// rows each; then Updates files of UpdateFile rows each with random keys.
type Keyed struct {
	Cache      string
	Keys       int64
	Base       int64
	BaseFile   int64
	Updates    int64
	UpdateFile int64
	Zipf       bool // the random keys follow Zipf's law with exponent 1, else all are as likely
}

// BaseDir has the files to begin with.
func (k Keyed) BaseDir() string {
	return filepath.Join(k.Cache, fmt.Sprintf("keyed-%d-%d-%d", k.Keys, k.Base, k.BaseFile))
}

// UpdateDir has the files that follow.
func (k Keyed) UpdateDir() string {
	skew := "uniform"
	if k.Zipf {
		skew = "zipf"
	}
	return filepath.Join(k.Cache, fmt.Sprintf("keyed-%d-%s-%d-%d", k.Keys, skew, k.Updates, k.UpdateFile))
}

// Rows are all there are.
func (k Keyed) Rows() int64 { return k.Base + k.Updates*k.UpdateFile }

// scatter is odd and not near a power of two, so that neighbours lie far apart.
const scatter = 2_654_435_761

// Make writes the files that are missing.
func (k Keyed) Make(ctx context.Context) error {
	base := func(n int64) string {
		from := n * k.BaseFile
		return fmt.Sprintf("SELECT (i * %d) %% %d AS k, i %% 1000 AS v, i AS id FROM range(%d, %d) t(i)", scatter, k.Keys, from, min(from+k.BaseFile, k.Base))
	}
	err := once(k.BaseDir(), func() error {
		return files(ctx, k.BaseDir(), (k.Base+k.BaseFile-1)/k.BaseFile, base)
	})
	if err != nil {
		return err
	}
	key := fmt.Sprintf("CAST(floor(u * %d) AS BIGINT)", k.Keys)
	if k.Zipf { // u drawn evenly from [0, 1) gives floor(Keys^u), whose chances fall as those of Zipf's law
		key = fmt.Sprintf("((CAST(floor(pow(%d, u)) AS BIGINT) - 1) * %d) %% %d", k.Keys, scatter, k.Keys)
	}
	update := func(n int64) string {
		from := k.Base + n*k.UpdateFile
		return fmt.Sprintf("SELECT %s AS k, i %% 1000 AS v, i AS id FROM (SELECT i, (hash(i, 'key') >> 11) / 9007199254740992.0 AS u FROM range(%d, %d) t(i))",
			key, from, from+k.UpdateFile)
	}
	return once(k.UpdateDir(), func() error { return files(ctx, k.UpdateDir(), k.Updates, update) })
}

func files(ctx context.Context, dir string, n int64, sql func(int64) string) (err error) {
	db, err := plain.Open(ctx, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for i := range n {
		if err := db.Exec(ctx, fmt.Sprintf("COPY (%s) TO '%s'", sql(i), part(dir, i))); err != nil {
			return err
		}
	}
	return nil
}

// Relations makes the relations every, of all rows, and t, of the updates without the first ones.
func (k Keyed) Relations(ctx context.Context, db *plain.DB, without int) error {
	base, later := filepath.Join(k.BaseDir(), "*.parquet"), filepath.Join(k.UpdateDir(), "*.parquet")
	if err := db.Exec(ctx, fmt.Sprintf("CREATE VIEW every AS FROM read_parquet(['%s', '%s'])", base, later)); err != nil {
		return err
	}
	var paths []string
	for n := int64(without); n < k.Updates; n++ {
		paths = append(paths, "'"+part(k.UpdateDir(), n)+"'")
	}
	return db.Exec(ctx, fmt.Sprintf("CREATE VIEW t AS FROM read_parquet([%s])", strings.Join(paths, ", ")))
}
