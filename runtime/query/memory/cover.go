package memory

// covers says of keys which runs do not count any more: those before a number. It is nil where all count.
type covers map[string]uint64

// covers reads what the shelves cover.
func (m Multimap) covers(l runList) (covers, error) {
	if !l.covered {
		return nil, nil
	}
	out := covers{}
	return out, m.Mem.Scan(func(entry, value []byte) error {
		if len(entry) == 0 || entry[0] != m.Prefix {
			return nil
		}
		key, chunk, err := parseEntry(entry)
		if err != nil || chunk > 0 {
			return err
		}
		s, err := openShelf(value)
		if err == nil && s.cover > 0 {
			out[string(key)] = s.cover
		}
		return err
	})
}

// counting visits the rows of runs that count, with their keys.
func (m Multimap) counting(runs []run, covers covers, fn func(key, row []byte) error) error {
	return m.eachPart(runs, func(n int, _ []byte, c chunkReader) error { return covers.rows(runs[n], c, fn) })
}

// rows visits the rows that count in one chunk of a run.
func (c covers) rows(r run, chunk chunkReader, fn func(key, row []byte) error) error {
	for i := range chunk.n {
		key, row, err := chunk.row(i)
		if err != nil {
			return err
		}
		if r.id < c[string(key)] {
			continue
		}
		if err := fn(key, row); err != nil {
			return err
		}
	}
	return nil
}

// InRuns is how many rows lie in runs, and their bytes with those of their keys. Some may not count any more.
func (m Multimap) InRuns() (rows, bytes int64, err error) {
	l, err := m.list()
	for _, r := range l.runs {
		rows, bytes = rows+int64(r.rows), bytes+int64(r.bytes)
	}
	return rows, bytes, err
}

// add writes rows as a run. When there are enough runs of its size they become one with it.
func (m Multimap) add(out *Remember, l *runList, rows *Rows) error {
	id := l.next
	if id == 0 {
		id = 1 // a cover of 0 covers nothing
		empty, err := Empty(m.Mem)
		if err != nil {
			return err
		}
		l.shelves = !empty
	}
	l.next = id + 1
	from := len(l.runs)
	bytes := uint64(rows.Bytes())
	for from > 0 && l.runs[from-1].bytes < 4*uint64(rows.Bytes()) && bytes+l.runs[from-1].bytes <= mergeBytes {
		from--
		bytes += l.runs[from].bytes
	}
	if len(l.runs)-from < sameLevel-1 {
		l.runs = append(l.runs, m.writeRun(out, rows, id))
		return nil
	}
	merged, err := m.merge(out, *l, l.runs[from:])
	if err != nil {
		return err
	}
	for i := range rows.Len() {
		merged.Put(rows.Key(i), rows.Row(i))
	}
	l.runs = append(l.runs[:from:from], m.writeRun(out, merged, id))
	return nil
}

// merge reads the rows that count in some runs, and forgets the runs.
func (m Multimap) merge(out *Remember, l runList, runs []run) (*Rows, error) {
	covers, err := m.covers(l)
	if err != nil {
		return nil, err
	}
	rows := &Rows{}
	for _, r := range runs {
		rows.Grow(int(r.rows), int(r.bytes))
	}
	return rows, m.eachPart(runs, func(n int, name []byte, c chunkReader) error {
		out.Pieces = append(out.Pieces, Piece{Name: name})
		return covers.rows(runs[n], c, func(key, row []byte) error { rows.Put(key, row); return nil })
	})
}
