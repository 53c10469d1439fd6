package files

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/streamform/streamform/runtime/connector"
)

// Inspect finds the folder that is read, links followed.
func (s *source) Inspect(context.Context, connector.Delivered) (connector.Inspection, error) {
	place, err := newTarget(s.path)
	if err != nil {
		return connector.Inspection{}, &connector.UserError{Summary: "Invalid path", Detail: err.Error(), Attr: "path"}
	}
	return inspectFolder(place.root)
}

// Inspect finds the folder that is written to, links followed. What is in it may be taken away by readers at any time.
func (s *sink) Inspect(context.Context, connector.Delivered) (connector.Inspection, error) {
	return inspectFolder(s.dir)
}

func inspectFolder(dir string) (connector.Inspection, error) {
	real, err := filepath.EvalSymlinks(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return connector.Inspection{}, nil
	case err != nil:
		return connector.Inspection{}, listingError(dir, err)
	}
	return connector.Inspection{Place: real}, nil
}
