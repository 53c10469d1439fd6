package storetest

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/streamform/streamform/runtime/delta/logstore"
)

// Memory is a store without a disk, for tests that commit thousands of times.
type Memory struct {
	lock    sync.Mutex
	objects map[string]object
}

type object struct {
	body     []byte
	modified time.Time
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{objects: map[string]object{}} }

// PutIfAbsent implements logstore.Store.
func (m *Memory) PutIfAbsent(ctx context.Context, key string, body []byte) (logstore.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return logstore.Failed, err
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	if _, taken := m.objects[key]; taken {
		return logstore.Exists, nil
	}
	m.objects[key] = object{slices.Clone(body), time.Now()}
	return logstore.Written, nil
}

// Get implements logstore.Store.
func (m *Memory) Get(ctx context.Context, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	o, ok := m.objects[key]
	if !ok {
		return nil, fmt.Errorf("%s: %w", key, fs.ErrNotExist)
	}
	return slices.Clone(o.body), nil
}

// GetRange implements logstore.Store.
func (m *Memory) GetRange(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	if offset < 0 || length < 0 {
		return nil, fmt.Errorf("reading %s: negative offset or length", key)
	}
	body, err := m.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	from := min(offset, int64(len(body)))
	return body[from:min(from+length, int64(len(body)))], nil
}

// List implements logstore.Store.
func (m *Memory) List(ctx context.Context, dir, after string) ([]logstore.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	var out []logstore.Entry
	for key, o := range m.objects {
		name, below := strings.CutPrefix(key, dir+"/")
		if below && !strings.Contains(name, "/") && name > after {
			out = append(out, logstore.Entry{Name: name, Size: int64(len(o.body)), Modified: o.modified})
		}
	}
	slices.SortFunc(out, func(a, b logstore.Entry) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Put implements logstore.Overwriter.
func (m *Memory) Put(ctx context.Context, key string, body []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	m.objects[key] = object{slices.Clone(body), time.Now()}
	return nil
}

// Delete implements logstore.Overwriter.
func (m *Memory) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	delete(m.objects, key)
	return nil
}

// SetModified changes an object's time, as if it had been written then.
func (m *Memory) SetModified(key string, at time.Time) {
	m.lock.Lock()
	defer m.lock.Unlock()
	o, ok := m.objects[key]
	if ok {
		o.modified = at
		m.objects[key] = o
	}
}
