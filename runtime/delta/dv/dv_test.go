package dv_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/dv"
	"github.com/streamform/streamform/runtime/delta/logstore"
)

func TestPathsOfTheProtocolText(t *testing.T) {
	for _, c := range []struct{ kind, text, want string }{
		{"u", "vBn[lx{q8@P<9BNH/isA", "deletion_vector_61d16c75-6994-46b7-a15b-8b538852e50e.bin"},
		{"u", "ab^-aqEH.-t@S}K{vb[*k^", "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"},
		{"p", "s3://bucket/a%20b.bin", "s3://bucket/a b.bin"},
	} {
		got, err := dv.Path(action.DeletionVector{StorageType: c.kind, PathOrInlineDV: c.text})
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
	for _, bad := range []action.DeletionVector{
		{StorageType: "x", PathOrInlineDV: "vBn[lx{q8@P<9BNH/isA"},
		{StorageType: "u", PathOrInlineDV: "short"},
		{StorageType: "u", PathOrInlineDV: "vBn[lx{q8@P<9BNH/is~"},
	} {
		_, err := dv.Path(bad)
		require.Error(t, err)
	}
}

func TestInline(t *testing.T) {
	ctx, store := context.Background(), logstore.NewLocal(t.TempDir())
	v := action.DeletionVector{
		StorageType: "i", SizeInBytes: 44, Cardinality: 6,
		PathOrInlineDV: "^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L",
	}
	rows, err := dv.Read(ctx, store, v)
	require.NoError(t, err)
	require.Equal(t, []uint64{3, 4, 7, 11, 18, 29}, rows.ToArray())

	v.Cardinality = 5
	_, err = dv.Read(ctx, store, v)
	require.ErrorContains(t, err, "6 positions")
	data, err := dv.DecodeZ85(v.PathOrInlineDV)
	require.NoError(t, err)
	data[0]--
	v.PathOrInlineDV, v.Cardinality = dv.EncodeZ85(data), 6
	_, err = dv.Read(ctx, store, v)
	require.ErrorContains(t, err, "never released")
}

func TestWrittenVectorsAreReadBack(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	store := logstore.NewLocal(dir)
	long := dv.New()
	long.AddRange(1000, 100_000)
	sets := []*dv.Bitmap{dv.New(0), dv.New(3, 4, 1<<33, 1<<40), long}
	vectors, err := dv.Write(ctx, store, sets)
	require.NoError(t, err)
	require.EqualValues(t, 1, *vectors[0].Offset, "the first one follows the version byte")
	for i, v := range vectors {
		got, err := dv.Read(ctx, store, v)
		require.NoError(t, err)
		require.True(t, got.Equals(sets[i]))
		require.EqualValues(t, sets[i].GetCardinality(), v.Cardinality)
	}
	_, err = dv.Write(ctx, store, []*dv.Bitmap{dv.New()})
	require.Error(t, err)

	path, err := dv.Path(vectors[0])
	require.NoError(t, err)
	file := filepath.Join(dir, path)
	body, err := os.ReadFile(file)
	require.NoError(t, err)
	for i := range body[1:] {
		broken := append([]byte(nil), body...)
		broken[i+1] ^= 0x40
		require.NoError(t, os.WriteFile(file, broken, 0o600))
		failed := 0
		for _, v := range vectors {
			if _, err := dv.Read(ctx, store, v); err != nil {
				failed++
			}
		}
		require.Equal(t, 1, failed, "a flipped bit at %d spoils exactly the vector it lies in", i+1)
	}
	require.NoError(t, os.WriteFile(file, body[:len(body)-1], 0o600))
	_, err = dv.Read(ctx, store, vectors[2])
	require.ErrorContains(t, err, "too early")
}

func FuzzUnmarshal(f *testing.F) {
	data, err := dv.Marshal(dv.New(1, 2, 1<<34))
	require.NoError(f, err)
	f.Add(data)
	f.Add(data[:len(data)-3])
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := dv.Unmarshal(data, 3)
		if err == nil {
			require.EqualValues(t, 3, rows.GetCardinality())
		}
	})
}

func FuzzZ85(f *testing.F) {
	f.Add([]byte("12345678"))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = data[:len(data)/4*4]
		back, err := dv.DecodeZ85(dv.EncodeZ85(data))
		require.NoError(t, err)
		require.Equal(t, string(data), string(back))
	})
}
