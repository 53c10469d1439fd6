package delta

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/streamform/streamform/runtime/connector"
	deltalake "github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/action"
	columns "github.com/streamform/streamform/runtime/delta/schema"
)

// target is the table as one delivery finds it.
type target struct {
	compression string
	dir         string
	now         func() time.Time
	delivery    connector.Delivery
	stager      connector.Stager
	snap        *deltalake.Snapshot // nil: there is no table yet
	table       *deltalake.Table
	schema      columns.Schema // of the table after the delivery
	layout      *deltalake.Layout
	incoming    []columns.Column
	added       columns.Schema   // columns that live files do not have yet
	metadata    *action.Metadata // when the delivery makes the table, or gives it other columns
	files       []action.Add     // live files; not those of a table that is only added to
	written     int64            // rows written so far
}

// target loads the table and checks that this delivery may go there.
func (s *sink) target(ctx context.Context, d connector.Delivery, st connector.Stager) (*target, error) {
	snap, err := s.table.Load(ctx)
	if err != nil {
		return nil, s.tableError(err)
	}
	t := &target{dir: s.dir, compression: s.compression, now: s.now, delivery: d, stager: st, table: s.table, snap: snap}
	for _, c := range d.Change.Columns {
		t.incoming = append(t.incoming, columns.Column{Name: c.Name, Type: c.Type})
	}
	converted, err := columns.FromDuckDB(t.incoming)
	if err != nil {
		return nil, &connector.UserError{Summary: "A column cannot be kept in a Delta table", Detail: sentence(err) + " Cast it to another type in the SQL."}
	}
	wanted := columns.Fields(converted)
	if snap == nil {
		if err := t.checkGone(); err != nil {
			return nil, err
		}
		return t, t.create(wanted, s.mode)
	}
	if s.mode != modeAppend || d.Overwrite {
		t.files = snap.Files()
	}
	if err := t.checkHistory(s.mode); err != nil {
		return nil, err
	}
	if err := t.checkColumns(wanted, s.mode); err != nil {
		return nil, err
	}
	return t, t.setLayout(t.snap.Metadata)
}

// setLayout fixes how data files are written: by the metadata the delivery brings, else by the table's.
func (t *target) setLayout(current action.Metadata) error {
	if t.metadata != nil {
		current = *t.metadata
	}
	layout, err := deltalake.NewLayout(current)
	if err != nil {
		return fmt.Errorf("reading the layout of %s: %w", t.dir, err)
	}
	t.layout = layout
	return nil
}

// create plans the table's first version.
func (t *target) create(wanted columns.Schema, mode string) error {
	configuration := map[string]string{}
	if mode != modeAppend {
		// Rows are located on the version read: any other writer's rows must then be a conflict.
		configuration["delta.isolationLevel"] = "Serializable"
	}
	metadata, err := deltalake.NewMetadata(wanted, nil, configuration, t.now())
	if err != nil {
		return &connector.UserError{Summary: "The columns are not possible in a Delta table", Detail: sentence(err) + " Rename the column in the SQL: column AS name."}
	}
	t.schema, t.metadata = wanted, &metadata
	return t.setLayout(metadata)
}

// appID names the deliveries of one generation of a sink in the table's log.
func appID(d connector.Delivery) string {
	return transactionName(d.Pipeline, d.Origin, d.Generation)
}

func transactionName(pipeline, origin string, generation int64) string {
	return fmt.Sprintf("streamform:%s:%s:%d", pipeline, origin, generation)
}

// checkGone refuses to begin anew where something was delivered before.
func (t *target) checkGone() error {
	if _, delivered := t.delivery.Previous["version"]; !delivered && t.delivery.Counts.Deleted == 0 || t.delivery.Overwrite {
		return nil
	}
	return &connector.UserError{Summary: "The Delta table is gone",
		Detail: fmt.Sprintf("There is no table at %s any more, and %s has delivered to it. Put it back, or apply the sink again with -replace to write it anew.", t.dir, t.delivery.Sink)}
}

// checkHistory compares what the log says about this sink with what the runtime knows.
func (t *target) checkHistory(mode string) error {
	d := t.delivery
	last, delivered := t.snap.Txn(appID(d))
	earlier := slices.ContainsFunc(t.snap.Txns(), func(x action.Txn) bool { return sinkOf(x.AppID) == d.Origin })
	version, known := versionOf(d.Previous)
	again := "apply the sink again with -replace to write it anew."
	switch {
	case d.Overwrite && !earlier && len(t.files) > 0:
		return &connector.UserError{Summary: "The Delta table belongs to something else",
			Detail: fmt.Sprintf("The table at %s holds rows that %s has not written, and would be replaced. Choose another path, or remove it.", t.dir, d.Sink)}
	case d.Overwrite && (!delivered || last < d.Epoch):
		return nil
	case delivered && last >= d.Epoch:
		return &connector.UserError{Summary: "The Delta table is ahead of the runtime",
			Detail: fmt.Sprintf("The log at %s says that epoch %d of %s was delivered, and the runtime is at epoch %d: its data folder comes from an older backup. Use the newer one, or %s", t.dir, last, d.Sink, d.Epoch, again)}
	case known && (!delivered || t.snap.Version < version):
		return &connector.UserError{Summary: "The Delta table was put back to an older state",
			Detail: fmt.Sprintf("%s has delivered version %d, and the table at %s is at version %d without it. Restore it, or %s", d.Sink, version, t.dir, t.snap.Version, again)}
	case delivered:
		return nil
	}
	if refused := occupied(t.snap, place{dir: t.dir, mode: mode, sink: d.Sink, origin: d.Origin}); refused != nil {
		return refused
	}
	return nil
}

