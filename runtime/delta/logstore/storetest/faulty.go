package storetest

import (
	"context"
	"errors"
	"sync"

	"github.com/streamform/streamform/runtime/delta/logstore"
)

// Fault is what a Faulty store does to one call.
type Fault int

// Faults.
const (
	None   Fault = iota
	Before       // fails, and has no effect
	After        // has its effect, and its answer is lost
	Twice        // is carried out twice, as a client's hidden retry does; the second answer is returned
)

// ErrFault is what broken calls return.
type ErrFault struct{ Call, Key string }

// Error implements error.
func (e ErrFault) Error() string { return "injected fault in " + e.Call + " " + e.Key }

// Complete is a store with all calls.
type Complete interface {
	logstore.Store
	logstore.Overwriter
}

// Faulty is a store that fails when told to. The decision may also run code of its own, such as another writer's.
type Faulty struct {
	Complete
	decide func(call, key string) Fault

	lock  sync.Mutex
	calls int
}

// NewFaulty wraps a store. Decide is asked before every call.
func NewFaulty(store Complete, decide func(call, key string) Fault) *Faulty {
	return &Faulty{Complete: store, decide: decide}
}

// FailAt wraps a store whose n-th call, from 1, has the fault.
func FailAt(store Complete, n int, fault Fault) *Faulty {
	f := &Faulty{Complete: store}
	f.decide = func(string, string) Fault {
		f.lock.Lock()
		defer f.lock.Unlock()
		if f.calls++; f.calls == n {
			return fault
		}
		return None
	}
	return f
}

// Calls is how many calls a store made by FailAt has seen.
func (f *Faulty) Calls() int {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.calls
}

// PutIfAbsent implements logstore.Store. A fault before the effect may be of either kind for the caller: it
// is reported as an unknown outcome.
func (f *Faulty) PutIfAbsent(ctx context.Context, key string, body []byte) (logstore.Outcome, error) {
	fault := f.decide("PutIfAbsent", key)
	if fault == Before {
		return logstore.Unknown, ErrFault{"PutIfAbsent", key}
	}
	outcome, err := f.Complete.PutIfAbsent(ctx, key, body)
	switch fault {
	case After:
		return logstore.Unknown, errors.Join(ErrFault{"PutIfAbsent", key}, err)
	case Twice:
		return f.Complete.PutIfAbsent(ctx, key, body)
	}
	return outcome, err
}

// Get implements logstore.Store.
func (f *Faulty) Get(ctx context.Context, key string) ([]byte, error) {
	if f.decide("Get", key) != None {
		return nil, ErrFault{"Get", key}
	}
	return f.Complete.Get(ctx, key)
}

// GetRange implements logstore.Store.
func (f *Faulty) GetRange(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	if f.decide("GetRange", key) != None {
		return nil, ErrFault{"GetRange", key}
	}
	return f.Complete.GetRange(ctx, key, offset, length)
}

// List implements logstore.Store.
func (f *Faulty) List(ctx context.Context, dir, after string) ([]logstore.Entry, error) {
	if f.decide("List", dir) != None {
		return nil, ErrFault{"List", dir}
	}
	return f.Complete.List(ctx, dir, after)
}

// Put implements logstore.Overwriter.
func (f *Faulty) Put(ctx context.Context, key string, body []byte) error {
	return f.overwrite(f.decide("Put", key), ErrFault{"Put", key}, func() error { return f.Complete.Put(ctx, key, body) })
}

// Delete implements logstore.Overwriter.
func (f *Faulty) Delete(ctx context.Context, key string) error {
	return f.overwrite(f.decide("Delete", key), ErrFault{"Delete", key}, func() error { return f.Complete.Delete(ctx, key) })
}

func (f *Faulty) overwrite(fault Fault, failure error, do func() error) error {
	switch fault {
	case Before:
		return failure
	case After:
		return errors.Join(failure, do())
	case Twice:
		if err := do(); err != nil {
			return err
		}
	}
	return do()
}
