package delta

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/schema"
	"github.com/streamform/streamform/runtime/delta/snapshot"
	"github.com/streamform/streamform/runtime/delta/stats"
)

// Transaction is what one table commit is to do, decided against one version of the table. It is plain data: kept as JSON and
// delivered again after a crash, it has effect once, since TxnID tells its own table commit from others.
type Transaction struct {
	// TxnID names this transaction in all its deliveries. It must be unique, and set before the first one.
	TxnID string `json:"txnId"`
	// AppID and AppVersion record how far an application has delivered. Versions rise; gaps are fine. Only one
	// application may write under an id: a second one is fenced. An empty id records nothing.
	AppID      string `json:"appId,omitempty"`
	AppVersion int64  `json:"appVersion,omitempty"`
	// ReadVersion is the version the transaction was planned on; NoTable creates the table.
	ReadVersion int64 `json:"readVersion"`

	Operation           string            `json:"operation"` // as Delta names them: WRITE, MERGE, STREAMING UPDATE …
	OperationParameters map[string]string `json:"operationParameters,omitempty"`
	OperationMetrics    map[string]string `json:"operationMetrics,omitempty"`
	UserMetadata        string            `json:"userMetadata,omitempty"`

	// Metadata creates the table or replaces its metadata. Protocol is needed only beyond what the metadata
	// asks for: what that needs is added by itself.
	Metadata *action.Metadata `json:"metadata,omitempty"`
	Protocol *action.Protocol `json:"protocol,omitempty"`
	Adds     []action.Add     `json:"adds,omitempty"`
	Removes  []action.Remove  `json:"removes,omitempty"`

	// What was read to decide all this, beside the removed files: the whole table, files by their paths
	// as in the log, or all rows of partitions (physical column → value; columns left out match any). With
	// nothing read and nothing removed it is a blind append, which conflicts with little.
	ReadWholeTable bool                 `json:"readWholeTable,omitempty"`
	ReadFiles      []string             `json:"readFiles,omitempty"`
	ReadPartitions []map[string]*string `json:"readPartitions,omitempty"`
}

// NoTable is the ReadVersion of a transaction that creates the table.
const NoTable = int64(-1)

// BlindAppend tells whether the transaction only adds files and has read nothing.
func (x *Transaction) BlindAppend() bool {
	return len(x.Adds) > 0 && len(x.Removes) == 0 && !x.ReadWholeTable && len(x.ReadFiles) == 0 && len(x.ReadPartitions) == 0
}

func (x *Transaction) changesData() bool {
	return slices.ContainsFunc(x.Adds, func(a action.Add) bool { return a.DataChange }) ||
		slices.ContainsFunc(x.Removes, func(r action.Remove) bool { return r.DataChange })
}

// check reports what is wrong with the transaction in itself.
func (x *Transaction) check() error {
	switch {
	case x.TxnID == "":
		return errors.New("a transaction needs a TxnID")
	case x.Operation == "":
		return errors.New("a transaction needs an operation")
	case x.ReadVersion < NoTable:
		return fmt.Errorf("a transaction cannot have read version %d", x.ReadVersion)
	case x.ReadVersion == NoTable && x.Metadata == nil:
		return errors.New("a transaction that creates a table needs metadata")
	}
	var actions []action.Action
	for i := range x.Adds {
		actions = append(actions, action.Action{Add: &x.Adds[i]})
	}
	for i := range x.Removes {
		actions = append(actions, action.Action{Remove: &x.Removes[i]})
	}
	return action.Validate(actions)
}

// checkAgainst reports what the table, as it will be, does not allow.
func (x *Transaction) checkAgainst(p action.Protocol, m action.Metadata, s schema.Schema) error {
	if err := snapshot.CheckWrite(p, m, s); err != nil {
		return err
	}
	on := func(key string) bool { return strings.EqualFold(m.Configuration[key], "true") }
	if on("delta.appendOnly") && slices.ContainsFunc(x.Removes, func(r action.Remove) bool { return r.DataChange }) {
		return errors.New("the table is append-only (delta.appendOnly = true): rows cannot be removed")
	}
	if on("delta.enableChangeDataFeed") && x.changesRowsInPlace() {
		return snapshot.UnsupportedFeature{Feature: action.ChangeDataFeed, Write: true, Detail: "delta.enableChangeDataFeed = true, and rows inside files change"}
	}
	mode, err := schema.ModeOf(m.Configuration)
	if err != nil {
		return err
	}
	partitions, err := physicalPartitions(s, m.PartitionColumns, mode)
	if err != nil {
		return err
	}
	for _, a := range x.Adds {
		if err := checkAdd(a, partitions, p.Has(action.DeletionVectors) && on("delta.enableDeletionVectors")); err != nil {
			return fmt.Errorf("file %q: %w", a.Path, err)
		}
	}
	return nil
}

// changesRowsInPlace tells whether a path is removed and added again: its rows change by a deletion vector.
func (x *Transaction) changesRowsInPlace() bool {
	return slices.ContainsFunc(x.Adds, func(a action.Add) bool {
		return a.DataChange && slices.ContainsFunc(x.Removes, func(r action.Remove) bool { return r.Key().Path == a.Key().Path })
	})
}

func checkAdd(a action.Add, partitions []string, vectors bool) error {
	if _, err := action.DecodePath(a.Path); err != nil {
		return err
	}
	if len(a.PartitionValues) != len(partitions) {
		return fmt.Errorf("it has %d partition values, the table %d partition columns", len(a.PartitionValues), len(partitions))
	}
	for _, name := range partitions {
		value, ok := a.PartitionValues[name]
		if !ok {
			return fmt.Errorf("it has no value for partition column %q", name)
		}
		if value != nil && *value == "" {
			return fmt.Errorf("partition column %q has an empty text, which readers take for NULL: write NULL", name)
		}
	}
	if rows, ok := stats.Rows(a); ok && rows == 0 {
		return errors.New("it has no rows")
	}
	if a.DeletionVector == nil {
		return nil
	}
	if !vectors {
		return errors.New("the table does not allow new deletion vectors (delta.enableDeletionVectors)")
	}
	if _, ok := stats.Rows(a); !ok {
		return errors.New("a file with a deletion vector needs numRecords in its statistics")
	}
	return nil
}

func physicalPartitions(s schema.Schema, columns []string, mode schema.Mode) ([]string, error) {
	out := make([]string, len(columns))
	for i, c := range columns {
		f, ok := s.Field(c)
		if !ok {
			return nil, fmt.Errorf("partition column %q is not in the schema", c)
		}
		out[i] = schema.Schema{f}.Physical(mode)[0].Name
	}
	return out, nil
}
