package addr_test

import (
	"encoding/json"
	"testing"

	"github.com/streamform/streamform/lang/addr"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	good := map[string]addr.Resource{
		"source.files.x": {Block: addr.Source, Type: "files", Name: "x"},
		"view.a-b_1":     {Block: addr.View, Name: "a-b_1"},
	}
	for text, want := range good {
		got, err := addr.Parse(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, text, got.String())
		data, err := json.Marshal(map[addr.Resource]int{got: 1})
		require.NoError(t, err)
		var back map[addr.Resource]int
		require.NoError(t, json.Unmarshal(data, &back))
		require.Contains(t, back, got)
	}
	for text, want := range map[string]string{
		"":               "must begin with one of",
		"table.x":        "must begin with one of",
		"view":           "a view is written view.NAME",
		"view.a.b":       "a view is written view.NAME",
		"source.x":       "a source is written source.TYPE.NAME",
		"view.1a":        `"1a" is not a valid name`,
		"sink.delta.":    `"" is not a valid name`,
		"view.é":         "is not a valid name",
		"source.files.-": "is not a valid name",
	} {
		_, err := addr.Parse(text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestParseReference(t *testing.T) {
	cases := []struct{ text, to, side, fails string }{
		{text: "view.y", to: "view.y"},
		{text: "view.y.late", to: "view.y", side: "late"},
		{text: "source.files.x", to: "source.files.x"},
		{text: "source.files.x.malformed", to: "source.files.x", side: "malformed"},
		{text: "source.files.x.a.b", fails: "a source is written"},
		{text: "sink.delta.x.late", fails: "a sink is written"},
		{text: "view.y.1", fails: `"1" is not a valid name`},
		{text: "nothing", fails: "must begin with"},
	}
	for _, c := range cases {
		to, side, err := addr.ParseReference(c.text)
		if c.fails != "" {
			require.ErrorContains(t, err, c.fails, c.text)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.to, to.String())
		require.Equal(t, c.side, side)
	}
}

func TestHeader(t *testing.T) {
	require.Equal(t, `source "files" "x"`, addr.Resource{Block: addr.Source, Type: "files", Name: "x"}.Header())
	require.Equal(t, `view "x"`, addr.Resource{Block: addr.View, Name: "x"}.Header())
	require.Equal(t, "", addr.Resource{}.String())
}
