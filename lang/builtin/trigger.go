package builtin

import (
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
)

// ProcessingTime is what a trigger "processing_time" block says.
type ProcessingTime struct {
	Interval schema.Duration
	Paused   bool
}

// ProcessingTimeKind is the kind trigger.processing_time.
func ProcessingTimeKind() schema.Kind {
	return schema.Kind{
		Block: addr.Trigger,
		Type:  "processing_time",
		Doc:   "Starts an epoch at every multiple of an interval since 1970-01-01 UTC, when there is data.",
		New:   func() schema.Config { return &ProcessingTime{} },
		Example: `trigger "processing_time" "live" {
  interval = "10s"
}
`,
	}
}

// Fields lists the fields of a processing-time trigger.
func (t *ProcessingTime) Fields() []schema.Field {
	return []schema.Field{
		schema.Required("interval", &t.Interval, "Time from one tick to the next.",
			schema.OnChange(schema.CostInPlace), schema.Min(schema.Duration(time.Millisecond))),
		pausedField(&t.Paused),
	}
}

// AvailableNow is what a trigger "available_now" block says.
type AvailableNow struct {
	Paused bool
}

// AvailableNowKind is the kind trigger.available_now.
func AvailableNowKind() schema.Kind {
	return schema.Kind{
		Block: addr.Trigger,
		Type:  "available_now",
		Doc:   "Reads what every source holds when the run starts, in as many epochs as the limits ask for, then stops.",
		New:   func() schema.Config { return &AvailableNow{} },
		Example: `trigger "available_now" "nightly" {
}
`,
	}
}

// Fields lists the fields of an available-now trigger.
func (t *AvailableNow) Fields() []schema.Field {
	return []schema.Field{pausedField(&t.Paused)}
}

func pausedField(target *bool) schema.Field {
	return schema.Optional("paused", target, "True keeps the pipeline from starting epochs.", schema.OnChange(schema.CostInPlace))
}

// Monitor is what a monitor block says. This version records it and shows it.
type Monitor struct {
	On          schema.Ref
	Max         schema.Duration
	Description string
}

// FreshnessKind is the kind monitor.freshness.
func FreshnessKind() schema.Kind {
	return schema.Kind{
		Block: addr.Monitor,
		Type:  "freshness",
		Doc:   "Records how long ago a relation or sink may have last changed.",
		New:   func() schema.Config { return &Monitor{} },
		Example: `monitor "freshness" "sales" {
  on  = view.sales_by_customer
  max = "5m"
}
`,
	}
}

// LagKind is the kind monitor.lag.
func LagKind() schema.Kind {
	return schema.Kind{
		Block: addr.Monitor,
		Type:  "lag",
		Doc:   "Records how far a relation or sink may be behind its sources.",
		New:   func() schema.Config { return &Monitor{} },
		Example: `monitor "lag" "sales" {
  on  = view.sales_by_customer
  max = "1m"
}
`,
	}
}

// Fields lists the fields of a monitor.
func (m *Monitor) Fields() []schema.Field {
	return []schema.Field{
		schema.Required("on", &m.On, "The source, stream, view or sink that is watched.",
			schema.OnChange(schema.CostInPlace), schema.Refs(addr.Source, addr.Stream, addr.View, addr.Sink)),
		schema.Required("max", &m.Max, "The greatest time that is acceptable.",
			schema.OnChange(schema.CostInPlace), schema.Min(schema.Duration(time.Second))),
		descriptionField(&m.Description),
	}
}
