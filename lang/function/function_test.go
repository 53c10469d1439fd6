package function_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/streamform/streamform/lang/function"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyfunction "github.com/zclconf/go-cty/cty/function"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

func table(t *testing.T) (map[string]ctyfunction.Function, string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("héllo"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bin"), []byte{0xff, 0xfe}, 0o600))
	return function.Table(function.NewFiles(dir)), dir
}

func call(t *testing.T, table map[string]ctyfunction.Function, name, args string) (cty.Value, error) {
	t.Helper()
	ty, err := ctyjson.ImpliedType([]byte(args))
	require.NoError(t, err)
	v, err := ctyjson.Unmarshal([]byte(args), ty)
	require.NoError(t, err)
	f, ok := table[name]
	require.True(t, ok, name)
	vals := v.AsValueSlice()
	for i, p := range f.Params() { // as the evaluator does before it calls
		if i < len(vals) {
			if vals[i], err = convert.Convert(vals[i], p.Type); err != nil {
				return cty.NilVal, err
			}
		}
	}
	return f.Call(vals)
}

func TestResults(t *testing.T) {
	fs, _ := table(t)
	for _, c := range []struct{ name, args, want string }{
		{"length", `["e\u0301a"]`, `2`}, {"length", `[[1,2,3]]`, `3`}, {"length", `[{"a":1}]`, `1`},
		{"alltrue", `[[]]`, `true`}, {"alltrue", `[[true,false]]`, `false`}, {"alltrue", `[[true,null]]`, `false`},
		{"anytrue", `[[]]`, `false`}, {"anytrue", `[[false,true]]`, `true`}, {"anytrue", `[[null]]`, `false`},
		{"coalesce", `[null,"","x","y"]`, `"x"`}, {"coalesce", `[null,0,1]`, `0`},
		{"index", `[["a","b"],"b"]`, `1`},
		{"lookup", `[{"a":1,"b":"x"},"b"]`, `"x"`}, {"lookup", `[{"a":1},"z",9]`, `9`},
		{"matchkeys", `[["i1","i2","i3"],["a","b","a"],["a"]]`, `["i1","i3"]`}, {"matchkeys", `[["i1"],["a"],["z"]]`, `[]`},
		{"one", `[[5]]`, `5`}, {"one", `[[]]`, `null`},
		{"sum", `[[1,2.5]]`, `3.5`},
		{"transpose", `[{"a":["x","y"],"b":["y"]}]`, `{"x":["a"],"y":["a","b"]}`},
		{"startswith", `["abc","ab"]`, `true`}, {"endswith", `["abc","ab"]`, `false`}, {"strcontains", `["abc","b"]`, `true`},
		{"replace", `["a.b.c",".","-"]`, `"a-b-c"`}, {"replace", `["a1b22","/[0-9]+/","#"]`, `"a#b#"`}, {"replace", `["ab","/(a)(b)/","$2$1"]`, `"ba"`},
		{"timecmp", `["2026-01-01T00:00:00Z","2026-01-01T01:00:00+01:00"]`, `0`},
		{"timeadd", `["2026-01-01T00:00:00Z","1h"]`, `"2026-01-01T01:00:00Z"`},
		{"md5", `["a"]`, `"0cc175b9c0f1b6a831c399e269772661"`}, {"sha256", `[""]`, `"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`},
		{"base64encode", `["hé"]`, `"aMOp"`}, {"base64decode", `["aMOp"]`, `"hé"`}, {"urlencode", `["a b/c"]`, `"a+b%2Fc"`},
		{"filebase64", `["bin"]`, `"//4="`}, {"file", `["a.txt"]`, `"héllo"`}, {"fileexists", `["a.txt"]`, `true`}, {"fileexists", `["b.txt"]`, `false`},
		{"basename", `["a/b.txt"]`, `"b.txt"`}, {"dirname", `["a/b.txt"]`, `"a"`},
		{"cidrhost", `["10.12.112.0/20",268]`, `"10.12.113.12"`}, {"cidrhost", `["10.0.0.0/24",-1]`, `"10.0.0.255"`}, {"cidrnetmask", `["172.16.0.0/12"]`, `"255.240.0.0"`},
		{"cidrsubnet", `["172.16.0.0/12",4,2]`, `"172.18.0.0/16"`}, {"cidrsubnet", `["fd00:fd12:3456:7890::/56",16,162]`, `"fd00:fd12:3456:7800:a200::/72"`},
		{"cidrsubnets", `["10.1.0.0/16",4,4,8,4]`, `["10.1.0.0/20","10.1.16.0/20","10.1.32.0/24","10.1.48.0/20"]`},
		{"cidrsubnets", `["255.255.255.254/31",1,1]`, `["255.255.255.254/32","255.255.255.255/32"]`},
		{"tolist", `[["a","a"]]`, `["a","a"]`}, {"yamldecode", `["a: [1, x]"]`, `{"a":[1,"x"]}`}, {"jsonencode", `[{"b":1,"a":null}]`, `"{\"a\":null,\"b\":1}"`},
		{"regex", `["[a-z]+","12ab"]`, `"ab"`}, {"format", `["%03d %s",7,"x"]`, `"007 x"`}, {"merge", `[{"a":1},{"b":2}]`, `{"a":1,"b":2}`},
	} {
		got, err := call(t, fs, c.name, c.args)
		require.NoError(t, err, c.name+c.args)
		data, err := ctyjson.Marshal(got, got.Type())
		require.NoError(t, err)
		require.JSONEq(t, c.want, string(data), c.name+c.args)
	}
}

func TestFailures(t *testing.T) {
	fs, dir := table(t)
	for _, c := range []struct{ name, args, want string }{
		{"length", `[5]`, "a string, a list"}, {"sum", `[[]]`, "the sum of no numbers"}, {"one", `[[1,2]]`, "at most one element is allowed, there are 2"},
		{"index", `[["a"],"b"]`, "does not hold"}, {"lookup", `[{"a":1},"z"]`, `no element "z"`}, {"matchkeys", `[["a"],[],[]]`, "same length"},
		{"coalesce", `[null,""]`, "null or empty"}, {"replace", `["a","/(/","b"]`, "missing closing"}, {"base64decode", `["//4="]`, "not UTF-8 text"}, {"base64decode", `["~"]`, "not base64"},
		{"file", `["bin"]`, "not UTF-8 text"}, {"file", `["no.sql"]`, `there is no file "no.sql"`}, {"file", `["."]`, "it is a folder"}, {"filesha1", `["no"]`, "there is no file"},
		{"cidrhost", `["10.0.0.0/30",4]`, "has only 4 addresses"}, {"cidrhost", `["x",4]`, "not a network"}, {"cidrsubnet", `["10.0.0.0/30",3,0]`, "no room for 3 more bits"},
		{"cidrsubnet", `["10.0.0.0/8",2,4]`, "do not number"}, {"cidrsubnets", `["10.0.0.0/30",1,1,1]`, "do not fit"}, {"cidrsubnets", `["255.255.255.254/31",1,1,1]`, "do not fit"}, {"cidrnetmask", `["::/8"]`, "not an IPv4 network"},
		{"timestamp", `[]`, "another result at every call"}, {"uuid", `[]`, "Use a variable"}, {"bcrypt", `["x"]`, "secret reference"},
		{"secret", `["hunter2"]`, "does not say where the secret is kept"}, {"timecmp", `["x","y"]`, "not a time"},
	} {
		_, err := call(t, fs, c.name, c.args)
		require.ErrorContains(t, err, c.want, c.name+c.args)
		require.NotContains(t, err.Error(), dir)
	}
}

func TestFilesAreReadOnce(t *testing.T) {
	fs, dir := table(t)
	for range 2 {
		got, err := call(t, fs, "file", `["a.txt"]`)
		require.NoError(t, err)
		require.Equal(t, "héllo", got.AsString())
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("changed"), 0o600))
	}
}

func TestMarks(t *testing.T) {
	fs, _ := table(t)
	secret, err := fs["sensitive"].Call([]cty.Value{cty.StringVal("x")})
	require.NoError(t, err)
	require.True(t, secret.HasMark(function.Sensitive))
	upper, err := fs["upper"].Call([]cty.Value{secret})
	require.NoError(t, err)
	require.True(t, upper.HasMark(function.Sensitive), "marks follow the value")
	is, err := fs["issensitive"].Call([]cty.Value{upper})
	require.NoError(t, err)
	require.True(t, is.True())
	plain, err := fs["nonsensitive"].Call([]cty.Value{upper})
	require.NoError(t, err)
	require.True(t, plain.RawEquals(cty.StringVal("X")))
	ref, err := call(t, fs, "secret", `["env:NAME"]`)
	require.NoError(t, err)
	require.True(t, ref.HasMark(function.SecretReference))
	v, _ := ref.Unmark()
	require.Equal(t, "secret:env:NAME", v.AsString())
	still, err := fs["nonsensitive"].Call([]cty.Value{ref})
	require.NoError(t, err)
	require.True(t, still.HasMark(function.SecretReference))
}
