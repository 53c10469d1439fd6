package project

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/state"
	"github.com/streamform/streamform/state/local"
)

// openStore finds the recorded state: where -state says, else where the backend says.
func (p *Project) openStore() (*local.Store, diag.Diagnostics) {
	if p.store != nil {
		return p.store, nil
	}
	path := p.o.StatePath
	if path == "" {
		var ds diag.Diagnostics
		if path, ds = p.backendPath(); ds.Failed() {
			return nil, ds
		}
	}
	p.store = local.Open(path)
	return p.store, nil
}

// State is the recorded state; nil when nothing was ever applied.
func (p *Project) State(ctx context.Context) (*state.Document, diag.Diagnostics, error) {
	store, ds := p.openStore()
	if ds.Failed() {
		return nil, ds, nil
	}
	document, err := store.Load(ctx)
	more, err := findings(p.config, err)
	return document, append(ds, more...), err
}

// LockRequest asks for the lock on the recorded state.
type LockRequest struct {
	Operation string        // as lock records have it: OperationTypeApply
	Timeout   time.Duration // how long to wait for another holder
	Waiting   func()        // called once before waiting
}

// Lock takes the lock on the recorded state. Unlock gives it back.
func (p *Project) Lock(ctx context.Context, r LockRequest) (diag.Diagnostics, error) {
	store, ds := p.openStore()
	if ds.Failed() {
		return ds, nil
	}
	info := state.NewLockInfo(r.Operation, p.o.Version, store.Path())
	err := store.Lock(ctx, info)
	var locked *state.LockedError
	if errors.As(err, &locked) && r.Timeout > 0 {
		r.Waiting()
		err = state.Acquire(ctx, store, info, r.Timeout)
	}
	switch {
	case err == nil:
		p.lockID = info.ID
		return ds, nil
	case errors.As(err, &locked):
		detail := "Somebody else is working on the recorded state. Wait for them, or give -lock-timeout=1m to wait here.\n\n" + locked.Details(time.Now())
		return append(ds, diag.NewError(nil, "Error acquiring the state lock", detail)), nil
	}
	more, err := findings(p.config, err)
	return append(ds, more...), err
}

// Unlock gives the lock back, if it is held. It works also when the command was interrupted.
func (p *Project) Unlock() error {
	if p.lockID == "" {
		return nil
	}
	id := p.lockID
	p.lockID = ""
	return p.store.Unlock(context.Background(), id)
}

// ForceUnlock removes a lock that somebody else left behind.
func (p *Project) ForceUnlock(ctx context.Context, id string) (diag.Diagnostics, error) {
	store, ds := p.openStore()
	if ds.Failed() {
		return ds, nil
	}
	more, err := findings(nil, store.Unlock(ctx, id))
	return append(ds, more...), err
}

// Forget takes resources out of the record; the runtime is not touched.
func (p *Project) Forget(ctx context.Context, addressTexts []string, dryRun bool) ([]addr.Resource, diag.Diagnostics, error) {
	document, ds, err := p.State(ctx)
	if ds.Failed() || err != nil {
		return nil, ds, err
	}
	var gone []addr.Resource
	named, ds := addresses(ds, "address", addressTexts)
	for _, a := range instances(named, nil, document) {
		switch {
		case document.Resource(a) == nil:
			ds = append(ds, notRecorded(a, document))
		case !slices.Contains(gone, a):
			gone = append(gone, a)
		}
	}
	if ds.Failed() || dryRun {
		return gone, ds, nil
	}
	next := document.Clone()
	next.Resources = slices.DeleteFunc(next.Resources, func(r state.Resource) bool { return slices.Contains(gone, r.Addr) })
	return gone, ds, p.save(ctx, next)
}

// save records a document that was changed by hand.
func (p *Project) save(ctx context.Context, next *state.Document) error {
	next.Serial++
	next.StreamformVersion = p.o.Version
	if err := p.store.Save(ctx, next); err != nil {
		return fmt.Errorf("saving the recorded state %s: %w", filepath.Base(p.store.Path()), err)
	}
	return nil
}

// stateFile reads a file of recorded state; isState is false when it does not look like one.
func stateFile(path string) (d *state.Document, isState bool, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, false, nil // the saved plan it might have been is complained about
	}
	if text = bytes.TrimSpace(text); len(text) == 0 || text[0] != '{' {
		return nil, false, nil
	}
	d, err = state.Decode(text)
	return d, true, err
}
