"""Reads a Delta table with the deltalake library and writes its rows to a Parquet file.

usage: read_delta.py TABLE OUT.parquet; prints the version and the number of rows.
"""

import sys

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable, QueryBuilder

table = DeltaTable(sys.argv[1])
rows = pa.table(QueryBuilder().register("t", table).execute("SELECT * FROM t"))
pq.write_table(rows, sys.argv[2])
print(table.version(), rows.num_rows)
