"""Asks through the Delta Lake log again and again, until a file appears: each answer must be that of one version.

    versions.py TABLES END TOTAL...

The number of events must be one of the totals each time, and groups must add up to one of them. At the end DuckDB reads the files
of the last version, too.
"""

import pathlib
import sys

import deltalake
import duckdb
import polars


def answer(tables, table, what):
    opened = deltalake.DeltaTable(f"{tables}/{table}")
    return opened, polars.scan_delta(opened).select(what).collect().item() or 0


def main():
    tables, end, *totals = sys.argv[1:]
    totals = set(map(int, totals))
    versions = set()
    answers = 0
    while True:
        is_end = pathlib.Path(end).exists()
        events, count = answer(tables, "events", polars.col("time_ns").count())
        _, sum_of_groups = answer(tables, "groups", polars.col("count").sum())
        if count not in totals or sum_of_groups not in totals:
            sys.exit(f"version {events.version()}: {count} events, {sum_of_groups} in groups")
        versions.add(events.version())
        answers += 1
        if is_end:
            break
    files = events.file_uris()
    by_duckdb = duckdb.sql(f"SELECT COUNT(*) FROM read_parquet({files}, union_by_name = true)").fetchall()[0][0]
    print(f"{answers} answers of {len(versions)} versions; the last has {count} events in {len(files)} files, {by_duckdb} by DuckDB")


if __name__ == "__main__":
    main()
