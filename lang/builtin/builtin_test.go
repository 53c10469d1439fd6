package builtin_test

import (
	"testing"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/builtin"
	"github.com/streamform/streamform/lang/schema"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"
)

func TestKindsAreWellDeclared(t *testing.T) {
	names := map[string]bool{}
	for _, k := range builtin.Kinds() {
		require.NoError(t, schema.CheckKind(k))
		require.False(t, names[k.Name()], "%s stands twice", k.Name())
		names[k.Name()] = true
	}
}

func TestViewKeys(t *testing.T) {
	cases := map[string]struct {
		keys []string
		want string
	}{
		"one":       {keys: []string{"a"}},
		"two":       {keys: []string{"a", "b"}},
		"twice":     {keys: []string{"a", "A"}, want: `Invalid value for attribute "keys": the column A is named twice.`},
		"no name":   {keys: []string{" "}, want: `Invalid value for attribute "keys": a column name must not be empty.`},
		"empty sql": {keys: []string{"a"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var keys []cty.Value
			for _, k := range c.keys {
				keys = append(keys, cty.StringVal(k))
			}
			v, errs := builtin.ViewKind().Complete(cty.ObjectVal(map[string]cty.Value{
				"sql": cty.StringVal("SELECT 1"), "keys": cty.TupleVal(keys),
			}))
			if c.want != "" {
				require.Len(t, errs, 1)
				require.Equal(t, c.want, errs[0].Detail)
				return
			}
			require.Empty(t, errs)
			cfg, err := builtin.ViewKind().Bind(v)
			require.NoError(t, err)
			require.Equal(t, c.keys, cfg.(*builtin.View).Keys)
		})
	}
}

func TestCosts(t *testing.T) {
	stream := func(sql, trigger, description string) cty.Value {
		v, errs := builtin.StreamKind().Complete(cty.ObjectVal(map[string]cty.Value{
			"sql": cty.StringVal(sql), "trigger": cty.StringVal(trigger), "description": cty.StringVal(description),
		}))
		require.Empty(t, errs)
		return v
	}
	got := map[string]schema.Cost{}
	for _, c := range schema.Changed(builtin.StreamKind(), stream("SELECT 1", "trigger.available_now.a", "x"), stream("SELECT 2", "trigger.available_now.b", "y")) {
		got[c.Path] = c.Cost
	}
	require.Equal(t, map[string]schema.Cost{"sql": schema.CostSemantics, "trigger": schema.CostInPlace, "description": schema.CostNone}, got)
	f, _ := builtin.StreamKind().Field("trigger")
	require.Equal(t, []addr.Block{addr.Trigger}, f.RefBlocks)
}
