package action_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta/action"
)

func pointer[T any](v T) *T { return &v }

func TestTableCommitRoundTrip(t *testing.T) {
	actions := []action.Action{
		{CommitInfo: &action.CommitInfo{Timestamp: 5, Operation: "WRITE", OperationParameters: map[string]string{"mode": "Append"}, IsBlindAppend: pointer(true), TxnID: "x"}},
		{Protocol: &action.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{"timestampNtz"}, WriterFeatures: []string{"timestampNtz"}}},
		{Metadata: &action.Metadata{ID: "m", Format: action.Format{Provider: "parquet", Options: map[string]string{}}, SchemaString: `{"type":"struct","fields":[]}`, PartitionColumns: []string{"p"}, Configuration: map[string]string{}}},
		{Txn: &action.Txn{AppID: "a", Version: 3}},
		{Add: &action.Add{Path: "p=%2520/x", PartitionValues: map[string]*string{"p": nil, "q": pointer("<&>é")}, Size: 1, DataChange: true, Stats: `{"numRecords":1}`, DeletionVector: &action.DeletionVector{StorageType: "u", PathOrInlineDV: "ab", Offset: pointer(int32(1)), SizeInBytes: 3, Cardinality: 1}}},
		{Remove: &action.Remove{Path: "y", DeletionTimestamp: 7, DataChange: true, ExtendedFileMetadata: true, Size: pointer(int64(0))}},
		{DomainMetadata: &action.DomainMetadata{Domain: "d", Configuration: "{}", Removed: true}},
	}
	text, err := action.Encode(actions)
	require.NoError(t, err)
	back, err := action.Decode(text)
	require.NoError(t, err)
	require.Equal(t, actions, back)
	require.NoError(t, action.Validate(back))
}

func TestWrittenForm(t *testing.T) {
	for _, c := range []struct {
		name string
		a    action.Action
		want string
	}{
		{"no feature lists where the versions use none", action.Action{Protocol: &action.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}}, `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}`},
		{"lists where the versions use them, even if empty", action.Action{Protocol: &action.Protocol{MinReaderVersion: 3, MinWriterVersion: 7}}, `{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[],"writerFeatures":[]}}`},
		{"no lists that the versions do not use", action.Action{Protocol: &action.Protocol{MinReaderVersion: 2, MinWriterVersion: 5, ReaderFeatures: []string{}, WriterFeatures: []string{}}}, `{"protocol":{"minReaderVersion":2,"minWriterVersion":5}}`},
		{"collections are never null", action.Action{Metadata: &action.Metadata{ID: "m"}}, `{"metaData":{"id":"m","format":{"provider":"","options":{}},"partitionColumns":[],"configuration":{}}}`},
		{"partition values are never null", action.Action{Add: &action.Add{Path: "x"}}, `{"add":{"path":"x","partitionValues":{},"size":0,"modificationTime":0,"dataChange":false}}`},
		{"a NULL partition is", action.Action{Add: &action.Add{Path: "x", PartitionValues: map[string]*string{"p": nil}}}, `{"add":{"path":"x","partitionValues":{"p":null},"size":0,"modificationTime":0,"dataChange":false}}`},
	} {
		text, err := action.Encode([]action.Action{c.a})
		require.NoError(t, err)
		require.Equal(t, c.want+"\n", string(text), c.name)
	}
}

func TestForeignCommitInfo(t *testing.T) {
	actions, err := action.Decode([]byte(`{"commitInfo":{"timestamp":"soon","operation":7,"operationParameters":{"a":true,"b":"x","c":{"d":[1]},"e":null},"operationMetrics":[],"isBlindAppend":"yes","txnId":"t","inCommitTimestamp":12,"job":{"jobId":"j"}}}
{"somethingNew":{"x":1}}

{"add":{"path":"x","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"surprise":[]}}`))
	require.NoError(t, err)
	require.Len(t, actions, 3)
	info := actions[0].CommitInfo
	require.Equal(t, "t", info.TxnID)
	require.EqualValues(t, 12, *info.InCommitTimestamp)
	require.Nil(t, info.IsBlindAppend)
	require.Equal(t, map[string]string{"a": "true", "b": "x", "c": `{"d":[1]}`, "e": "null"}, info.OperationParameters)
	require.Equal(t, action.Action{}, actions[1])
	_, err = action.Decode([]byte("{\"add\":{\"path\":1}}"))
	require.ErrorContains(t, err, "line 1")
	_, err = action.Decode([]byte(`{"commitInfo":{}}` + "\n" + `{"add":{"pa`))
	require.ErrorContains(t, err, "line 2")
}

