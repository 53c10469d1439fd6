package events

import (
	"fmt"
	"strings"

	"github.com/streamform/streamform/acceptance/bench/input"
	"github.com/streamform/streamform/acceptance/bench/workload"
)

// All are the workloads over events.
func All(s workload.Settings) []workload.Workload {
	return []workload.Workload{windows(s), joins(s), dedup(s), distinct(s), all(s)}
}

// text says what all these workloads compare.
func text(events int64, more string) string {
	return strings.TrimSpace(fmt.Sprintf("%s events of Nexmark (1 person, 3 auctions and 46 bids of 50) in Parquet files. Ours reads them in epochs, keeps the view in "+
		"keyed data and commits every epoch with one sync; a query that never takes rows back is a stream with a Delta sink. The lower bound is DuckDB alone, "+
		"over the same files in one shot, with the form of the query that is fastest in DuckDB; it writes a table in memory, or a Parquet file for a stream. %s", short(events), more))
}

// epoch is how many events a large epoch takes.
func large(s workload.Settings) int64 { return s.Size(250_000, 1_000_000) }

func events(s workload.Settings) int64 { return s.Size(1_000_000, 10_000_000) }

func windows(s workload.Settings) workload.Workload {
	w := workload.Workload{Name: "W2", Title: "windows", Pairs: 3, Text: text(events(s), "")}
	for i, target := range []string{"≥ 0.8", "≥ 0.5", "≥ 0.15"} {
		epoch := large(s)
		for range i {
			epoch = max(1, epoch/10)
		}
		for _, q := range []string{"q12", "q17", "q5"} {
			w.Cases = append(w.Cases, line(s, q, events(s), epoch, target))
		}
	}
	return w
}

func joins(s workload.Settings) workload.Workload {
	w := workload.Workload{Name: "W3", Title: "joins", Pairs: 3, Text: text(events(s), "")}
	for _, c := range []struct{ query, target string }{{"q3", "≥ 0.5"}, {"q8", "≥ 0.5"}, {"q20", "≥ 0.5"}, {"q4", "≥ 0.35"}, {"q9", "≥ 0.35"}, {"q23", "≥ 0.35"}} {
		w.Cases = append(w.Cases, line(s, c.query, events(s), large(s), c.target))
	}
	return w
}

func dedup(s workload.Settings) workload.Workload {
	return workload.Workload{Name: "W4", Title: "the newest row per key", Pairs: 3, Text: text(events(s), "Deduplication within a watermark is not there yet, so q18 stands alone."),
		Cases: []workload.Case{line(s, "q18", events(s), large(s), "≥ 0.5")}}
}

func distinct(s workload.Settings) workload.Workload {
	w := workload.Workload{Name: "W5", Title: "distinct counts and tops per key", Pairs: 3, Text: text(events(s), "")}
	for _, q := range []string{"q15", "q16", "q19"} {
		w.Cases = append(w.Cases, line(s, q, events(s), large(s), "≥ 0.4"))
	}
	return w
}

// all has every query in its first form, over Parquet files and over lines of JSON.
func all(s workload.Settings) workload.Workload {
	lines := input.Nexmark{Cache: s.Cache, Events: s.Size(1_000_000, 1_000_000), Chunk: s.Size(250_000, 250_000), Lines: true}
	w := workload.Workload{Name: "W13", Title: "all queries of Nexmark", Pairs: 1, Text: text(events(s), fmt.Sprintf("The cases named NDJSON read %s events "+
		"as lines of JSON, on both sides with declared types. Aimed at is a geometric mean of 0.5.", short(lines.Events)))}
	for _, data := range []input.Nexmark{{Cache: s.Cache, Events: events(s), Chunk: large(s)}, lines} {
		group := "Parquet"
		if data.Lines {
			group = "NDJSON"
		}
		for i := range 24 {
			if q, _ := find(fmt.Sprintf("q%d", i)); q.SQL != "" {
				c := over(s, q.Name, data, "")
				c.Group = group
				w.Cases = append(w.Cases, c)
			}
		}
	}
	return w
}
