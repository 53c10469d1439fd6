package host

import (
	"context"
	"errors"

	"github.com/streamform/streamform/runtime/query"
)

// Query answers one SELECT over the committed relations, all as of the same moment. Close the
// rows. Mistakes in the SQL are *query.Error.
func (h *Host) Query(ctx context.Context, sql string) (*query.Rows, error) {
	return nil, errors.New("not built yet")
}
