package snapshot

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/streamform/streamform/runtime/delta/action"
)

// row is one struct value of a checkpoint's column. Members that are missing or NULL read as their zero value.
type row struct {
	values *array.Struct
	at     int
}

func (r row) action(column string) (action.Action, error) {
	switch column {
	case "add":
		return action.Action{Add: r.add()}, nil
	case "remove":
		return action.Action{Remove: r.remove()}, nil
	case "metaData":
		return action.Action{Metadata: r.metadata()}, nil
	case "protocol":
		return action.Action{Protocol: &action.Protocol{
			MinReaderVersion: int(r.long("minReaderVersion")), MinWriterVersion: int(r.long("minWriterVersion")),
			ReaderFeatures: r.texts("readerFeatures"), WriterFeatures: r.texts("writerFeatures"),
		}}, nil
	case "txn":
		return action.Action{Txn: &action.Txn{AppID: r.text("appId"), Version: r.long("version"), LastUpdated: r.long("lastUpdated")}}, nil
	case "domainMetadata":
		return action.Action{DomainMetadata: &action.DomainMetadata{
			Domain: r.text("domain"), Configuration: r.text("configuration"), Removed: r.boolean("removed"),
		}}, nil
	case "sidecar":
		return action.Action{Sidecar: &action.Sidecar{
			Path: r.text("path"), SizeInBytes: r.long("sizeInBytes"), ModificationTime: r.long("modificationTime"), Tags: r.tags("tags"),
		}}, nil
	}
	return action.Action{CheckpointMetadata: &action.CheckpointMetadata{Version: r.long("version"), Tags: r.tags("tags")}}, nil
}

func (r row) add() *action.Add {
	a := &action.Add{
		Path: r.text("path"), PartitionValues: r.textMap("partitionValues"), Size: r.long("size"),
		ModificationTime: r.long("modificationTime"), DataChange: r.boolean("dataChange"), Stats: r.text("stats"), Tags: r.tags("tags"),
		DeletionVector: r.vector(), BaseRowID: r.longOrNil("baseRowId"), DefaultRowCommitVersion: r.longOrNil("defaultRowCommitVersion"),
		ClusteringProvider: r.text("clusteringProvider"),
	}
	if parsed, ok := r.member("stats_parsed"); ok && a.Stats == "" {
		a.Stats = statsText(parsed)
	}
	return a
}

func (r row) remove() *action.Remove {
	return &action.Remove{
		Path: r.text("path"), DeletionTimestamp: r.long("deletionTimestamp"), DataChange: r.boolean("dataChange"),
		ExtendedFileMetadata: r.boolean("extendedFileMetadata"), PartitionValues: r.textMap("partitionValues"),
		Size: r.longOrNil("size"), DeletionVector: r.vector(),
		BaseRowID: r.longOrNil("baseRowId"), DefaultRowCommitVersion: r.longOrNil("defaultRowCommitVersion"),
	}
}

func (r row) metadata() *action.Metadata {
	m := &action.Metadata{
		ID: r.text("id"), Name: r.text("name"), Description: r.text("description"), SchemaString: r.text("schemaString"),
		PartitionColumns: r.texts("partitionColumns"), Configuration: r.tags("configuration"), CreatedTime: r.long("createdTime"),
	}
	if format, ok := r.member("format"); ok {
		m.Format = action.Format{Provider: format.text("provider"), Options: format.tags("options")}
	}
	return m
}

func (r row) vector() *action.DeletionVector {
	v, ok := r.member("deletionVector")
	if !ok || v.text("storageType") == "" {
		return nil
	}
	out := &action.DeletionVector{
		StorageType: v.text("storageType"), PathOrInlineDV: v.text("pathOrInlineDv"),
		SizeInBytes: int32(v.long("sizeInBytes")), Cardinality: v.long("cardinality"),
	}
	if offset := v.longOrNil("offset"); offset != nil {
		narrow := int32(*offset)
		out.Offset = &narrow
	}
	return out
}

// field returns a member's column; ok is false when it is missing or NULL here.
func (r row) field(name string) (arrow.Array, bool) {
	i, ok := r.values.DataType().(*arrow.StructType).FieldIdx(name)
	if !ok {
		return nil, false
	}
	f := r.values.Field(i)
	return f, !f.IsNull(r.at)
}

func (r row) member(name string) (row, bool) {
	f, ok := r.field(name)
	if !ok {
		return row{}, false
	}
	s, ok := f.(*array.Struct)
	return row{values: s, at: r.at}, ok
}

func (r row) text(name string) string {
	f, ok := r.field(name)
	if !ok {
		return ""
	}
	return textAt(f, r.at)
}

func (r row) long(name string) int64 {
	if v := r.longOrNil(name); v != nil {
		return *v
	}
	return 0
}

func (r row) longOrNil(name string) *int64 {
	f, ok := r.field(name)
	if !ok {
		return nil
	}
	var v int64
	switch f := f.(type) {
	case *array.Int64:
		v = f.Value(r.at)
	case *array.Int32:
		v = int64(f.Value(r.at))
	default:
		return nil
	}
	return &v
}

func (r row) boolean(name string) bool {
	f, ok := r.field(name)
	if !ok {
		return false
	}
	b, ok := f.(*array.Boolean)
	return ok && b.Value(r.at)
}

// texts reads a list of text; nil when it is NULL or empty.
func (r row) texts(name string) []string {
	f, ok := r.field(name)
	if !ok {
		return nil
	}
	list, ok := f.(array.ListLike)
	if !ok {
		return nil
	}
	start, end := list.ValueOffsets(r.at)
	var out []string
	for i := start; i < end; i++ {
		out = append(out, textAt(list.ListValues(), int(i)))
	}
	return out
}

// textMap reads a map of text to text; nil when it is NULL.
func (r row) textMap(name string) map[string]*string {
	f, ok := r.field(name)
	if !ok {
		return nil
	}
	entries, ok := f.(*array.Map)
	if !ok {
		return nil
	}
	start, end := entries.ValueOffsets(r.at)
	out := make(map[string]*string, end-start)
	for i := int(start); i < int(end); i++ {
		out[textAt(entries.Keys(), i)] = nil
		if !entries.Items().IsNull(i) {
			value := textAt(entries.Items(), i)
			out[textAt(entries.Keys(), i)] = &value
		}
	}
	return out
}

// tags reads a map of text to text; NULL values read as empty text.
func (r row) tags(name string) map[string]string {
	entries := r.textMap(name)
	if entries == nil {
		return nil
	}
	out := make(map[string]string, len(entries))
	for k, v := range entries {
		out[k] = ""
		if v != nil {
			out[k] = *v
		}
	}
	return out
}

func textAt(values arrow.Array, i int) string {
	switch v := values.(type) {
	case *array.String:
		return v.Value(i)
	case *array.LargeString:
		return v.Value(i)
	case *array.Binary:
		return string(v.Value(i))
	case *array.Dictionary:
		return textAt(v.Dictionary(), v.GetValueIndex(i))
	}
	return ""
}
