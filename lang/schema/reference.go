package schema

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// Markdown is the kind's page of the reference: sentence, example, and a table of name,
// type, default, meaning and cost of changing, with a further table for each nested block.
func Markdown(k Kind) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", k.Name(), k.Doc)
	if k.Example != "" {
		fmt.Fprintf(&b, "```hcl\n%s\n```\n\n", strings.TrimSpace(k.Example))
	}
	if len(k.Sides) > 0 {
		fmt.Fprintf(&b, "Side relations: `.%s`.\n\n", strings.Join(k.Sides, "`, `."))
	}
	b.WriteString("Like every block, it takes `for_each` or `count` ([many of a kind](../guides/many-of-a-kind.md)) and `lifecycle`.\n\n")
	markdownTable(&b, k.Fields(), "## Attributes")
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func markdownTable(b *strings.Builder, fields []Field, heading string) {
	if len(fields) == 0 {
		return
	}
	fmt.Fprintf(b, "%s\n\n| name | type | default | meaning | cost of changing |\n|---|---|---|---|---|\n", heading)
	for _, f := range fields {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", f.Name, typeWord(f), defaultWord(f), cell(meaning(f)), f.Cost)
	}
	b.WriteString("\n")
	for _, f := range fields {
		if f.Block {
			markdownTable(b, f.Nested, fmt.Sprintf("## Block `%s`", f.Name))
		}
	}
}

func typeWord(f Field) string {
	switch {
	case f.Block && f.Labeled:
		return "blocks with a label"
	case f.Block && f.Repeated:
		return "blocks"
	case f.Block:
		return "block"
	case f.Secret:
		return "secret"
	case f.Type == cty.List(cty.String) && f.Refs:
		return "list of references"
	case f.Format == FormatSQL:
		return "SQL"
	case f.Format != "":
		return f.Format
	}
	return f.Type.FriendlyName()
}

func defaultWord(f Field) string {
	switch {
	case f.Required:
		return "required"
	case f.Default == cty.NilVal:
		return "none"
	}
	return "`" + jsonText(f.Default) + "`"
}

func jsonText(v cty.Value) string {
	data, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return v.GoString() // a default is a plain value, which always has a JSON form
	}
	return string(data)
}

func meaning(f Field) string {
	text := f.Doc
	if len(f.OneOf) > 0 {
		text += " One of `" + strings.Join(f.OneOf, "`, `") + "`."
	}
	if f.Min != cty.NilVal {
		text += " At least " + f.boundText(f.Min) + "."
	}
	if f.Max != cty.NilVal {
		text += " At most " + f.boundText(f.Max) + "."
	}
	return text
}

func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "|", `\|`), "\n", " ")
}

// JSONSchema is the JSON Schema (2020-12) of the kind's attributes as a user writes them in JSON.
func JSONSchema(k Kind) ([]byte, error) {
	doc := jsonObject(k.Fields())
	doc["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	doc["title"] = k.Name()
	doc["description"] = k.Doc
	doc["properties"].(map[string]any)["for_each"] = map[string]any{"description": "A map, or a list of texts that are all different: the block makes an instance of each.", "type": []string{"object", "array"}}
	doc["properties"].(map[string]any)["count"] = map[string]any{"description": "The block makes as many instances.", "type": "integer", "minimum": 0}
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the JSON Schema of %s: %w", k.Name(), err)
	}
	return append(data, '\n'), nil
}

func jsonObject(fields []Field) map[string]any {
	props := map[string]any{}
	required := []string{}
	for _, f := range fields {
		props[f.Name] = jsonField(f)
		if f.Required {
			required = append(required, f.Name)
		}
	}
	doc := map[string]any{"type": "object", "properties": props, "additionalProperties": false}
	if len(required) > 0 {
		doc["required"] = required
	}
	return doc
}

func jsonField(f Field) map[string]any {
	var doc map[string]any
	text := map[string]any{"type": "string"}
	if len(f.OneOf) > 0 {
		text["enum"] = f.OneOf
	}
	switch {
	case f.Block:
		doc = jsonObject(f.Nested)
		if f.Repeated {
			doc = map[string]any{"type": "array", "items": doc}
		}
	case f.Type.IsListType():
		doc = map[string]any{"type": "array", "items": text}
	case f.Type.IsMapType():
		doc = map[string]any{"type": "object", "additionalProperties": text}
	case f.Type == cty.String:
		doc = text
	case f.Type == cty.Bool:
		doc = map[string]any{"type": "boolean"}
	default:
		doc = map[string]any{"type": "number"}
		jsonBounds(doc, f)
	}
	doc["description"] = f.Doc
	if f.Default != cty.NilVal {
		doc["default"] = json.RawMessage(jsonText(f.Default))
	}
	if f.Secret {
		doc["writeOnly"] = true
	}
	return doc
}

func jsonBounds(doc map[string]any, f Field) {
	if f.Min != cty.NilVal {
		doc["minimum"] = json.RawMessage(jsonText(f.Min))
	}
	if f.Max != cty.NilVal {
		doc["maximum"] = json.RawMessage(jsonText(f.Max))
	}
}
