package memory

// NoShelves says of keys that they have no rows yet.
func NoShelves(rows map[string][][]byte) map[string]*Shelf {
	out := make(map[string]*Shelf, len(rows))
	for key := range rows {
		out[key] = nil
	}
	return out
}
