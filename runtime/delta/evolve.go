package delta

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/schema"
	"github.com/streamform/streamform/runtime/delta/snapshot"
)

// Property that puts the time of a table commit into the log itself.
const inCommitTimestamps = "delta.enableInCommitTimestamps"

// evolve finds the protocol and metadata actions that a transaction writes, nil for none, and checks it against the
// table as it is then.
func (t *Table) evolve(h *head, x *Transaction) (*action.Protocol, *action.Metadata, error) {
	metadata, s := x.Metadata, h.schema
	if metadata != nil {
		parsed, err := schema.Parse(metadata.SchemaString)
		if err != nil {
			return nil, nil, err
		}
		if s = parsed; s.Supported() != nil {
			return nil, nil, s.Supported()
		}
		if h.exists() && !slices.Equal(h.metadata.PartitionColumns, metadata.PartitionColumns) {
			return nil, nil, errors.New("the partitioning of a Delta table cannot change")
		}
	}
	if s == nil {
		return nil, nil, snapshot.ErrNoSchema
	}
	protocol := h.protocol
	switch {
	case x.Protocol != nil:
		protocol = x.Protocol.Normal()
	case !h.exists():
		// The least there is: every feature shuts out writers that lack it, also those that only compact or clean up.
		protocol = action.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}.With(snapshot.Needed(*metadata, s)...)
	case metadata != nil:
		protocol = protocol.With(snapshot.Needed(*metadata, s)...)
	}
	if err := snapshot.CheckRead(protocol); err != nil {
		return nil, nil, err
	}
	if err := x.checkAgainst(protocol, current(metadata, h.metadata), s); err != nil {
		return nil, nil, err
	}
	if h.exists() && protocol.Equal(h.protocol) {
		return nil, metadata, nil
	}
	return &protocol, metadata, nil
}

func current(next *action.Metadata, now action.Metadata) action.Metadata {
	if next != nil {
		return *next
	}
	return now
}

func timed(m action.Metadata) bool {
	return strings.EqualFold(m.Configuration[inCommitTimestamps], "true")
}

// enableTimestamps records from where on the log has time stamps of its own.
func enableTimestamps(m action.Metadata, version, stamp int64) *action.Metadata {
	m.Configuration = maps.Clone(m.Configuration)
	m.Configuration["delta.inCommitTimestampEnablementVersion"] = strconv.FormatInt(version, 10)
	m.Configuration["delta.inCommitTimestampEnablementTimestamp"] = strconv.FormatInt(stamp, 10)
	return &m
}
