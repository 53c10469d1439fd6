package weight

import (
	"github.com/streamform/streamform/runtime/query/memory"
	"github.com/streamform/streamform/runtime/query/seed"
)

// InRuns is how many rows an operator remembers besides its keys, where large epochs put them, and how many bytes these take.
func InRuns(mem memory.Memory) (rows, bytes int64, err error) {
	for _, prefix := range []byte{0, 1, seed.Shown} {
		n, size, err := memory.Multimap{Mem: mem, Prefix: prefix}.InRuns()
		if err != nil {
			return 0, 0, err
		}
		rows, bytes = rows+n, bytes+size
	}
	return rows, bytes, nil
}
