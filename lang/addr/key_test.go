package addr_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/streamform/streamform/lang/addr"
	"github.com/stretchr/testify/require"
)

// keys are what people, and what nobody sane, would use as keys.
func keys() []string {
	return []string{"", "eu", "EU", "Eu", "eu-west-1", "a.b", "a/b", "../x", `a"b`, `a\b`, "a b", "ä", "Ä", "日本", "a]b", `"]`, "\n\t\r", "\x00", "\u200b", "\U000e0001",
		"${x}", "%{if}", "$${x}", "$", "con", ".", "..", "_", "-", "0", "00", strings.Repeat("k", 40), strings.Repeat("k", 41), strings.Repeat("k", 5000)}
}

func TestInstances(t *testing.T) {
	seen := map[string]string{}
	for _, key := range keys() {
		a := addr.Resource{Block: addr.Source, Type: "files", Name: "x", Key: addr.TextKey(key)}
		text := a.String()
		back, err := addr.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, a, back)
		to, side, err := addr.ParseReference(text + ".malformed")
		require.NoError(t, err, text)
		require.Equal(t, a, to)
		require.Equal(t, "malformed", side)
		data, err := json.Marshal(a)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, a, back)

		name := a.Relation()
		require.Regexp(t, regexp.MustCompile(`^x__[a-z0-9_-]{1,40}$`), name)
		require.Empty(t, seen[name], "%q and %q are both %s", seen[name], key, name)
		seen[name] = "key " + key
	}
	require.Equal(t, `view.x["eu"]`, addr.Resource{Block: addr.View, Name: "x", Key: addr.TextKey("eu")}.String())
	require.Equal(t, "x__eu", addr.Resource{Block: addr.View, Name: "x", Key: addr.TextKey("eu")}.SQL())
	require.Equal(t, `"x__eu-west"`, addr.Resource{Block: addr.View, Name: "x", Key: addr.TextKey("eu-west")}.SQL())
	require.Equal(t, "view.x[10]", addr.Resource{Block: addr.View, Name: "x", Key: addr.NumberKey(10)}.String())
	require.Equal(t, `"x"`, addr.Resource{Block: addr.View, Name: "x"}.SQL())
}

func TestInstancesAreOrdered(t *testing.T) {
	var all []addr.Resource
	for _, text := range []string{`view.xa`, `view.x[10]`, `view.x["b"]`, `view.x[9]`, `view.x`, `view.x["a"]`, `sink.files.y`} {
		a, err := addr.Parse(text)
		require.NoError(t, err)
		all = append(all, a)
	}
	slices.SortFunc(all, addr.Resource.Compare)
	var got []string
	for _, a := range all {
		got = append(got, a.String())
	}
	require.Equal(t, []string{`sink.files.y`, `view.x`, `view.x[9]`, `view.x[10]`, `view.x["a"]`, `view.x["b"]`, `view.xa`}, got)
}

func TestWrongKeys(t *testing.T) {
	for text, want := range map[string]string{
		`view.x[eu]`:       `a key stands in quotes, as in ["eu"]; on a command line, put the whole address into single quotes`,
		`view.x['eu']`:     `as in ["eu"]`,
		`view.x[-1]`:       "a whole number that is not negative",
		`view.x[]`:         "a whole number",
		`view.x[01]`:       "a whole number",
		`view.x[0`:         "does not end with ]",
		`view.x["a]`:       `does not end with "]`,
		`view.x["a" ]`:     `does not end with "]`,
		`view.x["\q"]`:     `does not end with "]`,
		`view.x["a"].b`:    "a view is written view.NAME[KEY]",
		`view.x["a"]["b"]`: "a view is written view.NAME[KEY]",
		`view["a"]`:        "a view is written view.NAME[KEY]",
	} {
		_, err := addr.Parse(text)
		require.ErrorContains(t, err, want, text)
	}
}

func FuzzParse(f *testing.F) {
	for _, key := range keys() {
		f.Add(`view.x` + addr.TextKey(key).String())
	}
	for _, text := range []string{"view.x", "source.files.x.malformed", "view.x[0]", `sink.delta.x["a"].y`, "[", `["`, "view.x[18446744073709551616]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if a, err := addr.Parse(text); err == nil {
			back, err := addr.Parse(a.String())
			require.NoError(t, err)
			require.Equal(t, a, back)
			require.NotContains(t, a.Relation(), "/")
		}
		if to, _, err := addr.ParseReference(text); err == nil {
			require.NotEmpty(t, to.Name)
		}
	})
}
