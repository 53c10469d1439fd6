package job

import (
	"testing"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/stretchr/testify/require"
)

func TestRoom(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name   string
		format string
		path   string
		limits connector.Limits
		all    bool
		memory int64
		files  int // of 10 MiB that an epoch takes
	}{
		{"text within the memory", "json", "a.json", connector.Limits{}, false, 100 * mib, 5},
		{"Parquet grows", "parquet", "a.parquet", connector.Limits{}, false, 160 * mib, 2},
		{"what is compressed grows more", "csv", "a.csv.gz", connector.Limits{}, false, 480 * mib, 3},
		{"the first file is always taken", "json", "a.json", connector.Limits{}, false, mib, 1},
		{"much memory is not used up", "json", "a.json", connector.Limits{}, false, 1 << 40, 103},
		{"a limit of bytes is the source's own", "parquet", "a.parquet", connector.Limits{MaxBytes: 45 * mib}, false, mib, 5},
		{"a limit of files, and the memory", "json", "a.json", connector.Limits{MaxFiles: 7}, false, 100 * mib, 5},
		{"a limit of files", "json", "a.json", connector.Limits{MaxFiles: 3}, false, 100 * mib, 3},
		{"everything at once", "json", "a.json", connector.Limits{MaxFiles: 3}, true, mib, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRoom(batch.Scan{Format: batch.Format{Name: c.format}}, c.limits, c.memory)
			if c.all {
				r = room{}
			}
			n := 0
			for n < 200 && !r.full() {
				r.take(Record{Entry: connector.Entry{Path: c.path, SizeBytes: 10 * mib}})
				n++
			}
			require.Equal(t, c.files, n)
		})
	}
}
