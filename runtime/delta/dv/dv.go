// Package dv reads and writes deletion vectors: the positions of rows that a data file holds but the table no longer does.
package dv

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/google/uuid"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/logstore"
)

// Numbers of the protocol's serialization: an unsigned little-endian magic before
// the bitmap in the portable 64-bit Roaring format; the magic of a form that was never released; the version of .bin files.
const (
	magic       = 1681511377
	deadMagic   = 1681511376
	fileVersion = 1
)

// Bitmap is a set of physical row positions, from 0.
type Bitmap = roaring64.Bitmap

// New returns the set of the given positions.
func New(positions ...uint64) *Bitmap { return roaring64.BitmapOf(positions...) }

// Marshal writes a bitmap as a deletion vector's data: magic and bitmap.
func Marshal(rows *Bitmap) ([]byte, error) {
	compact := rows.Clone()
	compact.RunOptimize()
	body, err := compact.ToBytes()
	if err != nil {
		return nil, fmt.Errorf("serializing a deletion vector: %w", err)
	}
	return append(binary.LittleEndian.AppendUint32(nil, magic), body...), nil
}

// Unmarshal reads a deletion vector's data and checks the number of its positions.
func Unmarshal(data []byte, cardinality int64) (*Bitmap, error) {
	if len(data) < 12 {
		return nil, errors.New("deletion vector is too short")
	}
	switch m := binary.LittleEndian.Uint32(data); m {
	case magic:
	case deadMagic:
		return nil, fmt.Errorf("deletion vector has magic %d, of a form that was never released", m)
	default:
		return nil, fmt.Errorf("deletion vector has magic %d instead of %d", m, magic)
	}
	rows, err := readBitmap(data[4:])
	if err != nil {
		return nil, fmt.Errorf("reading a deletion vector: %w", err)
	}
	if got := rows.GetCardinality(); got != uint64(cardinality) {
		return nil, fmt.Errorf("deletion vector holds %d positions, its descriptor says %d", got, cardinality)
	}
	return rows, nil
}

// readBitmap turns the library's panics on malformed input into errors.
func readBitmap(data []byte) (rows *Bitmap, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("malformed bitmap: %v", p)
		}
	}()
	// Every bucket takes at least 12 bytes, so a count beyond that is a lie that would only cost memory.
	if count := binary.LittleEndian.Uint64(data); count > uint64(len(data))/12 {
		return nil, fmt.Errorf("malformed bitmap: %d buckets in %d bytes", count, len(data))
	}
	rows = roaring64.New()
	if _, err := rows.ReadFrom(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	if rows.IsEmpty() {
		return rows, nil
	}
	return rows, rows.Validate()
}

// Path is where a deletion vector's file lies, relative to the table or absolute; it is empty for inline ones.
func Path(v action.DeletionVector) (string, error) {
	switch v.StorageType {
	case "i":
		return "", nil
	case "p":
		return action.DecodePath(v.PathOrInlineDV)
	case "u":
		const digits = 20
		if len(v.PathOrInlineDV) < digits {
			return "", fmt.Errorf("deletion vector name %q is too short", v.PathOrInlineDV)
		}
		cut := len(v.PathOrInlineDV) - digits
		raw, err := DecodeZ85(v.PathOrInlineDV[cut:])
		if err != nil {
			return "", fmt.Errorf("deletion vector name: %w", err)
		}
		name := "deletion_vector_" + uuid.UUID(raw).String() + ".bin"
		if prefix := v.PathOrInlineDV[:cut]; prefix != "" {
			name = prefix + "/" + name
		}
		return name, nil
	}
	return "", fmt.Errorf("unknown storage type %q of a deletion vector", v.StorageType)
}

// Read loads a deletion vector and checks its size, checksum and cardinality.
func Read(ctx context.Context, store logstore.Store, v action.DeletionVector) (*Bitmap, error) {
	path, err := Path(v)
	if err != nil {
		return nil, err
	}
	if path == "" {
		return readInline(v)
	}
	if v.SizeInBytes < 0 {
		return nil, fmt.Errorf("deletion vector in %s has a negative size", path)
	}
	offset := int64(1)
	if v.Offset != nil {
		offset = int64(*v.Offset)
	}
	framed, err := store.GetRange(ctx, path, offset, int64(v.SizeInBytes)+8)
	if err != nil {
		return nil, fmt.Errorf("reading deletion vector file: %w", err)
	}
	data, err := unframe(framed, int(v.SizeInBytes))
	if err != nil {
		return nil, fmt.Errorf("deletion vector in %s at %d: %w", path, offset, err)
	}
	return Unmarshal(data, v.Cardinality)
}

func readInline(v action.DeletionVector) (*Bitmap, error) {
	data, err := DecodeZ85(v.PathOrInlineDV)
	if err != nil {
		return nil, fmt.Errorf("inline deletion vector: %w", err)
	}
	if v.SizeInBytes < 0 || int(v.SizeInBytes) > len(data) {
		return nil, fmt.Errorf("inline deletion vector has %d bytes, its descriptor says %d", len(data), v.SizeInBytes)
	}
	return Unmarshal(data[:v.SizeInBytes], v.Cardinality)
}

// unframe checks what surrounds the data in a file: its size before it, its checksum behind.
func unframe(framed []byte, size int) ([]byte, error) {
	if len(framed) != size+8 {
		return nil, errors.New("the file ends too early")
	}
	if got := binary.BigEndian.Uint32(framed); uint64(got) != uint64(size) {
		return nil, fmt.Errorf("the file says %d bytes, the descriptor %d", got, size)
	}
	data := framed[4 : 4+size]
	if crc32.ChecksumIEEE(data) != binary.BigEndian.Uint32(framed[4+size:]) {
		return nil, errors.New("the checksum does not match")
	}
	return data, nil
}

// Write puts the bitmaps into one new file beside the table's data and returns their descriptors, in order. The
// file is durable, and nobody refers to it yet. No bitmap may be empty.
func Write(ctx context.Context, store logstore.Store, rows []*Bitmap) ([]action.DeletionVector, error) {
	id := uuid.New()
	name := EncodeZ85(id[:])
	body := []byte{fileVersion}
	out := make([]action.DeletionVector, len(rows))
	for i, r := range rows {
		if r.IsEmpty() {
			return nil, errors.New("an empty deletion vector is no deletion vector")
		}
		data, err := Marshal(r)
		if err != nil {
			return nil, err
		}
		if int64(len(body))+int64(len(data)) > math.MaxInt32 {
			return nil, errors.New("deletion vectors of one file exceed 2 GiB")
		}
		offset := int32(len(body))
		out[i] = action.DeletionVector{
			StorageType: "u", PathOrInlineDV: name, Offset: &offset,
			SizeInBytes: int32(len(data)), Cardinality: int64(r.GetCardinality()),
		}
		body = binary.BigEndian.AppendUint32(body, uint32(len(data)))
		body = append(body, data...)
		body = binary.BigEndian.AppendUint32(body, crc32.ChecksumIEEE(data))
	}
	key := "deletion_vector_" + id.String() + ".bin"
	if outcome, err := store.PutIfAbsent(ctx, key, body); outcome != logstore.Written {
		return nil, fmt.Errorf("writing %s: outcome %d: %w", key, outcome, err)
	}
	return out, nil
}
