package lang

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/streamform/streamform/lang/addr"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// Hash identifies what a configuration says: its resources, settings, outputs and policies by
// value. Files, formatting, comments and how a value was computed do not matter. Saved plans are locked to it.
func Hash(cfg *Config) string {
	type resource struct {
		Address   string
		Value     json.RawMessage
		Lifecycle Lifecycle
	}
	type setting struct {
		Type  string
		Value json.RawMessage
	}
	type result struct {
		Name, Description string
		Sensitive         bool
		Value             json.RawMessage
	}
	type policy struct {
		Name            string
		MaxReplay       int64
		ProtectSinks    bool
		RequireApproval []string
		AppliesTo       []addr.Resource
	}
	doc := struct {
		Backend, Runtime setting
		Resources        []resource
		Outputs          []result
		Policies         []policy
		Moved            [][2]addr.Resource
	}{
		Backend: setting{cfg.Settings.Backend.Type, valueJSON(cfg.Settings.Backend.Value)},
		Runtime: setting{cfg.Settings.Runtime.Type, valueJSON(cfg.Settings.Runtime.Value)},
	}
	for _, r := range cfg.Resources {
		doc.Resources = append(doc.Resources, resource{r.Addr.String(), valueJSON(r.Value), r.Lifecycle})
	}
	for _, o := range cfg.Outputs {
		doc.Outputs = append(doc.Outputs, result{o.Name, o.Description, o.Sensitive, valueJSON(o.Value)})
	}
	for _, p := range cfg.Policies {
		doc.Policies = append(doc.Policies, policy{p.Name, p.MaxReplay, p.ProtectSinks, p.RequireApproval, p.AppliesTo})
	}
	for _, m := range cfg.Moved {
		doc.Moved = append(doc.Moved, [2]addr.Resource{m.From, m.To})
	}
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode(doc); err != nil {
		panic("lang: a configuration's values have no JSON form: " + err.Error())
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// valueJSON writes a value with its type, so that "1" and 1 differ. Values of a Config
// are known and unmarked, which always have a JSON form.
func valueJSON(v cty.Value) json.RawMessage {
	if v == cty.NilVal {
		return json.RawMessage("null")
	}
	data, err := ctyjson.Marshal(v, cty.DynamicPseudoType)
	if err != nil {
		panic("lang: a configuration's value has no JSON form: " + err.Error())
	}
	return data
}
