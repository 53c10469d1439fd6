package dv

import (
	"errors"
	"fmt"
	"strings"
)

// alphabet is ZeroMQ RFC 32's.
const alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// EncodeZ85 writes bytes as Z85 text. Their number must be a multiple of four, so shorter ones are padded with zeros.
func EncodeZ85(data []byte) string {
	var out strings.Builder
	for i := 0; i < len(data); i += 4 {
		var word [4]byte
		copy(word[:], data[i:])
		n := uint32(word[0])<<24 | uint32(word[1])<<16 | uint32(word[2])<<8 | uint32(word[3])
		for _, unit := range []uint32{85 * 85 * 85 * 85, 85 * 85 * 85, 85 * 85, 85, 1} {
			out.WriteByte(alphabet[n/unit%85])
		}
	}
	return out.String()
}

// DecodeZ85 reads Z85 text.
func DecodeZ85(text string) ([]byte, error) {
	if len(text)%5 != 0 {
		return nil, errors.New("Z85 text is not a multiple of five characters long")
	}
	out := make([]byte, 0, len(text)/5*4)
	for i := 0; i < len(text); i += 5 {
		var n uint64
		for j := i; j < i+5; j++ {
			digit := strings.IndexByte(alphabet, text[j])
			if digit < 0 {
				return nil, fmt.Errorf("%q is not a Z85 character", text[j])
			}
			n = n*85 + uint64(digit)
		}
		if n > 0xffffffff {
			return nil, fmt.Errorf("Z85 group %q is out of range", text[i:i+5])
		}
		out = append(out, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return out, nil
}
