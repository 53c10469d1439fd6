package store

import "encoding/binary"

// The layout of format 1, in Pebble. Integers in keys are big-endian so that they sort.
//
//	m<name>                       a named value
//	a<table><commit><n>           a block, n counting within its commit
//	p<table><name>                a piece
//	d<commit><table>              what a commit changed in a table, see changes.go
//	k<table><hash><key>           a folded key; hash is XXH64 of key, seed 0
//	sformat                       the format, one byte
//	sid                           the identity of the store
//	scommit                       the number of the last commit
//	sfolded                       all changes up to this commit are under k
//	st<table>                     uvarint keys, uvarint bytes of a table at sfolded
//
// k is a range of its own, so that tables to be ingested do not meet the memtable.
const (
	prefixMeta    = 'm'
	prefixBlock   = 'a'
	prefixPiece   = 'p'
	prefixChanges = 'd'
	prefixFolded  = 'k'

	keyFormat   = "sformat"
	keyID       = "sid"
	keyCommit   = "scommit"
	keyFoldedTo = "sfolded"
	keyTables   = "st"

	formatVersion = 1
)

func metaKey(name string) []byte { return append([]byte{prefixMeta}, name...) }

func blockKey(table, commit uint64, n int) []byte {
	return binary.BigEndian.AppendUint32(pairKey(prefixBlock, table, commit), uint32(n))
}

func pieceKey(to []byte, table uint64, name []byte) []byte {
	return append(binary.BigEndian.AppendUint64(append(to, prefixPiece), table), name...)
}

const pieceKeyHead = 9 // bytes before the name

func changesKey(commit, table uint64) []byte { return pairKey(prefixChanges, commit, table) }

func statsKey(table uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(keyTables), table)
}

func foldedKey(to []byte, table, hash uint64, key []byte) []byte {
	to = append(to, prefixFolded)
	to = binary.BigEndian.AppendUint64(to, table)
	to = binary.BigEndian.AppendUint64(to, hash)
	return append(to, key...)
}

const foldedKeyHead = 17 // bytes before the key itself

// splitFoldedKey is the inverse of foldedKey, without the table.
func splitFoldedKey(k []byte) (hash uint64, key []byte) {
	return binary.BigEndian.Uint64(k[9:]), k[foldedKeyHead:]
}

func pairKey(prefix byte, a, b uint64) []byte {
	key := make([]byte, 0, 24)
	key = append(key, prefix)
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(key, a), b)
}

// span is the range of the keys that begin with prefix and one integer.
func span(prefix byte, n uint64) (low, high []byte) {
	low = binary.BigEndian.AppendUint64([]byte{prefix}, n)
	return low, after(low)
}

// after is the first key behind all that begin with prefix; nil when there is no end.
func after(prefix []byte) []byte {
	high := append([]byte{}, prefix...)
	for i := len(high) - 1; i >= 0; i-- {
		if high[i]++; high[i] != 0 {
			return high[:i+1]
		}
	}
	return nil
}
