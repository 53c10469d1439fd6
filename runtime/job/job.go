// Package job runs one pipeline: batches → query → commit → deliver.
package job

// Failure is why a pipeline stopped: the same input would fail again. Nothing of the epoch is committed.
type Failure struct {
	Pipeline string
	Relation string // address or name of what failed
	Summary  string
	Detail   string // position and value, where known; what to do
}

func (f *Failure) Error() string { return f.Relation + ": " + f.Summary + ": " + f.Detail }
