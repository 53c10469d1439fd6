package duck

import (
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// Pick keeps some rows of a table in a slot as a table of their own. rows are their numbers, ascending.
func (c *Conn) Pick(slot int, from *Table, rows []int) *Table {
	t := &Table{conn: c, slot: int64(slot), layout: from.layout, rows: int64(len(rows))}
	t.copyRows(from, rows)
	c.place(t)
	return t
}

// PickBeside is Pick with a further BIGINT column behind those of the table, of which last has the value of each row. The table is as if the
// query that Layout was asked for had given it.
func (c *Conn) PickBeside(slot int, from *Table, rows []int, sql string, last []int64) (*Table, error) {
	p, err := c.prepare(sql, "")
	if err != nil {
		return nil, err
	}
	t := &Table{conn: c, slot: int64(slot), layout: p.layout, rows: int64(len(rows))}
	t.copyRows(from, rows)
	for _, chunk := range t.chunks {
		data := mapping.VectorGetData(mapping.DataChunkGetVector(chunk, mapping.IdxT(len(from.layout.types))))
		last = last[copy(unsafe.Slice((*int64)(data), int(mapping.DataChunkGetSize(chunk))), last):]
	}
	c.place(t)
	return t, nil
}

// copyRows fills a table with some rows of another, which has its first columns.
func (t *Table) copyRows(from *Table, rows []int) {
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
				t.chunks = append(t.chunks, mapping.CreateDataChunk(t.layout.types))
			}
			out := t.chunks[len(t.chunks)-1]
			part := min(n-done, vectorSize-filled)
			for i := range from.layout.types {
				mapping.VectorCopySel(mapping.DataChunkGetVector(chunk, mapping.IdxT(i+from.shift)), mapping.DataChunkGetVector(out, mapping.IdxT(i)), sel,
					mapping.IdxT(done+part), mapping.IdxT(done), mapping.IdxT(filled))
			}
			mapping.DataChunkSetSize(out, mapping.IdxT(filled+part))
			done, filled = done+part, (filled+part)%vectorSize
		}
	}
}
