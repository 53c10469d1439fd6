package schema_test

import (
	"testing"
	"time"

	"github.com/streamform/streamform/lang/schema"
	"github.com/stretchr/testify/require"
)

func TestParseDuration(t *testing.T) {
	good := map[string]time.Duration{
		"0": 0, "0s": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "7d": 168 * time.Hour,
		"0.5s": 500 * time.Millisecond, "1.5h": 90 * time.Minute, "250ms": 250 * time.Millisecond, "3us": 3 * time.Microsecond,
		"1d2h3m4s5ms6us7ns": 26*time.Hour + 3*time.Minute + 4*time.Second + 5*time.Millisecond + 6*time.Microsecond + 7,
	}
	for text, want := range good {
		got, err := schema.ParseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, schema.Duration(want), got, text)
	}
	for _, text := range []string{"", "s", "5", "-5s", "1 h", "5x", "1h5", "1..5s", "1e3s", "1/2s", " 5s", "5S", "999999999999d"} {
		_, err := schema.ParseDuration(text)
		require.Error(t, err, text)
	}
}

func TestParseSize(t *testing.T) {
	good := map[string]schema.Size{
		"0": 0, "1000": 1000, "7B": 7, "64MB": 64_000_000, "64MiB": 64 << 20, "1.5GiB": 3 << 29, "2kb": 2000, "2KIB": 2048,
		"64 MB": 64_000_000, "1TB": 1e12, "1PiB": 1 << 50,
	}
	for text, want := range good {
		got, err := schema.ParseSize(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "MB", "-1", "1XB", "1M", "1MBs", "1MB2", "9999PB", "1..2MB", "0x10"} {
		_, err := schema.ParseSize(text)
		require.Error(t, err, text)
	}
}

func FuzzDurationText(f *testing.F) {
	for _, n := range []int64{0, 1, 999, 1e9, 90e9, 86400e9, 1<<63 - 1} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, n int64) {
		if n < 0 {
			t.Skip()
		}
		got, err := schema.ParseDuration(schema.Duration(n).String())
		require.NoError(t, err)
		require.Equal(t, schema.Duration(n), got)
		size, err := schema.ParseSize(schema.Size(n).String())
		require.NoError(t, err)
		require.Equal(t, schema.Size(n), size)
	})
}

func FuzzParseText(f *testing.F) {
	for _, s := range []string{"1h", "64MB", "999999999999999999999999d", "..", "5\x00s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := schema.ParseDuration(s); err == nil {
			require.GreaterOrEqual(t, int64(d), int64(0))
		}
		if n, err := schema.ParseSize(s); err == nil {
			require.GreaterOrEqual(t, int64(n), int64(0))
		}
	})
}

func TestParseSecret(t *testing.T) {
	place, name, err := schema.ParseSecret(schema.SecretText("env:DB:PASS"))
	require.NoError(t, err)
	require.Equal(t, []string{"env", "DB:PASS"}, []string{place, name})
	for _, bad := range []string{"hunter2", "secret:", "secret:env", "secret:env:", "secret:vault:x"} {
		_, _, err := schema.ParseSecret(bad)
		require.Error(t, err, bad)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"path", "format", "columns", "on_malformed"}
	for written, want := range map[string]string{
		"pth": "path", "fromat": "format", "colums": "columns", "on_malformd": "on_malformed", "xyz": "", "p": "", "": "", "completely": "",
	} {
		require.Equal(t, want, schema.Nearest(written, names), written)
	}
}
