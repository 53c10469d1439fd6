package duck

/*
#include <stdint.h>
#include <stdlib.h>

typedef void (*sf_callback)(void *);
typedef void (*sf_function)(void *, void *);

// One scan of a table under way; DuckDB frees it.
typedef struct {
	uint64_t slot;
	int64_t next; // the chunk to be read next
	int64_t count;
	uint64_t columns[]; // which columns are wanted, in order
} sf_scan;

void sfRowsBind(void *info);
void sfNumberedBind(void *info);
void sfRowsInit(void *info);
void sfRowsRead(void *info, void *output);
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime/cgo"
	"sync/atomic"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// The table functions that read a Table: sf$rows(slot, layout), and the same with the rows' numbers as a last column.
const (
	rowsFunction     = "sf$rows"
	numberedFunction = "sf$numbered"
)

// RowNumber is the column that Numbered adds: a BIGINT, 0 for the first row.
const RowNumber = "sf$row"

// registerRows makes both functions known to a connection.
func (c *Conn) registerRows() error {
	c.handle = cgo.NewHandle(c)
	return errors.Join(c.register(rowsFunction, C.sf_callback(C.sfRowsBind)), c.register(numberedFunction, C.sf_callback(C.sfNumberedBind)))
}

func (c *Conn) register(name string, bind C.sf_callback) error {
	f := mapping.CreateTableFunction()
	defer mapping.DestroyTableFunction(&f)
	mapping.TableFunctionSetName(f, name)
	for range 2 {
		t := mapping.CreateLogicalType(mapping.TypeBigInt)
		mapping.TableFunctionAddParameter(f, t)
		mapping.DestroyLogicalType(&t)
	}
	mapping.TableFunctionSetExtraInfo(f, cell(uint64(c.handle)), unsafe.Pointer(C.sf_callback(C.free)))
	mapping.TableFunctionSupportsProjectionPushdown(f, true)
	mapping.TableFunctionSetBind(f, unsafe.Pointer(bind))
	mapping.TableFunctionSetInit(f, unsafe.Pointer(C.sf_callback(C.sfRowsInit)))
	mapping.TableFunctionSetFunction(f, unsafe.Pointer(C.sf_function(C.sfRowsRead)))
	if mapping.RegisterTableFunction(c.raw, f) == mapping.StateError {
		return errors.New("registering a table function failed")
	}
	return nil
}

// cell puts a number where C can keep it.
func cell(n uint64) unsafe.Pointer {
	p := C.malloc(8)
	*(*uint64)(p) = n
	return p
}

func connOf(extra unsafe.Pointer) *Conn {
	return cgo.Handle(*(*uint64)(extra)).Value().(*Conn)
}

//export sfRowsBind
func sfRowsBind(info unsafe.Pointer) { bindRows(mapping.BindInfo{Ptr: info}) }

//export sfNumberedBind
func sfNumberedBind(info unsafe.Pointer) {
	b := mapping.BindInfo{Ptr: info}
	bindRows(b)
	t := mapping.CreateLogicalType(mapping.TypeBigInt)
	defer mapping.DestroyLogicalType(&t)
	mapping.BindAddResultColumn(b, RowNumber, t)
}

func bindRows(b mapping.BindInfo) {
	c := connOf(mapping.BindGetExtraInfo(b))
	var at [2]int64
	for i := range at {
		v := mapping.BindGetParameter(b, mapping.IdxT(i))
		at[i] = mapping.GetInt64(v)
		mapping.DestroyValue(&v)
	}
	l, ok := c.layouts[int(at[1])]
	if !ok {
		mapping.BindSetError(b, fmt.Sprintf("there is no layout %d", at[1]))
		return
	}
	for i, name := range l.names {
		mapping.BindAddResultColumn(b, name, l.types[i])
	}
	if t := c.slots[at[0]]; t != nil {
		mapping.BindSetCardinality(b, mapping.IdxT(t.rows), false)
	}
	mapping.BindSetBindData(b, cell(uint64(at[0])), unsafe.Pointer(C.sf_callback(C.free)))
}

//export sfRowsInit
func sfRowsInit(info unsafe.Pointer) {
	i := mapping.InitInfo{Ptr: info}
	n := mapping.InitGetColumnCount(i)
	s := (*C.sf_scan)(C.malloc(C.size_t(unsafe.Sizeof(C.sf_scan{})) + C.size_t(n)*8))
	s.slot, s.next, s.count = C.uint64_t(*(*uint64)(mapping.InitGetBindData(i))), 0, C.int64_t(n)
	columns := wanted(s)
	for j := range columns {
		columns[j] = uint64(mapping.InitGetColumnIndex(i, mapping.IdxT(j)))
	}
	c := connOf(mapping.InitGetExtraInfo(i))
	threads := 1
	if t := c.slots[int64(s.slot)]; t != nil {
		threads = max(1, len(t.chunks)/chunksPerThread)
	}
	mapping.InitSetMaxThreads(i, mapping.IdxT(threads))
	mapping.InitSetInitData(i, unsafe.Pointer(s), unsafe.Pointer(C.sf_callback(C.free)))
}

// chunksPerThread is how many chunks are worth another thread.
const chunksPerThread = 32

func wanted(s *C.sf_scan) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Add(unsafe.Pointer(s), unsafe.Sizeof(C.sf_scan{}))), int(s.count))
}

//export sfRowsRead
func sfRowsRead(info, output unsafe.Pointer) {
	f, out := mapping.FunctionInfo{Ptr: info}, mapping.DataChunk{Ptr: output}
	s := (*C.sf_scan)(mapping.FunctionGetInitData(f))
	t := connOf(mapping.FunctionGetExtraInfo(f)).slots[int64(s.slot)]
	if t == nil {
		mapping.FunctionSetError(f, fmt.Sprintf("there is no table in slot %d", int64(s.slot)))
		return
	}
	at := atomic.AddInt64((*int64)(unsafe.Pointer(&s.next)), 1) - 1
	if at >= int64(len(t.chunks)) {
		mapping.DataChunkSetSize(out, 0)
		return
	}
	in := t.chunks[at]
	for j, column := range wanted(s) {
		if column == uint64(len(t.layout.names)) {
			data := mapping.VectorGetData(mapping.DataChunkGetVector(out, mapping.IdxT(j)))
			for i, numbers := int64(0), unsafe.Slice((*int64)(data), t.starts[at+1]-t.starts[at]); i < int64(len(numbers)); i++ {
				numbers[i] = t.starts[at] + i
			}
			continue
		}
		if column > uint64(len(t.layout.names)) { // DuckDB's own row number: only asked for to count
			continue
		}
		mapping.VectorReferenceVector(mapping.DataChunkGetVector(out, mapping.IdxT(j)), mapping.DataChunkGetVector(in, mapping.IdxT(column)+mapping.IdxT(t.shift)))
	}
	mapping.DataChunkSetSize(out, mapping.DataChunkGetSize(in))
}
