package duck

import (
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// Pick keeps some rows of a table in a slot as a table of their own. rows are their numbers, ascending.
func (c *Conn) Pick(slot int, from *Table, rows []int) *Table {
	l := from.layout
	t := &Table{conn: c, slot: int64(slot), layout: l, rows: int64(len(rows))}
	sel := mapping.CreateSelectionVector(vectorSize)
	defer mapping.DestroySelectionVector(&sel)
	picked := unsafe.Slice((*uint32)(unsafe.Pointer(mapping.SelectionVectorGetDataPtr(sel))), vectorSize)
	first, filled := 0, 0 // number of the first row of the chunk at hand; rows in the last chunk of t
	for _, chunk := range from.chunks {
		size := int(mapping.DataChunkGetSize(chunk))
		n := 0
		for ; n < len(rows) && rows[n] < first+size; n++ {
			picked[n] = uint32(rows[n] - first)
		}
		rows, first = rows[n:], first+size
		for done := 0; done < n; {
			if filled == 0 {
				t.chunks = append(t.chunks, mapping.CreateDataChunk(l.types))
			}
			out := t.chunks[len(t.chunks)-1]
			part := min(n-done, vectorSize-filled)
			for i := range l.types {
				mapping.VectorCopySel(mapping.DataChunkGetVector(chunk, mapping.IdxT(i+from.shift)), mapping.DataChunkGetVector(out, mapping.IdxT(i)), sel,
					mapping.IdxT(done+part), mapping.IdxT(done), mapping.IdxT(filled))
			}
			mapping.DataChunkSetSize(out, mapping.IdxT(filled+part))
			done, filled = done+part, (filled+part)%vectorSize
		}
	}
	c.place(t)
	return t
}
