package duck

import (
	"context"
	"errors"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/duckdb/duckdb-go/v2/arrowmapping"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// While other threads work on the last tasks of a statement, tasks are asked for without a pause at first, as few rows are done by then.
const (
	impatient  = 50 * time.Microsecond
	firstPause = 20 * time.Microsecond
	lastPause  = 200 * time.Microsecond
)

// run executes a prepared statement and leaves its rows in result, to be destroyed also after an error. DuckDB's own loop asks for
// a task again and again while other threads have the last ones, and keeps a core busy with that; this one waits in between.
func (c *Conn) run(ctx context.Context, stmt mapping.PreparedStatement, result *mapping.Result) error {
	var p mapping.PendingResult
	defer mapping.DestroyPending(&p)
	if mapping.PendingPrepared(stmt, &p) == mapping.StateError {
		return errors.Join(errors.New(mapping.PendingError(p)), ctx.Err())
	}
	stop := context.AfterFunc(ctx, func() { mapping.Interrupt(c.raw) })
	defer stop()
	var idle time.Time // since when there is no task; zero: there is one
	pause := firstPause
	for {
		if ctx.Err() != nil { // an interrupt that came before the statement had begun is lost
			mapping.Interrupt(c.raw)
		}
		switch state := mapping.PendingExecuteTask(p); {
		case state == mapping.PendingStateError:
			return errors.Join(errors.New(mapping.PendingError(p)), ctx.Err())
		case mapping.PendingExecutionIsFinished(state):
			if mapping.ExecutePending(p, result) == mapping.StateError {
				return errors.Join(errors.New(mapping.ResultError(result)), ctx.Err())
			}
			return nil
		case state == mapping.PendingStateNoTasksAvailable:
			if idle.IsZero() {
				idle = time.Now()
			}
			if time.Since(idle) > impatient {
				time.Sleep(pause)
				pause = min(2*pause, lastPause)
			}
		default:
			idle, pause = time.Time{}, firstPause
		}
	}
}

// Exec runs statements without a result.
func (c *Conn) Exec(ctx context.Context, sql string) error {
	var all mapping.ExtractedStatements
	defer mapping.DestroyExtracted(&all)
	n := mapping.ExtractStatements(c.raw, sql, &all)
	if text := mapping.ExtractStatementsError(all); n == 0 && text != "" {
		return errors.New(text)
	}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.execute(ctx, all, i); err != nil {
			return err
		}
	}
	return nil
}

func (c *Conn) execute(ctx context.Context, all mapping.ExtractedStatements, i mapping.IdxT) error {
	var stmt mapping.PreparedStatement
	defer mapping.DestroyPrepare(&stmt)
	if mapping.PrepareExtractedStatement(c.raw, all, i, &stmt) == mapping.StateError {
		return errors.New(mapping.PrepareError(stmt))
	}
	var result mapping.Result
	defer mapping.DestroyResult(&result)
	return c.run(ctx, stmt, &result)
}

// Batches runs one query and hands over its rows as Arrow batches, each valid during its call.
func (c *Conn) Batches(ctx context.Context, sql string, fn func(arrow.RecordBatch) error) error {
	p, err := c.prepare(sql, Unknown)
	if err != nil {
		return err
	}
	defer mapping.DestroyPrepare(&p.stmt)
	var result mapping.Result
	defer mapping.DestroyResult(&result)
	if err := c.run(ctx, p.stmt, &result); err != nil {
		return err
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		chunk := mapping.FetchChunk(result)
		if chunk.Ptr == nil {
			return nil
		}
		if err := c.hand(p.layout, chunk, fn); err != nil {
			return err
		}
	}
}

// hand gives a chunk's rows to fn, and frees it.
func (c *Conn) hand(l *layout, chunk mapping.DataChunk, fn func(arrow.RecordBatch) error) error {
	defer mapping.DestroyDataChunk(&chunk)
	if mapping.DataChunkGetSize(chunk) == 0 {
		return nil
	}
	rec, failed := arrowmapping.DataChunkToArrowArray(c.options, l.schema, chunk)
	if err := asError(failed); err != nil {
		return err
	}
	defer rec.Release()
	return fn(rec)
}
