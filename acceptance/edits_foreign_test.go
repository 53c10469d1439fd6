package acceptance

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/acceptance/meddling"
)

// What is said about keyed data of another form leads on: everything is computed again, nothing is there twice.
func TestKeyedDataOfAnotherForm(t *testing.T) {
	p := template(t)
	meddling.OtherForm(t, p.path(".streamform/runtime/store"), "1")
	for _, command := range [][]string{{"plan"}, {"apply", "-auto-approve"}, {"run", "-once"}, {"query", "FROM spend"}} {
		got := p.try(command...)
		require.Equal(t, 1, got.code)
		require.Contains(t, got.stderr, "Keyed data has the form of another version")
		require.NotContains(t, got.stderr, "Operation failed")
	}
	require.NoError(t, os.Rename(p.path(".streamform/runtime"), p.path("former")))
	require.NoError(t, os.RemoveAll(p.path("out")))
	require.NoError(t, os.RemoveAll(p.path("lake")))
	p.must("apply", "-auto-approve")
	e := &edit{}
	e.checkRows(t, p, relations(t, p))
	require.Equal(t, 0, p.try("plan", "-detailed-exitcode").code)
}
