// Package saved writes plans to files and reads them back, as they were or not at all.
package saved

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/streamform/streamform/graph/plan"
)

// File is what a saved plan file holds.
type File struct {
	Plan  *plan.Plan
	Files map[string][]byte // the configuration's files as they were, by name
}

// Unwritable says why a plan could not be saved.
type Unwritable struct{ Path, Reason string }

func (e *Unwritable) Error() string { return e.Path + " cannot be written: " + e.Reason }

// Unusable says why a file is not a saved plan that can be used.
type Unusable struct{ Path, Reason string }

func (e *Unusable) Error() string { return e.Path + " cannot be used as a saved plan: " + e.Reason }

// A saved plan is a zip of these parts. The last is the SHA-256 of the others.
const (
	planPart   = "plan.json"
	filesPart  = "files.json"
	digestPart = "digest"
)

// maxPart bounds what is unpacked of a part, in bytes.
const maxPart = 1 << 30

// Write writes a saved plan, mode 0600, in place of a file that may be there.
func Write(path string, s File) error {
	made, err := json.Marshal(s.Plan)
	if err != nil {
		return fmt.Errorf("writing the plan as JSON: %w", err)
	}
	files, err := json.Marshal(s.Files)
	if err != nil {
		return fmt.Errorf("writing the configuration's files as JSON: %w", err)
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, part := range []struct {
		name string
		data []byte
	}{{planPart, made}, {filesPart, files}, {digestPart, []byte(digest(made, files))}} {
		w, err := z.Create(part.name)
		if err == nil {
			_, err = w.Write(part.data)
		}
		if err != nil {
			return fmt.Errorf("packing the plan: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("packing the plan: %w", err)
	}
	return replaceFile(path, packed.Bytes())
}

func replaceFile(path string, data []byte) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return &Unwritable{path, "it is a folder"}
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".plan-*") // mode 0600
	if err != nil {
		return &Unwritable{path, cause(err)}
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(&Unwritable{path, cause(err)}, os.Remove(tmp.Name()))
	}
	return nil
}

// cause is what the system says, without the name of a file that nobody asked for.
func cause(err error) string {
	var at *fs.PathError
	var moved *os.LinkError
	switch {
	case errors.As(err, &at):
		return at.Err.Error()
	case errors.As(err, &moved):
		return moved.Err.Error()
	}
	return err.Error()
}

func digest(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d\n", len(p))
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Read reads a saved plan. One that was altered, or that another version wrote, is refused with a *Unusable.
func Read(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the plan file: %w", err)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, &Unusable{path, "it is not a plan that streamform saved"}
	}
	var parts [3][]byte
	for i, name := range []string{planPart, filesPart, digestPart} {
		if parts[i], err = unpack(z, name); errors.Is(err, fs.ErrNotExist) {
			return nil, &Unusable{path, "it is not a plan that streamform saved"}
		} else if err != nil {
			return nil, &Unusable{path, "it is damaged: " + err.Error()}
		}
	}
	if subtle.ConstantTimeCompare([]byte(digest(parts[0], parts[1])), parts[2]) == 0 {
		return nil, &Unusable{path, "it was altered after it was made"}
	}
	return decode(path, parts[0], parts[1])
}

func unpack(z *zip.Reader, name string) ([]byte, error) {
	f, err := z.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxPart))
	return data, errors.Join(err, f.Close())
}

func decode(path string, made, files []byte) (*File, error) {
	var head struct {
		FormatVersion     string `json:"format_version"`
		StreamformVersion string `json:"streamform_version"`
	}
	if err := json.Unmarshal(made, &head); err != nil {
		return nil, &Unusable{path, "it is damaged: " + err.Error()}
	}
	if head.FormatVersion != plan.FormatVersion {
		return nil, &Unusable{path, fmt.Sprintf("streamform %s made it in plan format %s; this version reads format %s",
			head.StreamformVersion, head.FormatVersion, plan.FormatVersion)}
	}
	s := &File{Plan: &plan.Plan{}}
	if err := errors.Join(json.Unmarshal(made, s.Plan), json.Unmarshal(files, &s.Files)); err != nil {
		return nil, &Unusable{path, "it is damaged: " + err.Error()}
	}
	return s, nil
}
