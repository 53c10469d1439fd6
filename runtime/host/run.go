package host

import (
	"context"
	"errors"

	"github.com/streamform/streamform/runtime/job"
)

// Run keeps all pipelines running until ctx ends, then finishes the epochs in hand and
// returns nil. With once, each reads everything there is at the start and stops. A pipeline's data failure
// does not stop the others; the error then joins one *job.Failure per failed pipeline. Reports come one at a time.
func (h *Host) Run(ctx context.Context, once bool, report func(job.Progress)) error {
	return errors.New("not built yet")
}
