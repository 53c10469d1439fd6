package state

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/lang/addr"
)

const small = `{"version":2,"streamform_version":"0.1.0","serial":4,"lineage":"l","outputs":{},"resources":[
 {"address":"view.b","id":"view.b","schema_version":0,"attributes":{"sql":"SELECT 1"},"status":"applied","generation":1},
 {"address":"source.files.a","id":"source.files.a#2","schema_version":0,"attributes":{},"status":"building","generation":2}]}`

func TestDecodeRefuses(t *testing.T) {
	swap := func(old, new string) string {
		require.Contains(t, small, old)
		return strings.Replace(small, old, new, 1)
	}
	for name, c := range map[string]struct{ doc, reason string }{
		"empty":              {"", "unexpected end of JSON input"},
		"cut off":            {small[:len(small)-20], "line 3: unexpected end of JSON input"},
		"trailing text":      {small + "x", "line 3: invalid character 'x'"},
		"not an object":      {"[1]", "line 1"},
		"null":               {"null", `no "version"`},
		"no version":         {`{"serial":1}`, `no "version"`},
		"version 0":          {swap(`"version":2`, `"version":0`), "no version 0"},
		"version text":       {swap(`"version":2`, `"version":"1"`), `"version" is a string`},
		"serial text":        {swap(`"serial":4`, `"serial":"4"`), `"serial" is a string`},
		"serial below 0":     {swap(`"serial":4`, `"serial":-4`), "serial is -4"},
		"no lineage":         {swap(`"lineage":"l"`, `"lineage":""`), "lineage"},
		"twice":              {swap(`"address":"source.files.a"`, `"address":"view.b"`), "view.b is recorded twice"},
		"no ID":              {swap(`"id":"view.b",`, ``), "view.b has no ID"},
		"an ID twice":        {swap(`source.files.a#2`, `view.b`), "view.b and source.files.a have the same ID"},
		"no address":         {swap(`"address":"view.b"`, `"address":""`), "entry 1 of its resources has no address"},
		"bad address":        {swap(`"address":"view.b"`, `"address":"vue.b"`), `"vue.b" is not an address`},
		"unknown status":     {swap(`applied`, `done`), `unknown status "done"`},
		"attributes a list":  {swap(`"attributes":{}`, `"attributes":[]`), "attributes of source.files.a"},
		"attributes missing": {swap(`"attributes":{},`, ``), "attributes of source.files.a"},
		"clear secret":       {swap(`"outputs":{}`, `"outputs":{"x":{"type":"string","sensitive":true,"value":"s"}}`), `output "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode([]byte(c.doc))
			var damaged *CorruptedError
			require.ErrorAs(t, err, &damaged)
			require.Contains(t, damaged.Reason, c.reason)
		})
	}
}

func TestDecodeNewer(t *testing.T) {
	_, err := Decode([]byte(`{"version":7,"streamform_version":"9.1.0","resources":"whatever that means then"}`))
	var newer *NewerError
	require.ErrorAs(t, err, &newer)
	require.Equal(t, NewerError{Found: 7, Supported: 2, Writer: "9.1.0"}, *newer)
	require.Contains(t, err.Error(), "9.1.0")
	require.Contains(t, err.Error(), "up to version 2")
}

func TestUpgrade(t *testing.T) {
	from := map[int]upgrade{
		1: func(doc map[string]any) error {
			for _, r := range doc["resources"].([]any) {
				r := r.(map[string]any)
				r["generation"] = json.Number("10")
			}
			return nil
		},
		2: func(doc map[string]any) error {
			if doc["serial"] == json.Number("5") {
				return errors.New("no fives")
			}
			doc["lineage"] = "upgraded " + doc["lineage"].(string)
			return nil
		},
	}
	first := strings.Replace(small, `"version":2`, `"version":1`, 1)
	d, err := decode([]byte(first), 3, from)
	require.NoError(t, err)
	require.Equal(t, 3, d.Version)
	require.Equal(t, "upgraded l", d.Lineage)
	require.EqualValues(t, 10, d.Resources[1].Generation)

	_, err = decode([]byte(strings.Replace(first, `"serial":4`, `"serial":5`, 1)), 3, from)
	require.ErrorContains(t, err, "upgraded from version 2: no fives")
	_, err = decode([]byte(first), 5, from)
	require.ErrorContains(t, err, "no version 3")
}

func TestEncodeIsStable(t *testing.T) {
	d, err := Decode([]byte(small))
	require.NoError(t, err)
	first, err := Encode(d)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(string(first), "}\n"))
	require.Less(t, strings.Index(string(first), "source.files.a"), strings.Index(string(first), "view.b"), "by address")
	require.Equal(t, "view.b", d.Resources[0].Addr.String(), "the document itself is left alone")
	again, err := Decode(first)
	require.NoError(t, err)
	second, err := Encode(again)
	require.NoError(t, err)
	require.Equal(t, string(first), string(second))

	empty, err := Encode(New("l", "0.1.0"))
	require.NoError(t, err)
	require.Contains(t, string(empty), `"resources": []`)
	require.Contains(t, string(empty), `"outputs": {}`)
}

// Documents without IDs get them: each resource its address.
func TestIDsAreGiven(t *testing.T) {
	data, err := os.ReadFile("testdata/version1.sfstate")
	require.NoError(t, err)
	require.NotContains(t, string(data), `"id":`)
	d, err := Decode(data)
	require.NoError(t, err)
	for _, r := range d.Resources {
		require.Equal(t, r.Addr.String(), r.ID)
	}
	taken := func(id string) bool { return id == "view.a" || id == "view.a#2" }
	require.Equal(t, "view.a#3", NewID(addr.Resource{Block: addr.View, Name: "a"}, taken))
	require.Equal(t, "view.b", NewID(addr.Resource{Block: addr.View, Name: "b"}, taken))
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`{"version":1,"lineage":"l","resources":[{"address":"view.x","attributes":{"a":[1,2`))
	f.Add([]byte(`{"version":1,"lineage":"l","resources":null,"outputs":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Decode(data)
		if err != nil {
			return
		}
		out, err := Encode(d)
		require.NoError(t, err)
		again, err := Decode(out)
		require.NoError(t, err, "what is written can be read")
		second, err := Encode(again)
		require.NoError(t, err)
		require.Equal(t, string(out), string(second))
	})
}

// TestOldFilesLoad reads a file of every version there was. Files are added, never changed.
func TestOldFilesLoad(t *testing.T) {
	files, err := filepath.Glob("testdata/version*.sfstate")
	require.NoError(t, err)
	require.Len(t, files, Version, "one for each version")
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		d, err := Decode(data)
		require.NoError(t, err)
		require.Len(t, d.Resources, 4)
		require.Equal(t, "full_refresh", d.Resources[3].Relation.Operators[0].Kind)
		again, err := Encode(d)
		require.NoError(t, err)
		for _, r := range d.Resources {
			require.NotEmpty(t, r.ID)
		}
		if f == "testdata/version2.sfstate" {
			require.Equal(t, string(data), string(again), "nothing of the current version is lost")
		}
	}
}
