package bind

import (
	"context"

	"github.com/streamform/streamform/lang/diag"
)

// Bind finds the relation of every source, stream and view. User mistakes are diagnostics; the error is a failure of the machine.
func Bind(ctx context.Context, in Input) (Result, diag.Diagnostics, error) {
	return Result{}, nil, nil
}
