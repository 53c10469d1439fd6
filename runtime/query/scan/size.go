package scan

import "github.com/streamform/streamform/runtime/batch"

// What a byte of a file becomes in memory, by estimate: Parquet is encoded and compressed, text is about as long as its values.
const (
	parquetGrowth    = 4
	compressedGrowth = 8
)

// RowBytes estimates how many bytes the rows of a file take in memory.
func RowBytes(format batch.Format, f batch.File) int64 {
	switch {
	case format.Name == "parquet":
		return parquetGrowth * f.Size
	case Compressed(f.Path):
		return compressedGrowth * f.Size
	}
	return f.Size
}
