"""Very many events of very many hosts: made, exported and removed in parts, then asked.

    scale.py TRACE LTT_PARQUET TABLES SQL_FOLDER HOSTS

TRACE is a synthetic trace that `cargo bench -p ltt-parquet` leaves in target/tmp/export-trace-N (EVENTS=1000000 for a million
events). It is copied for each host, with another name and UUID. 1,000 hosts of a million events each are a billion.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time
import uuid

import duckdb

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
import equal

PART = 8


def copy(trace, folder, host):
    """The trace as another host's."""
    folder.mkdir(parents=True)
    metadata = (trace / "metadata").read_text()
    old = uuid.UUID(metadata.split('uuid = "')[1].split('"')[0])
    new = uuid.uuid4()
    metadata = metadata.replace(str(old), str(new)).replace('hostname = "synthetic"', f'hostname = "{host}"')
    (folder / "metadata").write_text(metadata)
    for stream in trace.glob("ch_*"):
        (folder / stream.name).write_bytes(stream.read_bytes().replace(old.bytes, new.bytes))


def main():
    trace, program, tables, sql, hosts = sys.argv[1:]
    trace, tables, hosts = pathlib.Path(trace), pathlib.Path(tables), int(hosts)
    traces = tables.with_name(tables.name + "-traces")
    seconds = 0
    for first in range(0, hosts, PART):
        for host in range(first, min(first + PART, hosts)):
            copy(trace, traces / f"host-{host:04}", f"host-{host:04}")
        start = time.monotonic()
        subprocess.run([program, "--output", tables, traces], check=True, stderr=subprocess.DEVNULL)
        seconds += time.monotonic() - start
        shutil.rmtree(traces)
    size = lambda table: sum(path.stat().st_size for path in (tables / table).rglob("*.parquet"))
    events = duckdb.sql(f"SELECT COUNT(*) FROM '{tables}/events/**/*.parquet'").fetchall()[0][0]
    print(f"{events} events of {hosts} hosts on {os.cpu_count()} cores: {seconds:.1f} s, {events / seconds / 1e6:.2f} M events/s")
    print(f"bytes an event: events {size('events') / events:.2f}, groups {size('groups') / events:.3f}, incidents {size('incidents') / events:.3f}")
    for path in sorted(pathlib.Path(sql).glob("*.sql")):
        took = []
        for threads in (1, 2):
            query = equal.duckdb_query(tables, threads)
            start = time.monotonic()
            query(path.read_text())
            took.append(time.monotonic() - start)
        print(f"{path.stem}: {took[0]:.2f} s on one core, {took[1]:.2f} s on two")


if __name__ == "__main__":
    main()
