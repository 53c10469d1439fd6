package checkpoint

import (
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/streamform/streamform/runtime/delta/action"
)

// layout is the schema of a classic checkpoint: one nullable struct per kind of action, every leaf nullable.
func layout() *arrow.Schema {
	text, long, small, flag := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32, arrow.FixedWidthTypes.Boolean
	texts := arrow.ListOfField(arrow.Field{Name: "element", Type: text, Nullable: true})
	textMap := arrow.MapOf(text, text)
	vector := structOf("storageType", text, "pathOrInlineDv", text, "offset", small, "sizeInBytes", small, "cardinality", long)
	kinds := structOf(
		"txn", structOf("appId", text, "version", long, "lastUpdated", long),
		"add", structOf("path", text, "partitionValues", textMap, "size", long, "modificationTime", long, "dataChange", flag,
			"tags", textMap, "deletionVector", vector, "baseRowId", long, "defaultRowCommitVersion", long, "clusteringProvider", text, "stats", text),
		"remove", structOf("path", text, "deletionTimestamp", long, "dataChange", flag, "extendedFileMetadata", flag,
			"partitionValues", textMap, "size", long, "deletionVector", vector, "baseRowId", long, "defaultRowCommitVersion", long),
		"metaData", structOf("id", text, "name", text, "description", text, "format", structOf("provider", text, "options", textMap),
			"schemaString", text, "partitionColumns", texts, "configuration", textMap, "createdTime", long),
		"protocol", structOf("minReaderVersion", small, "minWriterVersion", small, "readerFeatures", texts, "writerFeatures", texts),
		"domainMetadata", structOf("domain", text, "configuration", text, "removed", flag),
		"checkpointMetadata", structOf("version", long, "tags", textMap),
	)
	return arrow.NewSchema(kinds.Fields(), nil)
}

// structOf makes a struct type of name, type pairs.
func structOf(pairs ...any) *arrow.StructType {
	fields := make([]arrow.Field, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		fields = append(fields, arrow.Field{Name: pairs[i].(string), Type: pairs[i+1].(arrow.DataType), Nullable: true})
	}
	return arrow.StructOf(fields...)
}

// members are the values of one struct, by name; those that are missing or nil become NULL.
type members map[string]any

// part is where the values of one column, or of a member of a struct, go. Builders make their types anew whenever they are
// asked for them, so the names are kept beside them.
type part struct {
	name    string
	builder array.Builder
	members []part // of a struct
}

func parts(fields []arrow.Field, builder func(i int) array.Builder) []part {
	out := make([]part, len(fields))
	for i, f := range fields {
		out[i] = part{name: f.Name, builder: builder(i)}
		if s, ok := f.Type.(*arrow.StructType); ok {
			out[i].members = parts(s.Fields(), out[i].builder.(*array.StructBuilder).FieldBuilder)
		}
	}
	return out
}

// appendAction adds one row: its action in its own column, NULL in the others.
func appendAction(columns []part, a action.Action) {
	column, values := describe(a)
	for _, c := range columns {
		if c.name == column {
			c.appendMembers(values)
		} else {
			c.builder.AppendNull()
		}
	}
}

func describe(a action.Action) (column string, values members) {
	switch {
	case a.Add != nil:
		f := a.Add
		return "add", members{
			"path": f.Path, "partitionValues": present(f.PartitionValues), "size": f.Size, "modificationTime": f.ModificationTime,
			"dataChange": f.DataChange, "tags": f.Tags, "deletionVector": vector(f.DeletionVector), "baseRowId": f.BaseRowID,
			"defaultRowCommitVersion": f.DefaultRowCommitVersion, "clusteringProvider": orNull(f.ClusteringProvider), "stats": orNull(f.Stats),
		}
	case a.Remove != nil:
		r := a.Remove
		return "remove", members{
			"path": r.Path, "deletionTimestamp": r.DeletionTimestamp, "dataChange": r.DataChange, "extendedFileMetadata": r.ExtendedFileMetadata,
			"partitionValues": r.PartitionValues, "size": r.Size, "deletionVector": vector(r.DeletionVector),
			"baseRowId": r.BaseRowID, "defaultRowCommitVersion": r.DefaultRowCommitVersion,
		}
	case a.Metadata != nil:
		return "metaData", metadata(a.Metadata)
	case a.Protocol != nil:
		return "protocol", members{
			"minReaderVersion": int64(a.Protocol.MinReaderVersion), "minWriterVersion": int64(a.Protocol.MinWriterVersion),
			"readerFeatures": a.Protocol.ReaderFeatures, "writerFeatures": a.Protocol.WriterFeatures,
		}
	case a.Txn != nil:
		updated := &a.Txn.LastUpdated
		if *updated == 0 {
			updated = nil
		}
		return "txn", members{"appId": a.Txn.AppID, "version": a.Txn.Version, "lastUpdated": updated}
	case a.DomainMetadata != nil:
		return "domainMetadata", members{"domain": a.DomainMetadata.Domain, "configuration": a.DomainMetadata.Configuration, "removed": a.DomainMetadata.Removed}
	}
	return "checkpointMetadata", members{"version": a.CheckpointMetadata.Version, "tags": a.CheckpointMetadata.Tags}
}

