package connector

import (
	"context"

	"github.com/streamform/streamform/runtime/batch"
)

// Inspector is implemented by sources and sinks that can tell what others did to the object they stand for.
type Inspector interface {
	// Inspect looks at the object and changes nothing.
	Inspect(ctx context.Context, known Delivered) (Inspection, error)
}

// Delivered is what the runtime knows of the deliveries of a sink; zero for sources and for sinks that have delivered nothing.
type Delivered struct {
	Sink    string  // address it was created under
	Receipt Receipt // of the last delivery
}

// Inspection is what was found.
type Inspection struct {
	// Place tells the object from another one at the same address: a folder with links followed, a table's ID. Empty: there is none.
	Place string
	// Columns are those the object has by itself, such as a table; nil for objects that have none.
	Columns batch.Schema
	Drifts  []Drift
	// Occupied says why a sink that begins here would be refused; nil where nothing stands in its way, or it has begun.
	Occupied *UserError
}

// Kinds of drift.
const (
	DriftTargetGone     = "target_gone"     // what was delivered to does not exist any more
	DriftTargetRestored = "target_restored" // the target was put back to a state from before the last delivery
	DriftForeignRows    = "foreign_rows"    // another writer changed rows of the target
	DriftForeignColumns = "foreign_columns" // another writer changed columns of the target
)

// Drift is one thing that others did to the object.
type Drift struct {
	Kind   string
	Detail string // what was found, a sentence
	Mark   string // another one whenever something else is found
}
