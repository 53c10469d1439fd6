package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// goldenDir is a store as the first version of format 1 left it. It is never written
// anew: a later format gets a directory of its own.
const goldenDir = "testdata/format-1"

// tellGolden writes what the golden store holds: keys folded and not, changed and
// removed since, a dropped table, blocks, named values.
func tellGolden(t *testing.T, s *Store) {
	for n := range 3 {
		commit(t, s, func(b *Batch) {
			for i := range 50 {
				b.Put(1, fmt.Appendf(nil, "key %d", i), fmt.Appendf(nil, "value %d of commit %d", i, n))
			}
			b.Put(2, []byte("dropped"), nil)
			b.AppendBlock(1, fmt.Appendf(nil, "block %d", n))
			b.SetMeta(fmt.Sprintf("position/%d", n), []byte("at"))
		})
	}
	require.NoError(t, s.fold())
	commit(t, s, func(b *Batch) {
		b.Delete(1, []byte("key 0"))
		b.Put(1, []byte("key 1"), []byte{})
		b.Put(1, []byte{}, []byte("value of the empty key"))
		b.Put(1, bytes.Repeat([]byte("long"), 1000), []byte("value of a long key"))
		b.DropTable(2)
		b.DeleteMeta("position/0")
		b.AppendBlock(3, []byte("only block"))
	})
}

func wantGolden() *model {
	m := newModel()
	m.tables[1] = map[string]string{"": "value of the empty key", string(bytes.Repeat([]byte("long"), 1000)): "value of a long key"}
	for i := range 50 {
		m.tables[1][fmt.Sprintf("key %d", i)] = fmt.Sprintf("value %d of commit 2", i)
	}
	delete(m.tables[1], "key 0")
	m.tables[1]["key 1"] = ""
	m.blocks[1] = []string{"block 0", "block 1", "block 2"}
	m.blocks[3] = []string{"only block"}
	m.meta["position/1"], m.meta["position/2"] = "at", "at"
	return m
}

func TestGoldenStore(t *testing.T) {
	if _, err := os.Stat(goldenDir); os.IsNotExist(err) { // for a new format
		s := opened(t, Options{Dir: goldenDir, manual: true, MemoryBudget: 1 << 20})
		tellGolden(t, s)
		require.NoError(t, s.Close())
		t.Fatalf("%s was made with identity %s: write that here, run again, commit it", goldenDir, s.ID())
	}
	dir := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.CopyFS(dir, os.DirFS(goldenDir)))
	s := opened(t, Options{Dir: dir, manual: true})
	require.Equal(t, "7973636a-ac67-4db5-941c-67bfdb2ec987", s.ID())
	for range 2 {
		v := s.View()
		got, err := contents(v, 4)
		require.NoError(t, err)
		require.Empty(t, differs(wantGolden(), got, 4))
		v.Close()
		require.NoError(t, s.fold())
	}
	require.NoError(t, s.Close())
}
