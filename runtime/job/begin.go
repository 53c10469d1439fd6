package job

import "context"

// Begin computes relations that have rows before anything is read, such as a count of all rows, where they were not computed yet.
// Nothing is read for that, so that it may be done of a pipeline whose trigger is paused.
func (j *Job) Begin(ctx context.Context) error {
	if err := j.Deliver(ctx); err != nil || !j.uncomputed(j.Relations) {
		return err
	}
	read := map[string]int64{}
	for _, r := range j.sources {
		read[r.ID] = r.state.Position
	}
	_, err := j.advance(ctx, read)
	return err
}
