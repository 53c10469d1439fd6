package job

import (
	"context"
	"errors"
	"time"

	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/query"
)

// Failure is why a pipeline stopped: the same input would fail again. Nothing of the epoch is committed.
type Failure struct {
	Pipeline string // its name for people
	Relation string // address or name of what failed
	Summary  string // short sentence without a full stop
	Detail   string // position and value, where known; what to do
}

func (f *Failure) Error() string { return f.Relation + ": " + f.Summary + ": " + f.Detail }

// failure turns an error that the same input would cause again into a *Failure; others it returns as they are.
func (j *Job) failure(relation string, err error) error {
	var known *Failure
	var data *query.DataError
	var user *connector.UserError
	var sql *query.Error
	f := &Failure{Pipeline: j.Name, Relation: relation}
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.As(err, &data):
		f.Relation, f.Summary, f.Detail = data.Relation, data.Summary, data.Detail
	case errors.As(err, &user):
		f.Summary, f.Detail = user.Summary, user.Detail
	case errors.As(err, &sql):
		f.Summary, f.Detail = sql.Summary, sql.Detail
	default:
		return err
	}
	return f
}

const (
	firstWait = time.Second
	lastWait  = time.Minute
)

// persist repeats fn until it succeeds, fails for good, or the context ends; between
// attempts it waits 1 s, 2 s, 4 s … 1 min. fn itself is not interrupted: an epoch in hand is finished.
func (j *Job) persist(ctx context.Context, fn func(ctx context.Context) error) error {
	pause := firstWait
	for attempt := 1; ; attempt++ {
		err := fn(context.WithoutCancel(ctx))
		var final *Failure
		if err == nil || errors.As(err, &final) || (j.Attempts > 0 && attempt >= j.Attempts) {
			return err
		}
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		j.Retrying(j.Name, err, pause)
		if stopped := j.Wait(ctx, pause); stopped != nil {
			return errors.Join(err, stopped)
		}
		pause = min(2*pause, lastWait)
	}
}
