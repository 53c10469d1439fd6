package job

import (
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/job/kept"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/scan"
)

// Where a source sets no limit of bytes, the rows of an epoch are to take no more memory than mostRowBytes, so that a report comes every few
// seconds, and no more than a part of what DuckDB may use before it spills: what an epoch changes is held until its commit, several times over.
// Limits never change results.
const (
	mostRowBytes   = 1 << 30
	rowMemoryShare = 2
)

// room is what an epoch can still take of a source. The first file is always taken.
type room struct {
	format   batch.Format
	limits   connector.Limits
	rowBytes int64 // bound of rows; 0: none
	files    int64 // taken so far
	bytes    int64
	rows     int64 // bytes of rows, by estimate
}

func newRoom(in batch.Scan, limits connector.Limits, memory int64) room {
	r := room{format: in.Format, limits: limits}
	if limits.MaxBytes == 0 {
		r.rowBytes = min(mostRowBytes, memory/rowMemoryShare)
	}
	return r
}

func (r *room) full() bool {
	reached := func(limit, taken int64) bool { return limit > 0 && taken >= limit }
	return reached(r.limits.MaxFiles, r.files) || reached(r.limits.MaxBytes, r.bytes) || reached(r.rowBytes, r.rows)
}

func (r *room) take(record Record) {
	r.files++
	r.bytes += record.SizeBytes
	r.rows += scan.RowBytes(r.format, record.File())
}

// hold takes rows that are held, and once were files.
func (r *room) hold(p kept.Part) {
	r.files += p.Files
	r.bytes += p.FileBytes
	r.rows += query.HeldRows{Bytes: p.Bytes}.Memory()
}
