package temporal

import (
	"encoding/binary"
	"math"
)

// Remembered reads a remembered date or timestamp, in microseconds since 1970-01-01 UTC, and returns what lies behind it. What has no microseconds in 64
// bits is infinite, whichever way.
func Remembered(b []byte, typ string) (int64, []byte) {
	if typ != "DATE" {
		return int64(binary.LittleEndian.Uint64(b[1:])), b[9:]
	}
	const perDay = 24 * 60 * 60 * 1_000_000
	switch days := int64(int32(binary.LittleEndian.Uint32(b[1:]))); {
	case days > math.MaxInt64/perDay:
		return math.MaxInt64, b[5:]
	case days < math.MinInt64/perDay:
		return math.MinInt64, b[5:]
	default:
		return days * perDay, b[5:]
	}
}
