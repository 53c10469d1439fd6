// Package tpch makes the tables of TPC-H, a stream of changes to them, and its 22 queries.
//
// Tables, columns, value rules and queries follow the TPC-H specification, revision 3 (tpc.org). The data is not that of
// the official generator: it is seeded here, so that every run and every engine sees the same rows.
package tpch

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
)

//go:embed queries.sql
var queryText string

// Table is one of the eight tables. Its changes are read from a log: the table's columns, op
// ("I", "U" or "D") and seq, which grows with every change. A "D" line has the key only.
type Table struct {
	Name    string
	Columns batch.Schema
	Key     []string
}

// Log is the name of the table's change log.
func (t Table) Log() string { return t.Name + "_log" }

// LogColumns are the columns of the change log.
func (t Table) LogColumns() batch.Schema {
	return append(append(batch.Schema{}, t.Columns...), batch.Column{Name: "op", Type: "VARCHAR"}, batch.Column{Name: "seq", Type: "BIGINT"})
}

// Current is the SQL of the table as its log leaves it: the last change of each key, unless that is a delete.
func (t Table) Current() string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return fmt.Sprintf("SELECT %s FROM (SELECT * FROM %s QUALIFY row_number() OVER (PARTITION BY %s ORDER BY seq DESC) = 1) WHERE op <> 'D'",
		strings.Join(names, ", "), t.Log(), strings.Join(t.Key, ", "))
}

// Tables lists the eight tables, parents before children.
func Tables() []Table {
	return []Table{
		table("region", 1, "r_regionkey INTEGER, r_name VARCHAR, r_comment VARCHAR"),
		table("nation", 1, "n_nationkey INTEGER, n_name VARCHAR, n_regionkey INTEGER, n_comment VARCHAR"),
		table("supplier", 1, "s_suppkey INTEGER, s_name VARCHAR, s_address VARCHAR, s_nationkey INTEGER, s_phone VARCHAR, s_acctbal DECIMAL(15:2), s_comment VARCHAR"),
		table("part", 1, "p_partkey INTEGER, p_name VARCHAR, p_mfgr VARCHAR, p_brand VARCHAR, p_type VARCHAR, p_size INTEGER, p_container VARCHAR, p_retailprice DECIMAL(15:2), p_comment VARCHAR"),
		table("partsupp", 2, "ps_partkey INTEGER, ps_suppkey INTEGER, ps_availqty INTEGER, ps_supplycost DECIMAL(15:2), ps_comment VARCHAR"),
		table("customer", 1, "c_custkey INTEGER, c_name VARCHAR, c_address VARCHAR, c_nationkey INTEGER, c_phone VARCHAR, c_acctbal DECIMAL(15:2), c_mktsegment VARCHAR, c_comment VARCHAR"),
		table("orders", 1, "o_orderkey BIGINT, o_custkey INTEGER, o_orderstatus VARCHAR, o_totalprice DECIMAL(15:2), o_orderdate DATE, o_orderpriority VARCHAR, o_clerk VARCHAR, o_shippriority INTEGER, o_comment VARCHAR"),
		table("lineitem", 2, "l_orderkey BIGINT, l_linenumber INTEGER, l_partkey INTEGER, l_suppkey INTEGER, l_quantity DECIMAL(15:2), l_extendedprice DECIMAL(15:2), l_discount DECIMAL(15:2), l_tax DECIMAL(15:2), "+
			"l_returnflag VARCHAR, l_linestatus VARCHAR, l_shipdate DATE, l_commitdate DATE, l_receiptdate DATE, l_shipinstruct VARCHAR, l_shipmode VARCHAR, l_comment VARCHAR"),
	}
}

// table reads "name TYPE, …"; the first keys columns are the key. A colon stands for the comma of a DECIMAL.
func table(name string, keys int, columns string) Table {
	t := Table{Name: name}
	for _, c := range strings.Split(columns, ", ") {
		column, typ, _ := strings.Cut(c, " ")
		t.Columns = append(t.Columns, batch.Column{Name: column, Type: strings.Replace(typ, ":", ",", 1)})
	}
	for _, c := range t.Columns[:keys] {
		t.Key = append(t.Key, c.Name)
	}
	return t
}

// Query is one of the 22 queries over the tables' names.
type Query struct {
	Name string // q1 … q22
	SQL  string
}

// Queries lists the 22 queries in their order.
func Queries() []Query {
	var out []Query
	for _, part := range strings.Split("\n"+queryText, "\n-- q")[1:] {
		number, sql, _ := strings.Cut(part, "\n")
		out = append(out, Query{Name: "q" + number, SQL: strings.TrimSpace(sql)})
	}
	return out
}
