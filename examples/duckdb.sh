#!/bin/sh
# Names the frames of crash pings in Parquet with DuckDB's command line:
#
#     examples/duckdb.sh PINGS.parquet NAMED.parquet
#
# PINGS.parquet has the columns document_id and stack_traces, a crash ping as JSON.
# NAMED.parquet gets the same rows, with the answers in stack_traces. SYMBOLON_SOURCES
# names the symbols, as in spark/pipe.py.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
duckdb -c "COPY (SELECT document_id, stack_traces FROM '$1') TO '$tmp/rows.json' (FORMAT json)"
symbolon filter --format rows --field stack_traces --replace "$tmp/rows.json" -o "$tmp/named.json"
duckdb -c "COPY (FROM read_json('$tmp/named.json', format = 'newline_delimited', maximum_object_size = 100000000,
  columns = {document_id: 'VARCHAR', stack_traces: 'VARCHAR'})) TO '$2' (FORMAT parquet)"
