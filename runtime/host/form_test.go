package host_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/host"
	"github.com/streamform/streamform/runtime/store"
)

// TestOtherFormsAreRefused: keyed data of another form is not read as if it were of this one.
func TestOtherFormsAreRefused(t *testing.T) {
	w := running(t)
	w.reopen()
	require.NoError(t, w.host.Close())
	o := w.store
	o.Dir = w.path(".streamform", "store")
	s, err := store.Open(o)
	require.NoError(t, err)
	b := s.NewBatch()
	b.SetMeta("host/form", []byte("3"))
	require.NoError(t, s.Commit(b))
	require.NoError(t, s.Close())
	options := host.Options{DataDir: w.path(".streamform"), ProjectDir: w.dir, Definitions: w.kinds, Version: "test", Store: w.store}
	_, err = host.Open(t.Context(), options)
	require.ErrorContains(t, err, "written by another build")
	s, err = store.Open(o)
	require.NoError(t, err, "what was refused is closed")
	b = s.NewBatch()
	b.SetMeta("host/form", []byte("4"))
	require.NoError(t, s.Commit(b))
	require.NoError(t, s.Close())
	w.open()
}
