package host

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
)

// Facts is what a plan needs to know about the runtime.
type Facts struct {
	RuntimeID string // identity of the store
	Resources map[addr.Resource]Fact
	Sources   map[addr.Resource]SourceFact // of the sources that are applied
}

// Fact is one resource the runtime has.
type Fact struct {
	Generation int64  // the one that serves; 0 while the first is being built
	Building   int64  // the one being built; 0: none
	Digest     string // SHA-256 of the value last put
}

// SourceFact is how much a source has been read and how much there is to read.
type SourceFact struct {
	Files        int64 // read
	Bytes        int64
	Rows         int64 // admitted
	BacklogFiles int64 // not read yet, found by listing now
	BacklogBytes int64
}

// Facts looks at the store and lists the sources. It changes nothing.
func (h *Host) Facts(ctx context.Context) (Facts, error) {
	return Facts{}, errors.New("not built yet")
}

// Sample is what a look at a source found.
type Sample struct {
	Columns batch.Schema // of the source's rows, metadata columns included
	Files   int64        // all that would be read
	Bytes   int64
}

// Infer lists a source that need not be applied and finds its columns from
// a sample. Mistakes of the user are *query.Error without a place or the connector's own.
func (h *Host) Infer(ctx context.Context, a addr.Resource, value json.RawMessage) (Sample, error) {
	return Sample{}, errors.New("not built yet")
}
