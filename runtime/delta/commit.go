package delta

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/checkpoint"
	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/delta/snapshot"
)

// Result tells what became of a transaction.
type Result struct {
	// Version is the table version that holds it. When Recovered and the log of that time is gone, it is the newest
	// version, which holds it too.
	Version int64
	// Recovered: it had been committed by an earlier call, whose answer was lost.
	Recovered bool
	// Checkpointed: a checkpoint of Version was written. CheckpointError is why a due one was not; it is tried again later.
	Checkpointed    bool
	CheckpointError error
}

// Pauses between tries grow from the first to the last, with jitter.
const (
	firstPause = 2 * time.Millisecond
	lastPause  = 64 * time.Millisecond
	// unknownTries bounds how often a put of unknown outcome is repeated before that is reported.
	unknownTries = 10
)

var errUnknown = errors.New("the store does not show what was written")

// Commit makes the transaction a version of the table, exactly once. Where other versions were written since ReadVersion,
// it follows them unless it conflicts; it goes on trying until it succeeds, conflicts, or ctx ends. A transaction that was
// committed by an earlier call is found again, whatever was written after it.
//
// Errors: ErrConflict (plan anew), ErrFenced (stop), ErrUnsupportedFeature. After any other error the outcome may be
// unknown: commit the same transaction again.
func (t *Table) Commit(ctx context.Context, x Transaction) (Result, error) {
	t.committing.Lock()
	defer t.committing.Unlock()
	result, err := t.commit(ctx, &x)
	if err != nil {
		t.head = nil
		return Result{}, fmt.Errorf("committing to the Delta table: %w", err)
	}
	if !result.Recovered {
		result.Checkpointed, result.CheckpointError = t.checkpointIfDue(ctx)
	}
	return result, nil
}

func (t *Table) commit(ctx context.Context, x *Transaction) (Result, error) {
	if err := x.check(); err != nil {
		return Result{}, err
	}
	h, err := t.refresh(ctx)
	if err != nil {
		return Result{}, err
	}
	if x.ReadVersion > h.version {
		return Result{}, ErrConflict{Version: h.version, Reason: fmt.Sprintf("it is the newest, but the transaction has read version %d: the table was restored or replaced", x.ReadVersion)}
	}
	a := attempt{table: t, x: x, head: h}
	if done, err := a.catchUp(ctx); done != nil || err != nil {
		return orZero(done), err
	}
	return a.race(ctx)
}

func orZero(r *Result) Result {
	if r == nil {
		return Result{}
	}
	return *r
}

// race writes the next version, and the one after it while others are faster.
func (a *attempt) race(ctx context.Context) (Result, error) {
	pause, unknown := firstPause, 0
	for {
		version := a.head.version + 1
		actions, err := a.actions(ctx, version)
		if err != nil {
			return Result{}, err
		}
		body, err := action.Encode(actions)
		if err != nil {
			return Result{}, err
		}
		outcome, putErr := a.table.store.PutIfAbsent(ctx, commitKey(version), body)
		switch outcome {
		case logstore.Written:
			_, err := a.head.take(version, actions)
			a.table.head = a.head
			return Result{Version: version}, err
		case logstore.Failed:
			return Result{}, putErr
		}
		own, err := a.follow(ctx)
		switch {
		case err != nil:
			return Result{}, err
		case own:
			return Result{Version: a.head.version}, nil
		case a.head.version < version:
			if unknown++; unknown >= unknownTries {
				return Result{}, fmt.Errorf("writing version %d: the outcome stays unknown after %d tries: %w", version, unknown, errors.Join(errUnknown, putErr))
			}
		}
		if err := sleep(ctx, pause); err != nil {
			return Result{}, err
		}
		pause = min(2*pause, lastPause)
	}
}

