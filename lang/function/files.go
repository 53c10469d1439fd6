package function

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	ctyfunction "github.com/zclconf/go-cty/cty/function"
)

// maxFile is the greatest file an expression may read, in bytes.
const maxFile = 64 << 20

// Files reads the files expressions name, each once, so that one load sees one version of it.
type Files struct {
	workDir string
	read    map[string][]byte
	failed  map[string]error
}

// NewFiles reads relative paths from workDir.
func NewFiles(workDir string) *Files {
	return &Files{workDir: workDir, read: map[string][]byte{}, failed: map[string]error{}}
}

// Path is the file a path in an expression means: ~ is the home folder, relative
// paths start at the working directory.
func (f *Files) Path(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.workDir, path)
	}
	return filepath.Clean(path)
}

// Read returns the content of a file; the error is a sentence for the user.
func (f *Files) Read(path string) ([]byte, error) {
	full := f.Path(path)
	if data, ok := f.read[full]; ok {
		return data, nil
	}
	if err, ok := f.failed[full]; ok {
		return nil, err
	}
	data, err := readFile(full)
	if err != nil {
		err = explain(path, err)
		f.failed[full] = err
		return nil, err
	}
	f.read[full] = data
	return data, nil
}

func readFile(full string) ([]byte, error) {
	info, err := os.Stat(full)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a folder")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("it has %d bytes; the limit is %d", info.Size(), maxFile)
	}
	return os.ReadFile(full)
}

func explain(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no file %q; relative paths start at the working directory, so a file beside the configuration is \"${path.module}/…\"", path)
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("the file %q cannot be read: %w", path, err)
}

// ReadText is Read for files that must hold text.
func (f *Files) ReadText(path string) (string, error) {
	data, err := f.Read(path)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(data) {
		return "", fmt.Errorf("the file %q is not UTF-8 text; filebase64 reads any file", path)
	}
	return string(data), nil
}

func fileFunctions(files *Files) map[string]ctyfunction.Function {
	return map[string]ctyfunction.Function{
		"file":       textFunc("path", files.ReadText),
		"fileexists": fileexistsFunc(files),
		"basename":   textFunc("path", func(p string) (string, error) { return filepath.Base(p), nil }),
		"dirname":    textFunc("path", func(p string) (string, error) { return filepath.Dir(p), nil }),
		"abspath":    textFunc("path", func(p string) (string, error) { return filepath.ToSlash(files.Path(p)), nil }),
		"pathexpand": textFunc("path", func(p string) (string, error) {
			if p == "~" || strings.HasPrefix(p, "~/") {
				home, err := os.UserHomeDir()
				return filepath.Join(home, strings.TrimPrefix(p, "~")), err
			}
			return p, nil
		}),
	}
}

func fileexistsFunc(files *Files) ctyfunction.Function {
	return ctyfunction.New(&ctyfunction.Spec{
		Params: textParams("path"),
		Type:   ctyfunction.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			info, err := os.Stat(files.Path(args[0].AsString()))
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return cty.False, nil
			case err != nil:
				return cty.NilVal, ctyfunction.NewArgError(0, explain(args[0].AsString(), err))
			case info.IsDir():
				return cty.NilVal, ctyfunction.NewArgErrorf(0, "%q is a folder, not a file", args[0].AsString())
			}
			return cty.True, nil
		},
	})
}
