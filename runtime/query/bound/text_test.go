package bound_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/duck"
)

// A literal is the text that was quoted, a NUL in it too, which would end a statement.
func TestTextIsTheTextThatWasQuoted(t *testing.T) {
	c, err := duck.Open(t.Context(), "SET threads = 1")
	require.NoError(t, err)
	defer c.Close()
	for _, text := range []string{"", "it's", "a\x00b", "\x00", "'\x00'"} {
		rows, err := c.Text(t.Context(), "SELECT "+bound.Text(text)+" || 'z'")
		require.NoError(t, err, "%q", text)
		require.Equal(t, text+"z", *rows[0][0])
	}
}
