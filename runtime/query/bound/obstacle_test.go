package bound_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/query/bound"
)

// TestEveryObstacleHasAWayOut: no reason for a full refresh leaves the user without a hint.
func TestEveryObstacleHasAWayOut(t *testing.T) {
	seen := map[string]bound.Obstacle{}
	for _, o := range bound.Obstacles() {
		text := o.Rewrite()
		require.NotEmpty(t, text, "obstacle %d", o)
		require.True(t, strings.HasSuffix(text, "."), "obstacle %d: %q is no sentence", o, text)
		other, twice := seen[text]
		require.False(t, twice, "obstacles %d and %d say the same", o, other)
		seen[text] = o
	}
}

// TestReasonsNameTheirObstacle: nothing goes round the constructors, which ask for one.
func TestReasonsNameTheirObstacle(t *testing.T) {
	for _, room := range []string{".", "../logical", "../compile"} {
		files, err := filepath.Glob(filepath.Join(room, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, f := range files {
			if filepath.Base(f) == "obstacle.go" {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, 0)
			require.NoError(t, err)
			ast.Inspect(parsed, func(n ast.Node) bool {
				lit, ok := n.(*ast.CompositeLit)
				if !ok {
					return true
				}
				name := ""
				switch x := lit.Type.(type) {
				case *ast.Ident:
					name = x.Name
				case *ast.SelectorExpr:
					name = x.Sel.Name
				}
				require.NotEqual(t, "Unsupported", name, "%s makes a reason by hand: use Unsupportedf", f)
				return true
			})
		}
	}
}

func TestUnsupportedOp(t *testing.T) {
	for op, by := range map[string]bound.Obstacle{"LOGICAL_RECURSIVE_CTE": bound.ByRecursion, "LOGICAL_SAMPLE": bound.BySample, "LOGICAL_DUMMY_SCAN": bound.ByConstants,
		"LOGICAL_POSITIONAL_JOIN": bound.ByPosition, "LOGICAL_DELIM_GET": bound.ByCorrelation, "LOGICAL_PIVOT": bound.ByForm} {
		var got *bound.Unsupported
		require.ErrorAs(t, bound.UnsupportedOp(&bound.Op{Type: op}), &got)
		require.Equal(t, by, got.By, op)
		require.NotEmpty(t, got.Reason)
	}
}
