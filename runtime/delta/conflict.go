package delta

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/snapshot"
)

// ErrConflict says that a version written meanwhile took away what the transaction was decided on: plan it anew on the
// newest version. Nothing was written.
type ErrConflict struct {
	Version int64 // the version in the way
	Reason  string
}

// Error implements error.
func (e ErrConflict) Error() string {
	return fmt.Sprintf("the transaction conflicts with version %d of the Delta table: %s", e.Version, e.Reason)
}

// ErrFenced says that another writer delivers under the same application id, or that this application is further in the
// table than it knows: going on would lose or repeat rows. Nothing was written.
type ErrFenced struct {
	AppID      string
	Version    int64 // the table version where it shows
	AppVersion int64 // what the table says of the application
}

// Error implements error.
func (e ErrFenced) Error() string {
	return fmt.Sprintf("version %d of the Delta table holds version %d of application %q, written by another instance: stop one of the two, or start a new generation",
		e.Version, e.AppVersion, e.AppID)
}

// ErrUnsupportedFeature names a table feature that the table needs and this library does not know.
type ErrUnsupportedFeature = snapshot.UnsupportedFeature

// Isolation levels, as delta.isolationLevel and commitInfo spell them.
const (
	serializable      = "Serializable"
	writeSerializable = "WriteSerializable"
	snapshotIsolation = "SnapshotIsolation"
)

// isolation is the level a transaction runs under.
func isolation(x *Transaction, configuration map[string]string) string {
	if !x.changesData() && x.Metadata == nil && x.Protocol == nil {
		return snapshotIsolation
	}
	if strings.EqualFold(configuration["delta.isolationLevel"], serializable) {
		return serializable
	}
	return writeSerializable
}

// winner is a version written since the transaction's read version.
type winner struct {
	version int64
	actions []action.Action
	// sameTable: its metaData, if any, leaves schema, partitioning and mapping as they were.
	sameTable bool
	// sameProtocol: its protocol, if any, asks nothing new of writers.
	sameProtocol bool
}

// conflict judges one winner; nil means that the transaction may follow it as it is. The order of the rules matters for
// the error only.
func conflict(x *Transaction, level string, w winner) error {
	at := func(format string, args ...any) error {
		return ErrConflict{Version: w.version, Reason: fmt.Sprintf(format, args...)}
	}
	blind := false
	for _, a := range w.actions {
		if a.CommitInfo != nil && a.CommitInfo.IsBlindAppend != nil {
			blind = *a.CommitInfo.IsBlindAppend
		}
		switch {
		case a.Protocol != nil && (x.Protocol != nil || !w.sameProtocol):
			return at("it changes the protocol")
		case a.Metadata != nil && (x.Metadata != nil || !x.BlindAppend() || !w.sameTable):
			return at("it changes the table's metadata")
		case a.Txn != nil && x.AppID != "" && a.Txn.AppID == x.AppID:
			return ErrFenced{AppID: x.AppID, Version: w.version, AppVersion: a.Txn.Version}
		}
	}
	heedAdds := level == serializable || level == writeSerializable && (!blind || x.Metadata != nil)
	for _, a := range w.actions {
		switch {
		case a.Add != nil && heedAdds && x.reads(a.Add.PartitionValues):
			return at("it adds %s to what was read", a.Add.Path)
		case a.Remove != nil && x.readFile(*a.Remove):
			return at("it removes or changes %s, which was read", a.Remove.Path)
		case a.Remove != nil && slices.ContainsFunc(x.Removes, func(r action.Remove) bool { return r.Key().Path == a.Remove.Key().Path }):
			return at("it removes or changes %s, which the transaction removes", a.Remove.Path)
		}
	}
	return nil
}

// reads tells whether rows with these partition values would have been read.
func (x *Transaction) reads(values map[string]*string) bool {
	return x.ReadWholeTable || slices.ContainsFunc(x.ReadPartitions, func(p map[string]*string) bool {
		for column, want := range p {
			got, known := values[column]
			if known && text(got) != text(want) {
				return false
			}
		}
		return true
	})
}

func (x *Transaction) readFile(r action.Remove) bool {
	path := r.Key().Path
	return x.reads(r.PartitionValues) || slices.ContainsFunc(x.ReadFiles, func(read string) bool {
		return action.Add{Path: read}.Key().Path == path
	})
}

// text is a partition value's text; NULL and the empty text are one.
func text(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}
