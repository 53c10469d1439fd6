package statement

import (
	"context"
	"errors"
	"testing"

	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/stretchr/testify/require"
)

func open(t testing.TB) *duck.Conn {
	c, err := duck.Open(context.Background(), "SET threads = 1", "SET enable_external_access = false", "SET lock_configuration = true")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// FuzzParse: any text is a statement or a mistake of the user, whose place lies within it; and names stand where they are said to.
func FuzzParse(f *testing.F) {
	for _, sql := range []string{"SELECT 1", "SELECT * FROM a, \"B c\" JOIN s.t USING (k);", "WITH x AS (SELECT 1) SELECT * FROM x, y", "SELECT $$;$$ FROM t -- ;\n;", "SELEC", "", ";",
		"SELECT 'é' || x FROM \"日本\"", "SELECT now()", "SELECT 1; SELECT 2", "SELECT * FROM t /* ; */", "\x00", "SELECT '\x00'", "SELECT x FROM 'f.csv'", "PIVOT t ON a USING sum(b)",
		"WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT * FROM r) SELECT * FROM r", "FROM t SELECT a", "SELECT * FROM t SAMPLE 3", "SELECT \xff FROM t"} {
		f.Add(sql)
	}
	c := open(f)
	functions, err := LoadFunctions(context.Background(), c)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, sql string) {
		s, err := Parse(context.Background(), c, sql)
		var bad *Error
		if err != nil {
			require.True(t, errors.As(err, &bad), "%v", err)
			inside(t, bad, sql)
			return
		}
		require.LessOrEqual(t, len(s.Body), len(sql))
		for _, n := range s.Names() {
			require.True(t, 0 <= n.Start && n.Start <= n.End && n.End <= len(sql), "%+v in %q", n, sql)
		}
		if bad := functions.Check(s, false); bad != nil {
			inside(t, bad, sql)
		}
		if bad := CheckReading(s); bad != nil {
			inside(t, bad, sql)
		}
	})
}

func inside(t *testing.T, e *Error, sql string) {
	require.True(t, 0 <= e.Start && e.Start <= e.End && e.End <= len(sql), "%+v in %q", e, sql)
	require.NotEmpty(t, e.Summary)
}

func TestWithoutSemicolon(t *testing.T) {
	for sql, want := range map[string]string{"SELECT 1;": "SELECT 1", "SELECT ';'; x": "SELECT ';'", "SELECT 1 -- ;\n + 2;": "SELECT 1 -- ;\n + 2", "SELECT /* ; */ 1": "SELECT /* ; */ 1",
		"SELECT $$;$$;": "SELECT $$;$$", "SELECT $a$;$$;$a$;": "SELECT $a$;$$;$a$", `SELECT ";" FROM t;`: `SELECT ";" FROM t`, "SELECT '": "SELECT '"} {
		require.Equal(t, want, withoutSemicolon(sql), sql)
	}
}
