package host

import (
	"fmt"
	"time"

	"github.com/streamform/streamform/lang/schema"
)

// rollbackWindow is the longest time that one of the relations being replaced asks for.
func (b *builder) rollbackWindow() (longest time.Duration, err error) {
	for _, a := range b.pipeline.Members {
		g := b.building(a)
		if g == nil || b.workshop.record(a).Live == nil {
			continue
		}
		w, err := g.Wanted()
		if err != nil {
			return 0, fmt.Errorf("reading %s: %w", a, err)
		}
		if w.RollbackWindow == "" {
			continue
		}
		d, err := schema.ParseDuration(w.RollbackWindow)
		if err != nil {
			return 0, fmt.Errorf("reading the rollback window of %s: %w", a, err)
		}
		longest = max(longest, time.Duration(d))
	}
	return longest, nil
}
