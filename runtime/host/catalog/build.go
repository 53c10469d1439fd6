package catalog

import (
	"encoding/json"
	"fmt"

	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/store"
)

// Build is how far the build of a pipeline has come, as far as others than its builder need to know.
type Build struct {
	Generations []string         `json:"generations"` // IDs of what is being built, sorted
	Done        map[string]int64 `json:"done"`        // by source ID: ordinal up to which it was replayed
}

// ReadBuild reads the record of a pipeline's build into record, a *Build or what has one embedded; known is false where nothing was built.
func ReadBuild(v *store.View, pipeline string, record any) (known bool, err error) {
	data, known, err := v.Meta(job.BuildKey(pipeline))
	if err == nil && known {
		err = json.Unmarshal(data, record)
	}
	if err != nil {
		return known, fmt.Errorf("reading the build: %w", err)
	}
	return known, nil
}
