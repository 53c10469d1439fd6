package delta

import (
	"context"
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	deltalake "github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/delta/snapshot"
)

// inspected is how many of the newest versions are looked at for those of other writers.
const inspected = 200

// Inspect finds what other writers did to the table. What leaves its rows as they are is no drift: OPTIMIZE, VACUUM and the
// like; and nor are rows that others add to a table which this sink only adds to.
func (s *sink) Inspect(ctx context.Context, known connector.Delivered) (connector.Inspection, error) {
	snap, err := s.table.Load(ctx)
	if err != nil {
		return connector.Inspection{}, s.tableError(err)
	}
	version, delivered := versionOf(known.Receipt)
	if snap == nil {
		out := connector.Inspection{}
		if delivered {
			out.Drifts = []connector.Drift{{Kind: connector.DriftTargetGone, Mark: fmt.Sprintf("version %d", version),
				Detail: fmt.Sprintf("There is no Delta table at %s any more; version %d was the last that streamform delivered.", s.dir, version)}}
		}
		return out, nil
	}
	out := connector.Inspection{Place: fmt.Sprintf("the Delta table %s at %s", snap.Metadata.ID, s.dir), Columns: batch.Schema{}}
	for _, f := range snap.Schema {
		out.Columns = append(out.Columns, batch.Column{Name: f.Name, Type: f.Type.String()})
	}
	if !delivered {
		out.Occupied = occupied(snap, place{dir: s.dir, mode: s.mode, sink: known.Sink, origin: known.Sink})
		return out, nil
	}
	if snap.Version < version {
		out.Drifts = []connector.Drift{{Kind: connector.DriftTargetRestored, Mark: fmt.Sprintf("version %d", snap.Version),
			Detail: fmt.Sprintf("The Delta table at %s is at version %d, and streamform has delivered version %d: it was put back or made anew.", s.dir, snap.Version, version)}}
		return out, nil
	}
	out.Drifts, err = s.foreign(ctx, snap, known.Sink)
	return out, err
}

// foreign looks for versions of other writers since this sink's first among the newest ones.
func (s *sink) foreign(ctx context.Context, snap *deltalake.Snapshot, sink string) ([]connector.Drift, error) {
	store := logstore.NewLocal(s.dir)
	rows, columns := foreignVersions{}, foreignVersions{}
	ours, life := false, ""
	for v := max(0, snap.Version-inspected+1); v <= snap.Version; v++ {
		actions, err := snapshot.ReadCommit(ctx, store, v)
		if snapshot.Missing(err) { // cleaned up
			ours = true
			continue
		}
		if err != nil {
			return nil, s.tableError(err)
		}
		if id := deliveredBy(actions, sink); id != "" {
			if id != life { // a new generation has written everything anew
				rows, columns = foreignVersions{}, foreignVersions{}
			}
			ours, life = true, id
			continue
		}
		added, removed, altered := effects(actions)
		if ours && (removed || added && s.mode != modeAppend) {
			rows.add(v, actions)
		}
		if ours && altered {
			columns.add(v, actions)
		}
	}
	return append(
		rows.drift(connector.DriftForeignRows, "Another writer changed rows of the Delta table at "+s.dir),
		columns.drift(connector.DriftForeignColumns, "Another writer changed the columns or settings of the Delta table at "+s.dir)...), nil
}

// deliveredBy is the application ID under which a version was delivered by the sink; empty when another writer made it.
func deliveredBy(actions []action.Action, sink string) string {
	for _, a := range actions {
		if a.Txn != nil && sinkOf(a.Txn.AppID) == sink {
			return a.Txn.AppID
		}
	}
	return ""
}

// effects says what a version does to the rows and to the description of a table.
func effects(actions []action.Action) (added, removed, altered bool) {
	for _, a := range actions {
		added = added || a.Add != nil && a.Add.DataChange
		removed = removed || a.Remove != nil && a.Remove.DataChange
		altered = altered || a.Metadata != nil
	}
	return added, removed, altered
}

// foreignVersions are versions of other writers.
type foreignVersions struct {
	count int
	last  int64
	by    string // what the last one was
}

func (f *foreignVersions) add(version int64, actions []action.Action) {
	f.count, f.last, f.by = f.count+1, version, ""
	for _, a := range actions {
		if a.CommitInfo != nil {
			f.by = strings.TrimSpace(a.CommitInfo.Operation + " by " + a.CommitInfo.EngineInfo)
			f.by = strings.TrimPrefix(strings.TrimSuffix(f.by, " by"), "by ")
		}
	}
}

// drift is what the versions amount to; nothing when there are none.
func (f *foreignVersions) drift(kind, what string) []connector.Drift {
	if f.count == 0 {
		return nil
	}
	text := fmt.Sprintf("version %d", f.last)
	if f.by != "" {
		text += " (" + f.by + ")"
	}
	if f.count > 1 {
		text += fmt.Sprintf(", and %d more before it", f.count-1)
	}
	return []connector.Drift{{Kind: kind, Mark: fmt.Sprintf("version %d", f.last), Detail: what + ": " + text + "."}}
}
