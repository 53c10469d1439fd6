package table

import (
	"context"
	"errors"
	"hash/maphash"
	"strings"

	"github.com/streamform/streamform/runtime/query/duck"
)

// ErrTooMany is what Result returns for more rows than it takes.
var ErrTooMany = duck.ErrTooMany

// mostSeen bounds how many texts are remembered to have been run.
const mostSeen = 1000

// Result runs a query whose rows are only looked at, in an epoch that is small.
func (s *Set) Result(ctx context.Context, sql string) (*duck.Table, error) {
	s.slot++
	return s.Conn.Keep(ctx, s.keeping(sql))
}

// Hold is Make for a text of which nobody knows whether another epoch will run it.
func (s *Set) Hold(ctx context.Context, sql string) (string, error) {
	if s.Small {
		t, err := s.Result(ctx, sql)
		if err == nil {
			s.kept[t.Name()] = t
			return t.Name(), nil
		}
		if !errors.Is(err, ErrTooMany) {
			return "", err
		}
		s.Small, s.Light = false, false
	}
	return s.Make(ctx, sql)
}

// keeping keeps the plan of a text from the second time on. The plan of a text that reads files may hold what was in them.
func (s *Set) keeping(sql string) duck.Keeping {
	k := duck.Keeping{Slot: s.slot, SQL: sql, Most: mostRows}
	id := maphash.String(s.seed, sql)
	if s.seen[id] {
		return k
	}
	k.Columns = duck.Unknown
	if onlyOnce(sql) || strings.Contains(sql, "read_") {
		return k
	}
	if len(s.seen) >= mostSeen {
		clear(s.seen)
	}
	s.seen[id] = true
	return k
}
