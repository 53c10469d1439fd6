//go:build !duckdb_arrow

package duck

// Build streamform with -tags duckdb_arrow: DuckDB's Arrow interface is only there with it.
var _ = build_with_tags_duckdb_arrow
