package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// changes is what one commit changed in one table, with absolute values, so that
// reading it twice is harmless. Encoded: version, flags, uvarint keys and uvarint
// bytes of the table after the commit, uvarint number of records, the records in
// the order of their hashes as in entries but unpadded, CRC-32C of all before it.
type changes struct {
	dropped bool // the table was emptied first
	keys    int64
	bytes   int64
	n       int
	records []byte
}

const (
	changesVersion = 1
	flagDropped    = 1
)

// ErrNewer is returned when data was written by a newer streamform than this one.
var ErrNewer = errors.New("the data directory was written by a newer streamform; use that version, or a copy made before the upgrade")

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func (c *changes) appendHead(to []byte) []byte {
	flags := byte(0)
	if c.dropped {
		flags |= flagDropped
	}
	to = append(to, changesVersion, flags)
	to = binary.AppendUvarint(to, uint64(c.keys))
	to = binary.AppendUvarint(to, uint64(c.bytes))
	return binary.AppendUvarint(to, uint64(c.n))
}

func appendSum(to []byte) []byte {
	return binary.LittleEndian.AppendUint32(to, crc32.Checksum(to, castagnoli()))
}

// decodeChanges checks and splits an encoded value; records points into it.
func decodeChanges(b []byte) (changes, error) {
	if len(b) < 2+3+4 {
		return changes{}, fmt.Errorf("changes of a commit: %d bytes are too few", len(b))
	}
	if b[0] > changesVersion {
		return changes{}, fmt.Errorf("changes of a commit have format %d, known is %d: %w", b[0], changesVersion, ErrNewer)
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(body, castagnoli()) != sum {
		return changes{}, errors.New("changes of a commit: checksum does not match, the data directory is damaged")
	}
	c := changes{dropped: b[1]&flagDropped != 0}
	rest := body[2:]
	for _, field := range []*int64{&c.keys, &c.bytes} {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			return changes{}, errors.New("changes of a commit: bad header")
		}
		*field, rest = int64(v), rest[n:]
	}
	v, n := binary.Uvarint(rest)
	if n <= 0 || v > uint64(len(rest)) {
		return changes{}, errors.New("changes of a commit: bad header")
	}
	c.n, c.records = int(v), rest[n:]
	return c, checkRecords(c.records, c.n)
}

// checkRecords makes sure that n records can be cut without reading past the end.
func checkRecords(b []byte, n int) error {
	for range n {
		klen, i := binary.Uvarint(b)
		if i <= 0 {
			return errors.New("changes of a commit: bad record")
		}
		vlen, j := binary.Uvarint(b[i:])
		if vlen > 0 {
			vlen--
		}
		if head := uint64(i + j); j <= 0 || klen > uint64(len(b)) || vlen > uint64(len(b)) || head+klen+vlen > uint64(len(b)) {
			return errors.New("changes of a commit: bad record")
		}
		b = b[uint64(i+j)+klen+vlen:]
	}
	if len(b) != 0 {
		return errors.New("changes of a commit: bytes behind the last record")
	}
	return nil
}
