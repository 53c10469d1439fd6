package memory

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDiffering compares rows of three keys with those before: one key is new, one lost a row that was there twice, one is gone.
func TestDiffering(t *testing.T) {
	is := &Rows{}
	for _, row := range [][2]string{{"b", "1"}, {"new", "1"}, {"b", "3"}, {"b", "1"}, {"new", "1"}, {"b", "4"}} {
		is.Put([]byte(row[0]), []byte(row[1]))
	}
	was := map[string][][]byte{"a": {[]byte("1"), []byte("1")}, "b": {[]byte("2"), []byte("1"), []byte("3"), []byte("3")}}
	gained, lost := Differing(is, []string{"a", "untouched", "b", "new"}, was)
	require.Equal(t, []int{1, 3, 4, 5}, gained, "one of the two rows b 1, both of the new key, and b 4")
	require.Equal(t, []int{0, 1, 2, 4}, lost, "both rows of a, b 2, and one of the two rows b 3, of which which one is all the same")
}

func TestNothingDiffers(t *testing.T) {
	is := &Rows{}
	is.Put([]byte("a"), []byte("1"))
	gained, lost := Differing(is, []string{"a"}, map[string][][]byte{"a": {[]byte("1")}})
	require.Empty(t, gained)
	require.Empty(t, lost)
}
