package lang_test

import (
	"bytes"
	"testing"

	"github.com/streamform/streamform/lang"
	"github.com/stretchr/testify/require"
)

func TestFormat(t *testing.T) {
	cases := map[string]struct{ in, want string }{
		"aligned":         {"view \"a\" {\nsql=\"SELECT 1\"\n  description  =  \"d\"\n}\n", "view \"a\" {\n  sql         = \"SELECT 1\"\n  description = \"d\"\n}\n"},
		"already":         {"a = 1\n", "a = 1\n"},
		"empty":           {"", ""},
		"heredoc kept":    {"a=<<-SQL\n      SELECT  1\n   SQL\n", "a = <<-SQL\n      SELECT  1\n   SQL\n"},
		"comments kept":   {"# one\na=1 // two\n/* three */\n", "# one\na = 1 // two\n/* three */\n"},
		"byte order mark": {"\xef\xbb\xbfa=1\n", "a = 1\n"},
		"carriage return": {"a=1\r\nbb=2\r\n", "a  = 1\r\nbb = 2\r\n"},
		"mixed ends":      {"a=1\nbb=2\r\n", "a  = 1\nbb = 2\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, ds := lang.Format([]byte(c.in), "x.sf.hcl")
			require.Empty(t, ds)
			require.Equal(t, c.want, string(got))
		})
	}
}

func TestFormatRefusesBrokenFiles(t *testing.T) {
	src := []byte("view \"a\" {\n")
	got, ds := lang.Format(src, "x.sf.hcl")
	require.Equal(t, src, got)
	require.True(t, ds.Failed())
	require.Equal(t, "x.sf.hcl", ds[0].Subject.Filename)
}

// Formatting twice changes nothing, and never breaks a file.
func FuzzFormat(f *testing.F) {
	corpus(f)
	f.Add([]byte("a=1\r\nb={\r\n}\r\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		once, ds := lang.Format(src, "x")
		if ds.Failed() {
			require.True(t, bytes.Equal(src, once))
			return
		}
		twice, ds := lang.Format(once, "x")
		require.Empty(t, ds)
		require.Equal(t, string(once), string(twice))
	})
}
