package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Keys and hours together make 200,160 groups of the aggregate.
const (
	keys  = 2780
	hours = 72
)

// generate writes seeded events as lines of JSON, about 120 bytes each: id, key, kind, value,
// happened_at. A folder that is complete is used again.
func generate(dir string, rows, files int) error {
	done := filepath.Join(dir, ".complete")
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "generating %d events in %s\n", rows, dir)
	random := rand.New(rand.NewPCG(7, uint64(rows)))
	id := 0
	for f := range files {
		count := rows / files
		if f < rows%files {
			count++
		}
		if err := generateFile(filepath.Join(dir, fmt.Sprintf("events-%05d.json", f)), random, id, count); err != nil {
			return fmt.Errorf("generating events: %w", err)
		}
		id += count
	}
	return os.WriteFile(done, nil, 0o644)
}

func generateFile(path string, random *rand.Rand, first, count int) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriterSize(file, 1<<20)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	kinds := []string{"page_view", "product_click", "add_to_cart", "order_placed", "order_returned"}
	line := make([]byte, 0, 160)
	for i := range count {
		line = append(line[:0], `{"id":`...)
		line = strconv.AppendInt(line, int64(first+i), 10)
		line = append(line, `,"key":"customer-`...)
		line = strconv.AppendInt(line, int64(random.IntN(keys)), 10)
		line = append(line, `","kind":"`...)
		line = append(line, kinds[random.IntN(len(kinds))]...)
		line = append(line, `","value":`...)
		line = strconv.AppendInt(line, int64(random.IntN(1_000_000)), 10)
		line = append(line, `,"happened_at":"`...)
		line = start.Add(time.Duration(random.IntN(hours*3600))*time.Second).AppendFormat(line, "2006-01-02 15:04:05")
		line = append(line, "\"}\n"...)
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return file.Close()
}
