package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/streamform/streamform/lang/literal"
	"github.com/streamform/streamform/lang/written"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// written is the world in which the expression at hand is evaluated.
func (l *loader) written() written.World {
	return written.World{Ctx: l.ctx, Source: l.sourceText,
		Local: func(name string) hclsyntax.Expression {
			if loc := l.locals[name]; loc != nil {
				return loc.expr
			}
			return nil
		},
		Read: func(path string) (string, *literal.Source, bool) {
			text, err := l.reader.ReadText(path)
			if err != nil {
				return "", nil, false
			}
			name := l.display(l.reader.Path(path))
			l.sources[name] = []byte(text)
			return text, l.sourceText(name), true
		},
	}
}

func (l *loader) sourceText(name string) *literal.Source {
	if s, ok := l.texts[name]; ok {
		return s
	}
	s := literal.NewSource(name, l.sources[name])
	l.texts[name] = s
	return s
}

// holdSQL notes the final text of an attribute that holds SQL, and the map back to its place.
func (d *decoder) holdSQL(path string, expr hcl.Expression, v cty.Value) {
	v, err := convert.Convert(v, cty.String)
	if err != nil || v.IsNull() {
		return // completion says why
	}
	text := v.AsString()
	d.out.SQL = append(d.out.SQL, SQL{Attr: d.shown(path), Text: text, Locate: literal.Locate(d.l.written().Trace(expr, text))})
}

// shown writes a path with the labels of blocks in place of their numbers.
func (d *decoder) shown(path string) string {
	for p := path; p != ""; p = p[:max(strings.LastIndexByte(p, '.'), 0)] {
		if labeled, ok := d.labels[p]; ok {
			return labeled + path[len(p):]
		}
	}
	return path
}
