// Package builtin declares the kinds that need no connector: stream, view, triggers and monitors.
package builtin

import (
	"errors"
	"strings"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
)

// Kinds lists them all, in the order of the reference.
func Kinds() []schema.Kind {
	return []schema.Kind{StreamKind(), ViewKind(), ProcessingTimeKind(), AvailableNowKind(), FreshnessKind(), LagKind()}
}

// Stream is what a stream block says.
type Stream struct {
	SQL            schema.SQL
	History        string
	RollbackWindow schema.Duration
	Trigger        schema.Ref
	Description    string
}

// StreamKind is the kind stream.
func StreamKind() schema.Kind {
	return schema.Kind{
		Block: addr.Stream,
		Doc:   "An append-only relation: the rows its SQL yields, each emitted once and never taken back.",
		New:   func() schema.Config { return &Stream{} },
		Example: `stream "valid_purchases" {
  sql = "SELECT * FROM purchases WHERE customer IS NOT NULL"
}
`,
	}
}

// Fields lists the fields of a stream.
func (s *Stream) Fields() []schema.Field {
	return []schema.Field{
		sqlField(&s.SQL),
		schema.History(&s.History),
		rollbackField(&s.RollbackWindow),
		triggerField(&s.Trigger),
		descriptionField(&s.Description),
	}
}

// View is what a view block says.
type View struct {
	SQL            schema.SQL
	Keys           []string
	FullRefresh    string
	RollbackWindow schema.Duration
	Trigger        schema.Ref
	Description    string
}

// ViewKind is the kind view.
func ViewKind() schema.Kind {
	return schema.Kind{
		Block: addr.View,
		Doc:   "A relation that always equals its SQL run over everything read so far.",
		New:   func() schema.Config { return &View{} },
		Example: `view "sales_by_customer" {
  sql = <<-SQL
    SELECT customer, sum(amount) AS total
    FROM purchases
    GROUP BY customer
  SQL
}
`,
	}
}

// Fields lists the fields of a view.
func (v *View) Fields() []schema.Field {
	return []schema.Field{
		sqlField(&v.SQL),
		schema.Optional("keys", &v.Keys, "Columns that identify a row, where the SQL does not show them; a second row with the same values is a data failure.",
			schema.OnChange(schema.CostRebuild), schema.Check(namesOnce)),
		schema.Optional("full_refresh", &v.FullRefresh, "What happens when the SQL cannot be kept up to date incrementally: allow, which also holds without the attribute, runs the whole query again in each epoch, and explain says why; refuse makes that an error of the plan. always runs the whole query, whatever it is.",
			schema.OneOf("allow", "refuse", "always"), schema.OnChange(schema.CostInPlace)),
		rollbackField(&v.RollbackWindow),
		triggerField(&v.Trigger),
		descriptionField(&v.Description),
	}
}

func namesOnce(names []string) error {
	if len(names) == 0 {
		return errors.New("name at least one column, or leave it out.")
	}
	seen := map[string]bool{}
	for _, n := range names {
		if strings.TrimSpace(n) == "" {
			return errors.New("a column name must not be empty.")
		}
		if lower := strings.ToLower(n); seen[lower] {
			return errors.New("the column " + n + " is named twice.")
		} else {
			seen[lower] = true
		}
	}
	return nil
}

func sqlField(target *schema.SQL) schema.Field {
	return schema.Required("sql", target, "A query in DuckDB's dialect; it names sources, streams and views by their bare names.",
		schema.Check(func(s schema.SQL) error {
			if strings.TrimSpace(string(s)) == "" {
				return errors.New("the query must not be empty.")
			}
			return nil
		}))
}

func rollbackField(target *schema.Duration) schema.Field {
	return schema.Optional("rollback_window", target, "How long what an edit replaces is kept, so that \"streamform rollback\" can go back to it; it takes as much room again. Without one, nothing is kept.",
		schema.OnChange(schema.CostInPlace), schema.Min(schema.Duration(0)))
}

func triggerField(target *schema.Ref) schema.Field {
	return schema.Optional("trigger", target, "When the pipeline this belongs to runs an epoch; without one, as soon as there is data.",
		schema.Refs(addr.Trigger), schema.OnChange(schema.CostInPlace))
}

func descriptionField(target *string) schema.Field {
	return schema.Optional("description", target, "What it is for, in words for people.", schema.OnChange(schema.CostNone))
}
