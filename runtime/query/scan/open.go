package scan

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/streamform/streamform/runtime/batch"
)

// FileError says which file could not be read as a whole.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string { return e.Path + ": " + e.Err.Error() }

func (e *FileError) Unwrap() error { return e.Err }

// Compressed reports whether the name says that the content is compressed.
func Compressed(path string) bool {
	return strings.HasSuffix(path, ".gz") || strings.HasSuffix(path, ".zst") || strings.HasSuffix(path, ".bz2")
}

// Open opens a file and undoes the compression its name tells of.
func Open(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasSuffix(path, ".gz"):
		z, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<20))
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("not a gzip file: %w", err)
		}
		return stacked{z, f}, nil
	case strings.HasSuffix(path, ".zst"):
		z, err := zstd.NewReader(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("not a zstd file: %w", err)
		}
		return stacked{z.IOReadCloser(), f}, nil
	case strings.HasSuffix(path, ".bz2"):
		return stacked{io.NopCloser(bzip2.NewReader(f)), f}, nil
	}
	return f, nil
}

type stacked struct {
	io.ReadCloser
	file *os.File
}

func (s stacked) Close() error {
	err := s.ReadCloser.Close()
	if e := s.file.Close(); e != nil {
		return e
	}
	return err
}

// Whole reads a compressed file to its end: one that was cut off is an error here, and may not be one in a scan.
func Whole(path string) error {
	r, err := Open(path)
	if err != nil {
		return &FileError{Path: path, Err: err}
	}
	defer r.Close()
	if _, err := io.Copy(io.Discard, r); err != nil {
		return &FileError{Path: path, Err: fmt.Errorf("the compressed data is damaged or cut off: %w", err)}
	}
	return nil
}

// NeedCare reports whether a file is known to hold what cannot be read, or is compressed and damaged.
func NeedCare(files []batch.File) bool {
	return slices.ContainsFunc(files, func(f batch.File) bool { return f.Careful || Compressed(f.Path) && Whole(f.Path) != nil })
}

// allLines reports whether every file begins with a line that is one JSON object.
func allLines(files []batch.File) bool {
	for _, f := range files {
		if Compressed(f.Path) || !firstLineIsObject(f.Path) {
			return false
		}
	}
	return true
}

// firstLineLimit bounds the look at a file's first line, in bytes.
const firstLineLimit = 1 << 20

func firstLineIsObject(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	in := bufio.NewReaderSize(io.LimitReader(f, firstLineLimit), 4096)
	for {
		line, err := in.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line[0] == '{' && json.Valid(line)
		}
		if err != nil {
			return false
		}
	}
}

// CountLines counts the lines that are not blank: the records of a file of JSON lines.
func CountLines(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, &FileError{Path: path, Err: err}
	}
	defer f.Close()
	size := int64(1 << 20)
	if info, err := f.Stat(); err == nil {
		size = min(size, max(info.Size(), 0)+1)
	}
	buf := make([]byte, size)
	var rows int64
	blank := true
	for {
		n, err := f.Read(buf)
		rows, blank = countIn(buf[:n], rows, blank)
		if err == io.EOF {
			if !blank {
				rows++
			}
			return rows, nil
		}
		if err != nil {
			return 0, &FileError{Path: path, Err: err}
		}
	}
}

func countIn(chunk []byte, rows int64, blank bool) (int64, bool) {
	for len(chunk) > 0 {
		end := bytes.IndexByte(chunk, '\n')
		line := chunk
		if end >= 0 {
			line = chunk[:end]
		}
		blank = blank && len(bytes.TrimSpace(line)) == 0
		if end < 0 {
			return rows, blank
		}
		if !blank {
			rows++
		}
		blank, chunk = true, chunk[end+1:]
	}
	return rows, blank
}