// place is where a sink is about to begin.
type place struct {
	dir, mode    string
	sink, origin string // its address, and the one it was created under
}

// occupied says why a sink may not begin at a table that is there; nil when it may.
func occupied(snap *deltalake.Snapshot, p place) *connector.UserError {
	switch {
	case slices.ContainsFunc(snap.Txns(), func(x action.Txn) bool { return sinkOf(x.AppID) == p.origin }):
		return &connector.UserError{Summary: "The Delta table holds rows of an earlier life of this sink",
			Detail: fmt.Sprintf("The table at %s was filled by %s before it was created anew; its rows would be there twice. Remove the folder, or choose another path.", p.dir, p.sink)}
	case p.mode != modeAppend && len(snap.Files()) > 0:
		return &connector.UserError{Summary: "The Delta table belongs to something else",
			Detail: fmt.Sprintf("The table at %s holds rows that %s has not written, so it cannot equal a view. Choose another path, or remove it.", p.dir, p.sink)}
	}
	return nil
}

// sinkOf is the sink's address in an appID; empty for other applications.
func sinkOf(id string) string {
	parts := strings.Split(id, ":")
	if len(parts) < 4 || parts[0] != "streamform" {
		return ""
	}
	return parts[len(parts)-2]
}

// versionOf is the table version of a receipt, which may have been through JSON.
func versionOf(r connector.Receipt) (int64, bool) {
	switch v := r["version"].(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), true
	}
	return 0, false
}

// checkColumns compares the table's columns with the delivery's.
func (t *target) checkColumns(wanted columns.Schema, mode string) error {
	if t.snap.Mode != columns.ByLogicalName || len(t.snap.Metadata.PartitionColumns) > 0 {
		return &connector.UserError{Summary: "The Delta table cannot be written in this version",
			Detail: fmt.Sprintf("The table at %s is partitioned or maps its columns; such tables can be read, not written. Choose another path.", t.dir)}
	}
	t.schema = t.snap.Schema
	merged, added, err := columns.Merge(t.schema, wanted)
	if err == nil && !added && len(wanted) == len(merged) {
		return nil
	}
	if t.delivery.Overwrite { // all rows go, so the columns may go too
		m := t.snap.Metadata
		m.SchemaString = wanted.String()
		t.schema, t.metadata = wanted, &m
		return nil
	}
	if err == nil && len(wanted) == len(merged) && (t.delivery.AppendOnly || mode != modeAppend) { // the relation has got further columns: rows of before have NULL there
		t.added = merged[len(t.schema):]
		m := t.snap.Metadata
		m.SchemaString = merged.String()
		t.schema, t.metadata = merged, &m
		return nil
	}
	if err == nil {
		err = fmt.Errorf("its columns are %s, the sink's are %s", names(t.schema), names(wanted))
	}
	return &connector.UserError{Summary: "The Delta table has other columns",
		Detail: fmt.Sprintf("The table at %s does not fit what %s delivers: %s Choose another path, or change the SQL.", t.dir, t.delivery.Sink, sentence(err))}
}

func names(s columns.Schema) string {
	out := make([]string, len(s))
	for i, f := range s {
		out[i] = f.Name + " " + f.Type.String()
	}
	return strings.Join(out, ", ")
}

// transaction is the table commit of the delivery, still without files.
func (t *target) transaction(operation string, parameters map[string]string) *deltalake.Transaction {
	read := deltalake.NoTable
	if t.snap != nil {
		read = t.snap.Version
	}
	return &deltalake.Transaction{AppID: appID(t.delivery), AppVersion: t.delivery.Epoch, TxnID: uuid.NewString(), ReadVersion: read,
		Operation: operation, OperationParameters: parameters, Metadata: t.metadata}
}

// remove takes live files out of the table.
func (t *target) remove(tx *deltalake.Transaction, files []action.Add) {
	for _, f := range files {
		tx.Removes = append(tx.Removes, action.Removal(f, t.now().UnixMilli()))
	}
}

// tableError tells a table that needs more than the library knows from a failure that is tried again.
func (s *sink) tableError(err error) error {
	var feature deltalake.ErrUnsupportedFeature
	if errors.As(err, &feature) {
		return &connector.UserError{Summary: "The Delta table uses a feature that is not supported",
			Detail: fmt.Sprintf("The table at %s: %s Choose another path.", s.dir, sentence(err))}
	}
	return fmt.Errorf("in the table at %s: %w", s.dir, err)
}

// sentence closes a message with a full stop.
func sentence(err error) string { return strings.TrimSuffix(err.Error(), ".") + "." }
