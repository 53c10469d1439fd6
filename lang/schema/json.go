package schema

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// Marshal writes a complete value of the kind as JSON, as state, plans and the API hold it.
func (k Kind) Marshal(v cty.Value) ([]byte, error) {
	data, err := ctyjson.Marshal(v, k.ValueType())
	if err != nil {
		return nil, fmt.Errorf("writing %s as JSON: %w", k.Name(), err)
	}
	return data, nil
}

// Unmarshal reads what Marshal wrote, also by another version of the kind: fields
// this version does not have are dropped, fields the document does not have are null
// (which Bind and Changed take for their default).
func (k Kind) Unmarshal(data []byte) (cty.Value, error) {
	var doc any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return cty.NilVal, fmt.Errorf("reading %s from JSON: %w", k.Name(), err)
	}
	doc = prune(k.Fields(), doc)
	if doc == nil {
		return cty.NilVal, fmt.Errorf("reading %s from JSON: an object was expected", k.Name())
	}
	fitting, err := json.Marshal(doc)
	if err != nil {
		return cty.NilVal, fmt.Errorf("reading %s from JSON: %w", k.Name(), err)
	}
	v, err := ctyjson.Unmarshal(fitting, k.ValueType())
	if err != nil {
		return cty.NilVal, fmt.Errorf("reading %s from JSON: %w", k.Name(), err)
	}
	return v, nil
}

// prune makes an object of a document have exactly the fields.
func prune(fields []Field, doc any) any {
	object, ok := doc.(map[string]any)
	if !ok {
		return doc
	}
	out := make(map[string]any, len(fields))
	for _, f := range fields {
		v := object[f.Name]
		switch list, isList := v.([]any); {
		case f.Repeated && v == nil:
			out[f.Name] = []any{}
		case f.Repeated && isList:
			elems := make([]any, len(list))
			for i, e := range list {
				elems[i] = prune(f.Nested, e)
			}
			out[f.Name] = elems
		case f.Block:
			out[f.Name] = prune(f.Nested, v)
		default:
			out[f.Name] = v
		}
	}
	return out
}
