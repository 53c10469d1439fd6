package memory

// What a key had before it changes, in the place of the number of its bytes.
const (
	Absent  = -1 // nothing
	Unknown = -2 // nobody looked
)

// Changes are new values of many keys, all in one buffer. The zero value has none.
type Changes struct {
	rows  Rows
	was   int    // what every key had, where there are no moves
	moves []move // of each key
}

// move is what a key had, as a number of bytes, and whether it is to be forgotten.
type move struct {
	was  int32
	gone bool
}

// Set are changes that give the keys of rows these rows; all had the same before: Absent or Unknown. The rows belong to the changes from then on.
func Set(rows *Rows, was int) Changes { return Changes{rows: *rows, was: was} }

// Put adds a key that gets a value, which nil takes away. was is how many bytes its value had, or Absent or Unknown.
func (c *Changes) Put(key, value []byte, was int) {
	c.rows.Put(key, value)
	c.moves = append(c.moves, move{int32(was), value == nil})
}

// Grow makes room for so many more keys, with values of so many bytes.
func (c *Changes) Grow(keys, bytes int) {
	c.rows.Grow(keys, bytes)
	c.moves = append(make([]move, 0, len(c.moves)+keys), c.moves...)
}

// Len is how many keys there are.
func (c *Changes) Len() int { return c.rows.Len() }

// Bytes is how long all keys and values are.
func (c *Changes) Bytes() int { return c.rows.Bytes() }

// At is key i, its value, nil when it has none any more, and what it had, as Put was told.
func (c *Changes) At(i int) (key, value []byte, was int) {
	if c.moves == nil {
		return c.rows.Key(i), c.rows.Row(i), c.was
	}
	if m := c.moves[i]; m.gone {
		return c.rows.Key(i), nil, int(m.was)
	}
	return c.rows.Key(i), c.rows.Row(i), int(c.moves[i].was)
}
