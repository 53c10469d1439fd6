package query

import (
	"context"
	"errors"

	"github.com/streamform/streamform/runtime/batch"
)

// Stager runs the statements a sink needs while a change can be read. It is connector.Stager's implementation,
// valid during the Deliver call that received it.
type Stager struct{}

// Written describes a file that Copy wrote.
type Written struct {
	Path    string
	Rows    int64
	Bytes   int64
	Columns map[string]map[string]string // Parquet: quoted dotted column path → statistic → text, as RETURN_STATS gives it
}

// Copy runs COPY (query) TO path.
func (s *Stager) Copy(ctx context.Context, query, path string, format batch.Format) (Written, error) {
	return Written{}, errors.New("not built yet")
}

// Query returns a small result as text, NULL as nil.
func (s *Stager) Query(ctx context.Context, query string) ([][]*string, error) {
	return nil, errors.New("not built yet")
}
