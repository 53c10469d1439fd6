package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/streamform/streamform/lang/addr"
)

// upgrade turns a document of one version, as JSON, into the next version.
type upgrade func(doc map[string]any) error

// upgrades lists the upgrade out of each older version. Version 1 is the first there is.
func upgrades() map[int]upgrade { return map[int]upgrade{1: giveIDs} }

// giveIDs makes the address of each resource its ID: no two that are recorded share one, and the identities of queries
// hold the addresses of sources already. What the record says of the queries above streams and views is then told
// anew by the compiler, which finds that they mean what they meant.
func giveIDs(doc map[string]any) error {
	list, _ := doc["resources"].([]any)
	for _, entry := range list {
		if r, ok := entry.(map[string]any); ok {
			r["id"] = r["address"]
		}
	}
	return nil
}

// Decode reads a document, upgrading older versions. A document that cannot be
// used is a *CorruptedError or a *NewerError.
func Decode(data []byte) (*Document, error) { return decode(data, Version, upgrades()) }

func decode(data []byte, current int, from map[int]upgrade) (*Document, error) {
	var head struct {
		Version           *int   `json:"version"`
		StreamformVersion string `json:"streamform_version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, &CorruptedError{Reason: "it is not JSON of the expected shape: " + jsonReason(data, err)}
	}
	switch {
	case head.Version == nil:
		return nil, &CorruptedError{Reason: `it has no "version"`}
	case *head.Version < 1:
		return nil, &CorruptedError{Reason: fmt.Sprintf("there is no version %d of the format", *head.Version)}
	case *head.Version > current:
		return nil, &NewerError{Found: *head.Version, Supported: current, Writer: head.StreamformVersion}
	}
	data, err := upgraded(data, *head.Version, current, from)
	if err != nil {
		return nil, err
	}
	d := &Document{}
	if err := json.Unmarshal(data, d); err != nil {
		return nil, &CorruptedError{Reason: jsonReason(data, err)}
	}
	if reason := d.broken(); reason != "" {
		return nil, &CorruptedError{Reason: reason}
	}
	return d, nil
}

func upgraded(data []byte, version, current int, from map[int]upgrade) ([]byte, error) {
	if version == current {
		return data, nil
	}
	doc := map[string]any{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return nil, &CorruptedError{Reason: jsonReason(data, err)}
	}
	for v := version; v < current; v++ {
		up, ok := from[v]
		if !ok {
			return nil, &CorruptedError{Reason: fmt.Sprintf("there is no version %d of the format", v)}
		}
		if err := up(doc); err != nil {
			return nil, &CorruptedError{Reason: fmt.Sprintf("it cannot be upgraded from version %d: %v", v, err)}
		}
		doc["version"] = v + 1
	}
	out, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("upgrading the state: %w", err)
	}
	return out, nil
}

// broken says what a hand must have done to a document that is JSON of the right shape; empty when nothing.
func (d *Document) broken() string {
	if d.Lineage == "" {
		return `it has no "lineage"`
	}
	if d.Serial < 0 {
		return fmt.Sprintf("its serial is %d", d.Serial)
	}
	seen := make(map[addr.Resource]bool, len(d.Resources))
	owners := make(map[string]addr.Resource, len(d.Resources))
	for i, r := range d.Resources {
		switch {
		case r.Addr == addr.Resource{}:
			return fmt.Sprintf("entry %d of its resources has no address", i+1)
		case seen[r.Addr]:
			return fmt.Sprintf("%s is recorded twice", r.Addr)
		case r.Status != Applied && r.Status != Building:
			return fmt.Sprintf("%s has the unknown status %q", r.Addr, r.Status)
		case !isObject(r.Attributes):
			return fmt.Sprintf("the attributes of %s are not an object", r.Addr)
		case r.ID == "":
			return fmt.Sprintf("%s has no ID", r.Addr)
		}
		if other, taken := owners[r.ID]; taken {
			return fmt.Sprintf("%s and %s have the same ID", other, r.Addr)
		}
		seen[r.Addr], owners[r.ID] = true, r.Addr
	}
	for name, o := range d.Outputs {
		if o.Sensitive == (o.Digest == "") {
			return fmt.Sprintf("output %q must have a digest exactly when it is sensitive", name)
		}
	}
	return ""
}

func isObject(raw json.RawMessage) bool {
	trimmed := bytes.TrimLeft(raw, " \t\r\n")
	return len(trimmed) > 0 && trimmed[0] == '{'
}

// jsonReason says where JSON goes wrong, by line: what a person with an editor needs.
func jsonReason(data []byte, err error) string {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("line %d: %v", lineOf(data, syntax.Offset), err)
	case errors.As(err, &typed):
		return fmt.Sprintf("line %d: %q is a %s", lineOf(data, typed.Offset), typed.Field, typed.Value)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early"
	}
	return err.Error()
}

func lineOf(data []byte, offset int64) int {
	offset = min(max(offset, 0), int64(len(data)))
	return bytes.Count(data[:offset], []byte("\n")) + 1
}

// Encode writes a document: indented, resources by address, with a newline at its end. Equal documents give equal bytes.
func Encode(d *Document) ([]byte, error) {
	out := *d
	out.Resources = slices.Clone(d.Resources)
	slices.SortFunc(out.Resources, func(a, b Resource) int { return a.Addr.Compare(b.Addr) })
	if out.Resources == nil {
		out.Resources = []Resource{}
	}
	if out.Outputs == nil {
		out.Outputs = map[string]Output{}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		return nil, fmt.Errorf("writing the state as JSON: %w", err)
	}
	return b.Bytes(), nil
}
