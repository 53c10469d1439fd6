//go:build !duckdb_arrow

package main

// This line does not compile on purpose: without the Arrow interface of DuckDB
// the engine would be missing, which is better learned now than at the first apply.
const _ int = "streamform must be built with: go build -tags duckdb_arrow ./cmd/streamform"
