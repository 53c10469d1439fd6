package bound

// ScanColumns are the names of the columns a scan hands on, empty for a row id.
func (o *Op) ScanColumns() ([]string, error) {
	var all []string
	for _, c := range o.ColumnIndexes {
		i, err := c.Index.Int64()
		if err != nil || i >= int64(len(o.Names)) {
			all = append(all, "")
			continue
		}
		all = append(all, o.Names[i])
	}
	if len(o.ProjectionIDs) == 0 {
		return all, nil
	}
	var out []string
	for _, p := range o.ProjectionIDs {
		if p < 0 || p >= len(all) {
			return nil, Unsupportedf(ByForm, "a scan of an unknown form")
		}
		out = append(out, all[p])
	}
	return out, nil
}

// ScanFilters are the filters pushed into a scan, as SQL over its columns' names.
func (o *Op) ScanFilters() ([]string, error) {
	var where []string
	for _, f := range o.TableFilters.Filters {
		if f.Key < 0 || f.Key >= len(o.Names) {
			return nil, Unsupportedf(ByForm, "a filter on the row identifier")
		}
		text, err := f.Value.SQL(Ident(o.Names[f.Key]))
		if err != nil {
			return nil, err
		}
		where = append(where, text)
	}
	return where, nil
}
