package snapshot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/logstore"
)

// readCheckpoint passes on the actions of a checkpoint of any form. On an error the receiver must be dropped.
func readCheckpoint(ctx context.Context, store logstore.Store, c Checkpoint, take func([]action.Action)) error {
	sidecars, err := readTop(ctx, store, c, take)
	if err != nil {
		return err
	}
	for _, key := range sidecars {
		if err := readCheckpointFile(ctx, store, key, take); err != nil {
			return err
		}
	}
	return nil
}

// Sidecars returns the keys of the sidecars that a checkpoint names.
func Sidecars(ctx context.Context, store logstore.Store, c Checkpoint) ([]string, error) {
	return readTop(ctx, store, c, func([]action.Action) {})
}

// readTop reads a checkpoint's own files and returns the keys of the sidecars they name.
func readTop(ctx context.Context, store logstore.Store, c Checkpoint, take func([]action.Action)) ([]string, error) {
	var sidecars []action.Sidecar
	for _, f := range c.Files {
		err := readCheckpointFile(ctx, store, logstore.LogDir+"/"+f.Name, func(actions []action.Action) {
			for _, a := range actions {
				if a.Sidecar != nil {
					sidecars = append(sidecars, *a.Sidecar)
				}
			}
			take(actions)
		})
		if err != nil {
			return nil, err
		}
	}
	keys := make([]string, len(sidecars))
	for i, s := range sidecars {
		key, err := sidecarKey(s)
		if err != nil {
			return nil, err
		}
		keys[i] = key
	}
	return keys, nil
}

func sidecarKey(s action.Sidecar) (string, error) {
	path, err := action.DecodePath(s.Path)
	if err != nil {
		return "", err
	}
	if action.IsAbsolute(path) {
		return path, nil
	}
	if strings.Contains(path, "/") {
		return "", fmt.Errorf("sidecar path %q is neither a name nor absolute", s.Path)
	}
	return logstore.SidecarDir + "/" + path, nil
}

func readCheckpointFile(ctx context.Context, store logstore.Store, key string, take func([]action.Action)) error {
	body, err := store.Get(ctx, key)
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return errors.New(key + " is empty")
	}
	if strings.HasSuffix(key, ".json") {
		actions, err := action.Decode(body)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		take(actions)
		return nil
	}
	if err := ReadParquet(ctx, body, take); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}
