package job

import (
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/weight"
	"github.com/streamform/streamform/runtime/store"
)

// StateOperator is what one operator that remembers something did in an epoch, and what it remembers now. Field names are those
// of Structured Streaming; what an embedded runtime has one or none of is always the same.
type StateOperator struct {
	OperatorName              string           `json:"operatorName"` // its kind
	NumRowsTotal              int64            `json:"numRowsTotal"` // keys; rows where a relation's rows are held by themselves
	NumRowsUpdated            int64            `json:"numRowsUpdated"`
	AllUpdatesTimeMs          int64            `json:"allUpdatesTimeMs"`
	NumRowsRemoved            int64            `json:"numRowsRemoved"`
	AllRemovalsTimeMs         int64            `json:"allRemovalsTimeMs"` // 0: within allUpdatesTimeMs
	CommitTimeMs              int64            `json:"commitTimeMs"`      // 0: all operators are committed at once, see walCommit
	MemoryUsedBytes           int64            `json:"memoryUsedBytes"`   // of keys and values
	NumRowsDroppedByWatermark int64            `json:"numRowsDroppedByWatermark"`
	NumShufflePartitions      int64            `json:"numShufflePartitions"`
	NumStateStoreInstances    int64            `json:"numStateStoreInstances"`
	CustomMetrics             map[string]int64 `json:"customMetrics,omitempty"` // numRowsIn, numRowsOut: changed rows, where counted
	Relation                  string           `json:"relation"`
	OperatorID                string           `json:"operatorId"`
}

// addOperators tells what the operators did, and what they remember after the commit.
func (j *Job) addOperators(p *Progress, o *outcome) {
	p.Operators = o.result.Operators
	view := j.Store.View()
	defer view.Close()
	told := map[uint64]bool{}
	for _, r := range o.relations {
		for _, op := range r.Program.Operators {
			table, has := r.Tables[op.ID]
			if op.Holds == "nothing" || has && told[table] {
				continue
			}
			told[table] = true
			s := StateOperator{OperatorName: op.Kind, NumShufflePartitions: 1, NumStateStoreInstances: 1, Relation: r.Addr.String(), OperatorID: op.ID}
			s.hold(view, r, op.ID)
			if op.ID == query.ResultID {
				c := j.counters[r.ID]
				s.NumRowsTotal = c.Inserted - c.Deleted
			}
			for _, m := range p.Operators {
				if m.Relation == r.Addr.Relation() && m.Operator == op.ID {
					s.measure(m)
				}
			}
			p.StateOperators = append(p.StateOperators, s)
		}
	}
}

func (s *StateOperator) hold(view *store.View, r Relation, operator string) {
	if id, ok := r.Tables[operator]; ok {
		table := view.Table(id)
		s.NumRowsTotal, s.MemoryUsedBytes = table.Len(), table.Size()
		if rows, bytes, err := weight.InRuns(table); err == nil { // what cannot be read is an error of the next epoch
			s.NumRowsTotal, s.MemoryUsedBytes = s.NumRowsTotal+rows, s.MemoryUsedBytes+bytes
		}
	}
}

func (s *StateOperator) measure(m query.Measured) {
	s.NumRowsUpdated, s.NumRowsRemoved, s.AllUpdatesTimeMs = m.Updated, m.Removed, m.Time.Milliseconds()
	s.CustomMetrics = map[string]int64{}
	if m.RowsIn >= 0 {
		s.CustomMetrics["numRowsIn"] = m.RowsIn
	}
	if m.RowsOut >= 0 {
		s.CustomMetrics["numRowsOut"] = m.RowsOut
	}
}
