package job

import (
	"github.com/streamform/streamform/runtime/store"
)

// unreported is what an epoch did, kept from its commit until Report was told: a process that is killed in between leaves it
// to the next one.
type unreported struct {
	Progress Progress     `json:"progress"`
	Sources  []sourceSums `json:"sources"` // what SourceProgress does not show in JSON, in its order
}

type sourceSums struct {
	Files     int64 `json:"files"`
	Bytes     int64 `json:"bytes"`
	Malformed int64 `json:"malformed"`
}

// keepReport adds to an epoch's commit what is going to be reported of it.
func (j *Job) keepReport(b *store.Batch, o *outcome) error {
	u := unreported{Progress: j.summed(o)}
	u.Progress.BatchID, u.Progress.Streamform.Epoch = o.epoch, o.epoch
	for _, s := range u.Progress.Sources {
		u.Sources = append(u.Sources, sourceSums{Files: s.Files, Bytes: s.Bytes, Malformed: s.Malformed})
	}
	j.told = false // until then, what was reported before does not matter any more
	return writeJSON(b, "rep/"+j.ID, u)
}

// readUnreported finds what an earlier process has committed and not reported.
func (j *Job) readUnreported(v *store.View) error {
	var u unreported
	found, err := readJSON(v, "rep/"+j.ID, &u)
	if err != nil || !found {
		return err
	}
	for i, s := range u.Sources {
		p := &u.Progress.Sources[i]
		p.Files, p.Bytes, p.Malformed = s.Files, s.Bytes, s.Malformed
	}
	j.lost = &u.Progress
	return nil
}

// reportLost reports what an earlier process did not.
func (j *Job) reportLost() {
	if j.lost == nil {
		return
	}
	p := *j.lost
	j.lost = nil
	j.report(p)
	j.told = true
}
