package function

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"unicode/utf8"

	ctyfunction "github.com/zclconf/go-cty/cty/function"
)

// encodings lists the functions that turn bytes into text; those of texts have a
// twin that takes the bytes of a file.
func encodings(files *Files) map[string]ctyfunction.Function {
	hexOf := func(sum func([]byte) []byte) func([]byte) string {
		return func(b []byte) string { return hex.EncodeToString(sum(b)) }
	}
	base64Of := func(sum func([]byte) []byte) func([]byte) string {
		return func(b []byte) string { return base64.StdEncoding.EncodeToString(sum(b)) }
	}
	sum1 := func(b []byte) []byte { s := sha1.Sum(b); return s[:] }
	sum5 := func(b []byte) []byte { s := md5.Sum(b); return s[:] }
	sum256 := func(b []byte) []byte { s := sha256.Sum256(b); return s[:] }
	sum512 := func(b []byte) []byte { s := sha512.Sum512(b); return s[:] }
	same := func(b []byte) []byte { return b }
	table := map[string]ctyfunction.Function{
		"base64decode": textFunc("text", base64decode),
		"base64gzip":   textFunc("text", base64gzip),
		"urlencode":    textFunc("text", func(s string) (string, error) { return url.QueryEscape(s), nil }),
	}
	for _, e := range []struct {
		text, file string
		encode     func([]byte) string
	}{
		{"md5", "filemd5", hexOf(sum5)},
		{"sha1", "filesha1", hexOf(sum1)},
		{"sha256", "filesha256", hexOf(sum256)},
		{"sha512", "filesha512", hexOf(sum512)},
		{"base64encode", "filebase64", base64Of(same)},
		{"base64sha256", "filebase64sha256", base64Of(sum256)},
		{"base64sha512", "filebase64sha512", base64Of(sum512)},
	} {
		table[e.text] = textFunc("text", func(s string) (string, error) { return e.encode([]byte(s)), nil })
		table[e.file] = textFunc("path", func(path string) (string, error) {
			data, err := files.Read(path)
			return e.encode(data), err
		})
	}
	return table
}

func base64decode(s string) (string, error) {
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return "", fmt.Errorf("it is not base64: %w", err)
	}
	if !utf8.Valid(data) {
		return "", errNotText
	}
	return string(data), nil
}

func base64gzip(s string) (string, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}
