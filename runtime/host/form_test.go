package host_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/host"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/store"
)

// TestOtherFormsAreRefused: keyed data of another form is not read as if it were of this one.
func TestOtherFormsAreRefused(t *testing.T) {
	w := running(t)
	w.Reopen()
	require.NoError(t, w.Host.Close())
	o := w.Store
	o.Dir = w.Path(".streamform", "store")
	s, err := store.Open(o)
	require.NoError(t, err)
	b := s.NewBatch()
	b.SetMeta("host/form", []byte("5"))
	require.NoError(t, s.Commit(b))
	require.NoError(t, s.Close())
	options := host.Options{DataDir: w.Path(".streamform"), ProjectDir: w.Dir, Definitions: w.Kinds, Version: "test", Store: w.Store}
	_, err = host.Open(t.Context(), options)
	var other *catalog.FormError
	require.ErrorAs(t, err, &other)
	require.Equal(t, catalog.FormError{Form: "5", Reads: "6", Dir: options.DataDir}, *other)
	s, err = store.Open(o)
	require.NoError(t, err, "what was refused is closed")
	b = s.NewBatch()
	b.SetMeta("host/form", []byte("6"))
	require.NoError(t, s.Commit(b))
	require.NoError(t, s.Close())
	w.Open()
}
