package memory

// Chosen shows no more of an operator's memory than the given keys, whatever is asked for.
type Chosen struct {
	Memory
	Keys [][]byte
}

// Scan visits the chosen keys that are there.
func (c Chosen) Scan(fn func(key, value []byte) error) error {
	values, err := Get(c.Memory, c.Keys)
	if err != nil {
		return err
	}
	for i, v := range values {
		if v == nil {
			continue
		}
		if err := fn(c.Keys[i], v); err != nil {
			return err
		}
	}
	return nil
}
