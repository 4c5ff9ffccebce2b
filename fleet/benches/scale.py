"""Very many events of very many hosts: made, exported and removed in parts, then asked.

    scale.py TRACE LTT_PARQUET TABLES SQL_FOLDER HOSTS

TRACE is a synthetic trace that `cargo bench -p ltt-parquet` leaves in target/tmp/export-trace-N (EVENTS=1000000 for a million
events). It is copied for each host, with another name and UUID, into a folder below TMPDIR. 1,000 hosts of a million events each
are a billion. Ctrl-C ends the export early, and asks what was exported until then. On a busy machine, look at processor time.
"""

import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid

import duckdb

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
import equal

PART = 8


def copy(trace, folder, host, begin_s=None):
    """The trace as another host's, recorded from another time on."""
    folder.mkdir(parents=True)
    metadata = (trace / "metadata").read_text()
    old = uuid.UUID(metadata.split('uuid = "')[1].split('"')[0])
    new = uuid.uuid4()
    metadata = metadata.replace(str(old), str(new)).replace('hostname = "synthetic"', f'hostname = "{host}"')
    if begin_s is not None:
        metadata = re.sub(r"offset = \d+;", f"offset = {begin_s * 1_000_000_000};", metadata)
    (folder / "metadata").write_text(metadata)
    for stream in trace.glob("ch_*"):
        (folder / stream.name).write_bytes(stream.read_bytes().replace(old.bytes, new.bytes))


def processor_time():
    """Of the programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def export(trace, program, tables, hosts):
    """Exports the hosts in parts, and returns how many there were, with the time and processor time that this took."""
    is_interrupted = []
    signal.signal(signal.SIGINT, lambda *_: is_interrupted.append(True))
    seconds = 0
    for first in range(0, hosts, PART):
        traces = pathlib.Path(tempfile.mkdtemp(prefix="ltt-parquet-scale-"))
        last = min(first + PART, hosts)
        for host in range(first, last):
            copy(trace, traces / f"host-{host:04}", f"host-{host:04}")
        start = time.monotonic()
        command = [program, "--output", tables, traces]
        # Ctrl-C must not end it in the middle.
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL, start_new_session=True)
        seconds += time.monotonic() - start
        shutil.rmtree(traces)
        if is_interrupted:
            hosts = last
            break
    return hosts, seconds, processor_time()


def main():
    trace, program, tables, sql, hosts = sys.argv[1:]
    tables = pathlib.Path(tables)
    hosts, seconds, processor = export(pathlib.Path(trace), program, tables, int(hosts))
    events = rows(tables)
    print(f"{events} events of {hosts} hosts on {os.cpu_count()} cores: {seconds:.1f} s, {events / seconds / 1e6:.2f} M events/s")
    print(f"processor time: {processor:.1f} s, {events / processor / 1e6:.2f} M events/s on each core")
    report(tables, sql)


def rows(tables):
    return duckdb.sql(f"SELECT COUNT(*) FROM '{tables}/events/date=*/host=*/*.parquet'").fetchall()[0][0]


def report(tables, sql):
    """Files, bytes, and how long each query takes."""
    events = rows(tables)
    for table in ("events", "groups", "incidents"):
        sizes = [path.stat().st_size for path in (tables / table).glob("date=*/host=*/*.parquet")]
        print(f"{table}: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB, {sum(sizes) / events:.3f} bytes an event")
    for path in sorted(pathlib.Path(sql).glob("*.sql")):
        took = []
        for threads in (1, 2):
            query = equal.duckdb_query(tables, threads)
            start, before = time.monotonic(), time.process_time()
            query(path.read_text())
            took.append(f"{time.monotonic() - start:.2f} s ({time.process_time() - before:.2f} s of processor time)")
        print(f"{path.stem}: {took[0]} on one core, {took[1]} on two", flush=True)


if __name__ == "__main__":
    main()
