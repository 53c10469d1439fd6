package state

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/lang/addr"
)

func TestDigest(t *testing.T) {
	a := Digest("one", []byte("secret"))
	require.Len(t, a, 64)
	require.Equal(t, a, Digest("one", []byte("secret")))
	require.NotEqual(t, a, Digest("two", []byte("secret")), "salted with the lineage")
	require.NotEqual(t, a, Digest("one", []byte("other")))
	require.NotEqual(t, NewLineage(), NewLineage())
}

func TestCloneIsIndependent(t *testing.T) {
	d := New("l", "0.1.0")
	d.Resources = []Resource{{Addr: addr.Resource{Block: addr.View, Name: "a"}, Generation: 1}}
	c := d.Clone()
	c.Resources[0].Generation = 2
	c.Outputs["x"] = Output{}
	require.EqualValues(t, 1, d.Resource(d.Resources[0].Addr).Generation)
	require.Empty(t, d.Outputs)
	require.Nil(t, (*Document)(nil).Resource(d.Resources[0].Addr))
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 12300 * time.Millisecond: "12s", 90 * time.Minute: "1h", 59 * time.Minute: "59m", 50 * time.Hour: "2 days",
	} {
		require.Equal(t, want, age(d))
	}
}
