package expand_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/expand"
)

func addresses(t *testing.T, made []expand.Instance, err error) string {
	t.Helper()
	require.NoError(t, err)
	var out []string
	for _, i := range made {
		out = append(out, addr.Resource{Block: addr.View, Name: "x", Key: i.Key}.String())
	}
	return strings.Join(out, " ")
}

func TestInstancesAreInOrder(t *testing.T) {
	number := cty.NumberIntVal(1)
	made, err := expand.ForEach(cty.ObjectVal(map[string]cty.Value{"b": number, "10": number, "9": number, "B": number}))
	require.Equal(t, `view.x["10"] view.x["9"] view.x["B"] view.x["b"]`, addresses(t, made, err))
	made, err = expand.ForEach(cty.SetValEmpty(cty.Number))
	require.Empty(t, addresses(t, made, err))
	made, err = expand.Count(cty.StringVal("11"))
	require.True(t, strings.HasSuffix(addresses(t, made, err), "view.x[8] view.x[9] view.x[10]"))
}

func TestReferencesMeanAddresses(t *testing.T) {
	key := `a"]["b`
	blocks := []expand.Block{
		{Addr: addr.Resource{Block: addr.View, Name: "x"}, Mode: addr.ForEach, Keys: []addr.Key{addr.TextKey(key), addr.TextKey("c")}, Parts: []string{"late"}},
		{Addr: addr.Resource{Block: addr.Sink, Type: "delta", Name: "y"}, Mode: addr.Count, Keys: []addr.Key{addr.NumberKey(0), addr.NumberKey(1)}},
		{Addr: addr.Resource{Block: addr.View, Name: "z"}, Faulty: true},
	}
	values := expand.References(blocks)
	x := values["view"].GetAttr("x")
	found, ok := expand.Gather(x.GetAttr(key))
	require.True(t, ok)
	require.Equal(t, []expand.Found{{To: addr.Resource{Block: addr.View, Name: "x", Key: addr.TextKey(key)}}}, found)
	found, ok = expand.Gather(x.GetAttr("c").GetAttr("late"))
	require.True(t, ok)
	require.Equal(t, "late", found[0].Part)
	found, ok = expand.Gather(cty.TupleVal([]cty.Value{x, values["sink"].GetAttr("delta").GetAttr("y")}))
	require.True(t, ok)
	require.Len(t, found, 4)
	_, ok = expand.Gather(cty.TupleVal([]cty.Value{x, cty.StringVal("view.x")}))
	require.False(t, ok, "a text is no reference")
	require.False(t, values["view"].GetAttr("z").IsKnown())

	texts := expand.Texts(blocks)
	require.Equal(t, "x__c", texts["view"].GetAttr("x").GetAttr("c").AsString())
	require.NotContains(t, texts, "sink")
}
