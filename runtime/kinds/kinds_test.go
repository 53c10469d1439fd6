package kinds_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/kinds"
)

func TestEveryKindIsDeclaredRight(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range kinds.All() {
		t.Run(d.Kind.Name(), func(t *testing.T) {
			require.NoError(t, schema.CheckKind(d.Kind))
			require.False(t, seen[d.Kind.Name()], "listed twice")
			seen[d.Kind.Name()] = true
			require.Equal(t, d.Kind.Block == addr.Source, d.Source != nil, "sources, and only they, open a source")
			require.Equal(t, d.Kind.Block == addr.Sink, d.Sink != nil, "sinks, and only they, open a sink")
		})
	}
	require.Len(t, kinds.Schemas(), len(seen))
}

func TestDocsHaveSentencesPeopleCanRead(t *testing.T) {
	for _, k := range kinds.Schemas() {
		require.Contains(t, schema.Markdown(k), k.Doc)
		_, err := schema.JSONSchema(k)
		require.NoError(t, err)
	}
}

// Values go through the recorded state's JSON and come back as they were.
func TestDefaultsRoundTrip(t *testing.T) {
	for _, k := range kinds.Schemas() {
		t.Run(k.Name(), func(t *testing.T) {
			written := map[string]cty.Value{}
			for _, f := range k.Fields() {
				if f.Required && f.Type == cty.String {
					written[f.Name] = cty.StringVal(sample(f))
				}
			}
			value, errs := k.Complete(cty.ObjectVal(written))
			require.Empty(t, errs)
			text, err := k.Marshal(value)
			require.NoError(t, err)
			again, err := k.Unmarshal(text)
			require.NoError(t, err)
			require.Empty(t, schema.Changed(k, value, again))
			_, err = k.Bind(again)
			require.NoError(t, err)
		})
	}
}

// sample is a text that the field accepts.
func sample(f schema.Field) string {
	switch {
	case f.Name == "format":
		return "json"
	case f.Format == schema.FormatDuration:
		return "1s"
	case f.OneOf != nil:
		return f.OneOf[0]
	}
	return "x"
}

// The examples of the reference are read as they stand, together: they refer to each other.
func TestExamplesDecode(t *testing.T) {
	dir := t.TempDir()
	for _, k := range kinds.Schemas() {
		require.NoError(t, os.WriteFile(filepath.Join(dir, k.Name()+".sf.hcl"), []byte(k.Example), 0o666))
	}
	_, diags := lang.Load(dir, lang.Options{Kinds: kinds.Schemas(), WorkDir: dir})
	require.Empty(t, diags)
}
