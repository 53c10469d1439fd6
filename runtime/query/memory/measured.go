package memory

import "time"

// Measured is what one operator did in an epoch. An operator may hand its rows on as SQL that the next one runs; then the
// time is the next one's, and the rows were not counted. Work.Measure makes every operator compute its own.
type Measured struct {
	Relation string        // bare name
	Operator string        // ID; ScanID for a source
	RowsIn   int64         // changed rows it was given, inserted and deleted; -1: not counted
	RowsOut  int64         // changed rows it gave; -1: not counted
	Updated  int64         // keys and blocks it remembered, anew or in place of what there was
	Removed  int64         // keys it forgot
	Bytes    int64         // of what it remembered
	Time     time.Duration // it took, without staging for sinks
}

// Remember adds what an operator remembers.
func (m *Measured) Remember(r Remember) {
	r.Each(func(key, value []byte, _ int) {
		m.Bytes += int64(len(key) + len(value))
		if value == nil {
			m.Removed++
		} else {
			m.Updated++
		}
	})
	for _, p := range r.Pieces {
		m.Bytes += int64(len(p.Name) + len(p.Value))
		if p.Value == nil {
			m.Removed++
		} else {
			m.Updated++
		}
	}
	for _, b := range r.Blocks {
		m.Updated++
		m.Bytes += int64(len(b))
	}
}