func TestPaths(t *testing.T) {
	for _, raw := range []string{
		"part-0.parquet", "_2=bar+%21/x", "p=a%2Fb/x y é.parquet", "x%20x=1/f", "a:b$&'()*+,;=@~!/c", "%", "\x01\x7f", "c#d?e\"",
	} {
		decoded, err := action.DecodePath(action.EncodePath(raw))
		require.NoError(t, err)
		require.Equal(t, raw, decoded)
	}
	require.Equal(t, "_2=bar+%252521", action.EncodePath("_2=bar+%2521"), "value bar+%21 is escaped for the directory, and once more for the URI")
	for text, want := range map[string]string{"/a/b": "/a/b", "file:/a/b": "/a/b", "file:///a/b": "/a/b", "s3://k/x%20y": "s3://k/x y", "a%20b": "a b"} {
		got, err := action.DecodePath(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, want != "a b", action.IsAbsolute(got))
	}
	_, err := action.DecodePath("a%2")
	require.Error(t, err)
	require.False(t, action.IsAbsolute("p=a://b"))
}

func FuzzPath(f *testing.F) {
	f.Add("a b/%20é")
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := action.DecodePath(action.EncodePath(raw))
		require.NoError(t, err)
		require.Equal(t, raw, got)
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"add":{"path":"x","partitionValues":{"p":null},"size":1,"modificationTime":1,"dataChange":true}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		actions, err := action.Decode(text)
		if err != nil {
			return
		}
		written, err := action.Encode(actions)
		require.NoError(t, err)
		again, err := action.Decode(written)
		require.NoError(t, err)
		rewritten, err := action.Encode(again)
		require.NoError(t, err)
		require.Equal(t, string(written), string(rewritten))
	})
}

func TestValidate(t *testing.T) {
	vector := &action.DeletionVector{StorageType: "u", PathOrInlineDV: "v"}
	add := func(path string, v *action.DeletionVector) action.Action {
		return action.Action{Add: &action.Add{Path: path, DeletionVector: v}}
	}
	remove := func(path string, v *action.DeletionVector) action.Action {
		return action.Action{Remove: &action.Remove{Path: path, DeletionVector: v}}
	}
	for _, c := range []struct {
		name    string
		actions []action.Action
		want    string
	}{
		{"two txns of one application", []action.Action{{Txn: &action.Txn{AppID: "a"}}, {Txn: &action.Txn{AppID: "a", Version: 1}}}, "appId"},
		{"txns of two applications", []action.Action{{Txn: &action.Txn{AppID: "a"}}, {Txn: &action.Txn{AppID: "b"}}}, ""},
		{"two metaData", []action.Action{{Metadata: &action.Metadata{}}, {Metadata: &action.Metadata{}}}, "metaData"},
		{"a path twice, written differently", []action.Action{add("a b", nil), add("a%20b", nil)}, "twice"},
		{"another deletion vector", []action.Action{remove("x", nil), add("x", vector)}, ""},
		{"the same deletion vector", []action.Action{remove("x", vector), add("x", vector)}, "same deletion vector"},
		{"no path", []action.Action{add("", nil)}, "no path"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := action.Validate(c.actions)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestProtocolWith(t *testing.T) {
	for _, c := range []struct{ name, from, want string }{
		{"nothing missing", `{"minReaderVersion":1,"minWriterVersion":4}`, `{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["timestampNtz"],"writerFeatures":["appendOnly","invariants","checkConstraints","changeDataFeed","generatedColumns","timestampNtz"]}`},
		{"plain", `{"minReaderVersion":1,"minWriterVersion":2}`, `{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["timestampNtz"],"writerFeatures":["appendOnly","invariants","timestampNtz"]}`},
		{"column mapping", `{"minReaderVersion":2,"minWriterVersion":5}`, `{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["columnMapping","timestampNtz"],"writerFeatures":["appendOnly","invariants","checkConstraints","changeDataFeed","generatedColumns","columnMapping","timestampNtz"]}`},
		{"writer features only", `{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["appendOnly"]}`, `{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["timestampNtz"],"writerFeatures":["appendOnly","timestampNtz"]}`},
		{"it has it", `{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["timestampNtz"],"writerFeatures":["timestampNtz"]}`, `{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["timestampNtz"],"writerFeatures":["timestampNtz"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var from action.Protocol
			require.NoError(t, json.Unmarshal([]byte(c.from), &from))
			got, err := json.Marshal(from.With(action.TimestampNTZ))
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(got))
		})
	}
	changed := action.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}.With(action.ChangeDataFeed)
	require.Equal(t, 1, changed.MinReaderVersion, "a feature of writers asks nothing of readers")
	require.Empty(t, changed.ReaderFeatures)
}
