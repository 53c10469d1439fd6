package scan

import (
	"bufio"
	"strings"
	"testing"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/stretchr/testify/require"
)

func TestHeadings(t *testing.T) {
	for _, c := range []struct {
		what    string
		options map[string]string
		text    string
		names   []string
		skip    int
	}{
		{what: "plain", text: "id,name\n1,a\n", names: []string{"id", "name"}},
		{what: "no line end", text: "id,name", names: []string{"id", "name"}},
		{what: "byte order mark", text: "\ufeffid,name\n", names: []string{"id", "name"}},
		{what: "lines of Windows", text: "id,name\r\n1,a\r\n", names: []string{"id", "name"}},
		{what: "lines of old Macs", text: "id,name\r1,a\r", names: []string{"id", "name"}},
		{what: "quotes", text: `"id","a ""b"", c",d "e"` + "\n", names: []string{"id", `a "b", c`, `d "e"`}},
		{what: "a line end inside quotes", text: "\"a\nb\",c\n", names: []string{"a\nb", "c"}},
		{what: "empty names", text: ",a,\n", names: []string{"", "a", ""}},
		{what: "blank lines first", text: "\n\r\nid\n", names: []string{"id"}, skip: 2},
		{what: "empty", text: ""},
		{what: "nothing but blank lines", text: "\n\n", skip: 2},
		{what: "another delimiter", options: map[string]string{"delim": ";"}, text: "a,b;c\n", names: []string{"a,b", "c"}},
		{what: "a wide delimiter", options: map[string]string{"delim": "¦"}, text: "a¦b\n", names: []string{"a", "b"}},
		{what: "another quote", options: map[string]string{"quote": "'"}, text: `'it''s, "so"',b` + "\n", names: []string{`it's, "so"`, "b"}},
		{what: "another escape", options: map[string]string{"escape": `\`}, text: `"a\"b",c` + "\n", names: []string{`a"b`, "c"}},
		{what: "no quote", options: map[string]string{"quote": ""}, text: `"a,b"` + "\n", names: []string{`"a`, `b"`}},
		{what: "lines to skip", options: map[string]string{"skip": "2"}, text: "# \"one\n# two\nid\n", names: []string{"id"}, skip: 2},
		{what: "more lines to skip than there are", options: map[string]string{"skip": "2"}, text: "id\n", skip: 2},
	} {
		t.Run(c.what, func(t *testing.T) {
			got, err := dialectOf(batch.Format{Name: "csv", Options: c.options}).heading(bufio.NewReader(strings.NewReader(c.text)))
			require.NoError(t, err)
			require.Equal(t, heading{names: c.names, skip: c.skip}, got)
		})
	}
	_, err := dialectOf(batch.Format{Name: "csv"}).heading(bufio.NewReader(strings.NewReader(`"id,name` + "\n1,a\n")))
	require.EqualError(t, err, "the header ends inside quotes")
}

func FuzzHeading(f *testing.F) {
	f.Add("id,\"na\"\"me\"\r\n1,2", `"`, `"`, 0)
	f.Add("\n\n'a\\'b';c", "'", `\`, 1)
	f.Fuzz(func(t *testing.T, text, quote, escape string, skip int) {
		d := dialect{delim: ",", quote: quote, escape: escape, header: true, skip: min(max(skip, 0), 100)}
		h, err := d.heading(bufio.NewReader(strings.NewReader(text)))
		if err == nil && h.names != nil {
			require.False(t, len(h.names) == 1 && h.names[0] == "", "a blank line names nothing")
			require.GreaterOrEqual(t, h.skip, d.skip)
		}
	})
}
