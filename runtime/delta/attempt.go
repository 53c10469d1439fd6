package delta

import (
	"context"
	"slices"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/schema"
	"github.com/streamform/streamform/runtime/delta/snapshot"
)

// attempt is one call of Commit.
type attempt struct {
	table *Table
	x     *Transaction
	head  *head
}

// catchUp judges the versions between the one read and the newest. A result means that one of them is the
// transaction itself: that is looked for first, since what was allowed once need not be judged again.
func (a *attempt) catchUp(ctx context.Context) (*Result, error) {
	for v := a.x.ReadVersion + 1; v <= a.head.version; v++ {
		actions, err := snapshot.ReadCommit(ctx, a.table.store, v)
		if snapshot.Missing(err) {
			return a.unverifiable(v)
		}
		if err != nil {
			return nil, err
		}
		if committedBy(actions) == a.x.TxnID {
			return &Result{Version: v, Recovered: true}, nil
		}
	}
	var seen *head
	for v := a.x.ReadVersion + 1; v <= a.head.version; v++ {
		actions, err := snapshot.ReadCommit(ctx, a.table.store, v)
		if err != nil {
			return nil, err
		}
		w := winner{version: v, actions: actions}
		if describesTable(actions) {
			if seen == nil {
				if seen, err = a.base(ctx); err != nil {
					return nil, err
				}
			}
			if w, err = seen.take(v, actions); err != nil {
				return nil, err
			}
		}
		if err := a.judge(w); err != nil {
			return nil, err
		}
	}
	return a.delivered(ctx)
}

// base is the head as it was when the transaction was planned.
func (a *attempt) base(ctx context.Context) (*head, error) {
	if a.x.ReadVersion == NoTable {
		return headOf(nil), nil
	}
	s, err := snapshot.Load(ctx, a.table.store, a.x.ReadVersion)
	if err != nil {
		return nil, err
	}
	return headOf(s), nil
}

func describesTable(actions []action.Action) bool {
	return slices.ContainsFunc(actions, func(a action.Action) bool { return a.Metadata != nil || a.Protocol != nil })
}

// judge applies the conflict rules, after the rule for two that create one table: the loser goes on as a writer
// of it, if it is the same table.
func (a *attempt) judge(w winner) error {
	if w.version == 0 && a.x.ReadVersion == NoTable && a.x.Metadata != nil {
		for _, act := range w.actions {
			if act.Metadata != nil && !sameShape(*act.Metadata, *a.x.Metadata) {
				return ErrConflict{Version: 0, Reason: "another writer created the table with another schema or partitioning"}
			}
		}
		follower := *a.x
		follower.Metadata, follower.Protocol = nil, nil
		a.x = &follower
		w.actions = slices.DeleteFunc(slices.Clone(w.actions), func(act action.Action) bool { return act.Metadata != nil || act.Protocol != nil })
	}
	return conflict(a.x, isolation(a.x, a.head.metadata.Configuration), w)
}

// sameShape tells whether two tables have the same columns and partitioning.
func sameShape(a, b action.Metadata) bool {
	s, errA := schema.Parse(a.SchemaString)
	u, errB := schema.Parse(b.SchemaString)
	same := func(p, q schema.Schema) bool {
		return schema.Type{Name: schema.Struct, Fields: p}.Equal(schema.Type{Name: schema.Struct, Fields: q})
	}
	modeA, modeB := a.Configuration[schema.MappingMode], b.Configuration[schema.MappingMode]
	if modeA != modeB || !slices.Equal(a.PartitionColumns, b.PartitionColumns) {
		return false
	}
	return errA == nil && errB == nil && same(s, u)
}

// unverifiable decides when the log since the read version was cleaned up: only the application's version can tell then.
func (a *attempt) unverifiable(missing int64) (*Result, error) {
	if known, ok := a.head.txns[a.x.AppID]; ok && known >= a.x.AppVersion {
		return &Result{Version: a.head.version, Recovered: true}, nil
	}
	return nil, ErrConflict{Version: missing, Reason: "it was cleaned up, so what it did is unknown"}
}

// delivered finds a transaction that was committed at or below the version it claims to have read: its
// application's version in the table is not below its own then.
func (a *attempt) delivered(ctx context.Context) (*Result, error) {
	known, ok := a.head.txns[a.x.AppID]
	if !ok || a.x.AppID == "" || known < a.x.AppVersion {
		return nil, nil
	}
	for v := a.x.ReadVersion; v >= 0; v-- {
		actions, err := snapshot.ReadCommit(ctx, a.table.store, v)
		if snapshot.Missing(err) {
			return &Result{Version: a.head.version, Recovered: true}, nil
		}
		if err != nil {
			return nil, err
		}
		if committedBy(actions) == a.x.TxnID {
			return &Result{Version: v, Recovered: true}, nil
		}
		for _, act := range actions {
			if act.Txn != nil && act.Txn.AppID == a.x.AppID && act.Txn.Version <= a.x.AppVersion {
				return nil, ErrFenced{AppID: a.x.AppID, Version: v, AppVersion: known}
			}
		}
	}
	return nil, ErrFenced{AppID: a.x.AppID, Version: a.head.version, AppVersion: known}
}