// follow reads the versions that were written meanwhile and moves the head there. It is true when it met the
// transaction itself, and stops at it; otherwise the transaction may follow what it met.
func (a *attempt) follow(ctx context.Context) (own bool, err error) {
	for {
		actions, err := snapshot.ReadCommit(ctx, a.table.store, a.head.version+1)
		if snapshot.Missing(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		w, err := a.head.take(a.head.version+1, actions)
		if err != nil {
			return false, err
		}
		a.table.head = a.head
		if committedBy(actions) == a.x.TxnID {
			return true, nil
		}
		if err := a.judge(w); err != nil {
			return false, err
		}
	}
}

// actions is the table commit for one version. Everything that depends on the version or the time is set here.
func (a *attempt) actions(ctx context.Context, version int64) ([]action.Action, error) {
	protocol, metadata, err := a.table.evolve(a.head, a.x)
	if err != nil {
		return nil, err
	}
	now := a.table.now().UnixMilli()
	blind := a.x.BlindAppend()
	info := &action.CommitInfo{
		Timestamp: now, Operation: a.x.Operation, OperationParameters: a.x.OperationParameters, OperationMetrics: a.x.OperationMetrics,
		IsolationLevel: isolation(a.x, a.head.metadata.Configuration), IsBlindAppend: &blind,
		EngineInfo: "streamform/" + a.table.version, TxnID: a.x.TxnID, UserMetadata: a.x.UserMetadata,
	}
	if info.OperationParameters == nil {
		info.OperationParameters = map[string]string{}
	}
	if a.x.ReadVersion != NoTable {
		info.ReadVersion = &a.x.ReadVersion
	}
	if timed(current(metadata, a.head.metadata)) {
		previous, err := a.table.previousTimestamp(ctx, a.head)
		if err != nil {
			return nil, err
		}
		stamp := max(now, previous+1)
		info.InCommitTimestamp = &stamp
		if metadata != nil && a.head.exists() && !timed(a.head.metadata) {
			metadata = enableTimestamps(*metadata, version, stamp)
		}
	}
	out := []action.Action{{CommitInfo: info}}
	if protocol != nil {
		out = append(out, action.Action{Protocol: protocol})
	}
	if metadata != nil {
		out = append(out, action.Action{Metadata: metadata})
	}
	if a.x.AppID != "" {
		out = append(out, action.Action{Txn: &action.Txn{AppID: a.x.AppID, Version: a.x.AppVersion, LastUpdated: now}})
	}
	for i := range a.x.Removes {
		out = append(out, action.Action{Remove: &a.x.Removes[i]})
	}
	for i := range a.x.Adds {
		out = append(out, action.Action{Add: &a.x.Adds[i]})
	}
	return out, nil
}

func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(time.Duration(rand.Int64N(int64(pause))))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// checkpointIfDue writes a checkpoint when the head's version asks for one, or when one was due long ago: whoever had to
// write it may have died. That is decided from the log, so a restart forgets nothing.
func (t *Table) checkpointIfDue(ctx context.Context) (bool, error) {
	store, ok := t.store.(checkpoint.Store)
	if !ok {
		return false, nil
	}
	h := t.head
	interval := int64(10)
	if n, err := strconv.ParseInt(h.metadata.Configuration["delta.checkpointInterval"], 10, 64); err == nil && n > 0 {
		interval = n
	}
	if h.version == 0 || h.version%interval != 0 && h.version-max(h.checkpoint, 0) < 2*interval {
		return false, nil
	}
	if h.version%interval != 0 {
		hint, found, err := snapshot.Hint(ctx, store)
		if err != nil {
			return false, err
		}
		if found {
			h.checkpoint = hint.Version
		}
		if h.version-max(h.checkpoint, 0) < 2*interval {
			return false, nil
		}
	}
	if err := t.Checkpoint(ctx, h.version); err != nil {
		return false, fmt.Errorf("writing a checkpoint: %w", err)
	}
	h.checkpoint = h.version
	if _, err := t.Cleanup(ctx, noReader); err != nil {
		return true, fmt.Errorf("cleaning up the log: %w", err)
	}
	return true, nil
}