func metadata(m *action.Metadata) members {
	partitions, configuration, options := m.PartitionColumns, m.Configuration, m.Format.Options
	if partitions == nil {
		partitions = []string{}
	}
	if configuration == nil {
		configuration = map[string]string{}
	}
	if options == nil {
		options = map[string]string{}
	}
	values := members{
		"id": m.ID, "name": orNull(m.Name), "description": orNull(m.Description), "schemaString": orNull(m.SchemaString),
		"format": members{"provider": m.Format.Provider, "options": options}, "partitionColumns": partitions, "configuration": configuration,
	}
	if m.CreatedTime != 0 {
		values["createdTime"] = m.CreatedTime
	}
	return values
}

func vector(v *action.DeletionVector) members {
	if v == nil {
		return nil
	}
	values := members{
		"storageType": v.StorageType, "pathOrInlineDv": v.PathOrInlineDV,
		"sizeInBytes": int64(v.SizeInBytes), "cardinality": v.Cardinality,
	}
	if v.Offset != nil {
		values["offset"] = int64(*v.Offset)
	}
	return values
}

// present makes an absent map an empty one: partitionValues of an add is never NULL.
func present(m map[string]*string) map[string]*string {
	if m == nil {
		return map[string]*string{}
	}
	return m
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func (p part) appendMembers(values members) {
	p.builder.(*array.StructBuilder).Append(true)
	for _, m := range p.members {
		m.appendValue(values[m.name])
	}
}

// appendValue adds one value; nil pointers, lists and maps are NULL.
func (p part) appendValue(value any) {
	b := p.builder
	switch v := value.(type) {
	case string:
		b.(*array.StringBuilder).Append(v)
		return
	case bool:
		b.(*array.BooleanBuilder).Append(v)
		return
	case int64:
		appendInteger(b, v)
		return
	case *int64:
		if v != nil {
			appendInteger(b, *v)
			return
		}
	case []string:
		if v != nil {
			appendTexts(b.(*array.ListBuilder), v)
			return
		}
	case map[string]string:
		if v != nil {
			nullable := make(map[string]*string, len(v))
			for key, text := range v {
				nullable[key] = &text
			}
			appendMap(b.(*array.MapBuilder), nullable)
			return
		}
	case map[string]*string:
		if v != nil {
			appendMap(b.(*array.MapBuilder), v)
			return
		}
	case members:
		if v != nil {
			p.appendMembers(v)
			return
		}
	}
	b.AppendNull()
}

func appendInteger(b array.Builder, v int64) {
	if narrow, ok := b.(*array.Int32Builder); ok {
		narrow.Append(int32(v))
		return
	}
	b.(*array.Int64Builder).Append(v)
}

func appendTexts(b *array.ListBuilder, texts []string) {
	b.Append(true)
	for _, t := range texts {
		b.ValueBuilder().(*array.StringBuilder).Append(t)
	}
}

func appendMap(b *array.MapBuilder, entries map[string]*string) {
	b.Append(true)
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		b.KeyBuilder().(*array.StringBuilder).Append(key)
		items := b.ItemBuilder().(*array.StringBuilder)
		if text := entries[key]; text != nil {
			items.Append(*text)
		} else {
			items.AppendNull()
		}
	}
}
