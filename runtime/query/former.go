package query

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/scan"
)

// Former is the query that a stream had for the first files of its sources.
type Former struct {
	Program *Program
	Until   map[string]int64 // by source relation: the last ordinal it holds for
}

// mixed is SQL for the rows of a stream whose query has changed while its rows stayed.
func (b *reading) mixed(ctx context.Context, s Held, over scan.Stretch) (string, error) {
	var arms []string
	for _, f := range s.Former {
		first, rest := over.To(f.Until)
		arm, err := b.arm(ctx, f.Program, first)
		if err != nil {
			return "", err
		}
		arms, over = append(arms, arm), rest
	}
	arm, err := b.arm(ctx, s.Program, over)
	return strings.Join(append(arms, arm), " UNION ALL "), err
}

// arm runs one query over a stretch.
func (b *reading) arm(ctx context.Context, p *Program, over scan.Stretch) (string, error) {
	if p.Final == "" {
		return "", &Error{Summary: "The rows of a stream cannot be computed again", Detail: "Its query has changed while its rows stayed (history = \"keep\"), and it is one that runs only as it is written. Read what its sinks hold."}
	}
	text, err := logical.Replace(p.Final, func(leaf string) (string, error) { return b.over(ctx, leaf, over) })
	return "(" + text + ")", err
}

// over reads a relation within a stretch.
func (b *reading) over(ctx context.Context, leaf string, s scan.Stretch) (string, error) {
	for _, source := range b.r.Sources {
		if !named(leaf, source.Relation) {
			continue
		}
		part := source
		part.Files = nil
		for _, f := range source.Files {
			if s.Has(leaf, f.Ordinal) {
				part.Files = append(part.Files, f)
			}
		}
		part.Held = slices.DeleteFunc(slices.Clone(source.Held), func(r HeldRows) bool { return !s.Has(leaf, r.Last) })
		if len(part.Files)+len(part.Held) == 0 {
			return emptyRows(Columns(source.Scan)), nil
		}
		sql, err := b.sourceRows(ctx, part)
		return "(" + sql + ")", err
	}
	for _, stream := range b.r.Streams {
		if named(leaf, stream.Relation) {
			sql, err := b.mixed(ctx, stream, s)
			return "(" + sql + ")", err
		}
	}
	return "", &Error{Summary: "The rows of a stream cannot be computed again", Detail: fmt.Sprintf("Its query has changed while its rows stayed (history = \"keep\"), and it reads %s, whose rows cannot be told apart by time. Read what its sinks hold.", leaf)}
}
