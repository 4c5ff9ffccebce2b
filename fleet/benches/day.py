"""A day of a fleet: each hour every host exports a chunk, then old days are removed, the day is compacted, and asked.

    EVENTS=1000 cargo bench -p ltt-parquet --bench export
    $(scripts/python.sh duckdb pyspark) fleet/benches/day.py target/tmp/export-trace-1000 target/release/ltt-parquet /tmp/day docs/sql 1000 24

The arguments are a synthetic trace, which becomes every chunk, the program, a folder for tables, the queries, and the numbers of hosts
and of hours. One chunk of each host is 40 days old, for retention to remove. Where pyspark and Java are installed, a cluster with
two workers then exports one more hour, and answers the same queries. On a busy machine, look at processor time.
"""

import datetime
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from scale import copy, processor_time, report

DAY_S = 86_400


def measured(what, task):
    """Says how long it takes; the processor time is that of programs that have ended, which Spark's have not."""
    start, before = time.monotonic(), processor_time()
    task()
    used = "" if what.startswith("Spark") else f", {processor_time() - before:.1f} s of processor time"
    print(f"{what}: {time.monotonic() - start:.1f} s{used}", flush=True)


def run(*command):
    return lambda: subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


def chunks(trace, hosts, begin_s):
    """A folder with a chunk of each host."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ltt-parquet-day-"))
    for host in range(hosts):
        copy(trace, folder / f"host-{host:05}", f"host-{host:05}", begin_s)
    return folder


def on_spark(program, tables, sql, traces):
    """The export of an hour and the queries, on a cluster of two workers."""
    import cluster
    import job

    folder = pathlib.Path(tempfile.mkdtemp(prefix="ltt-parquet-spark-"))
    try:
        with cluster.session(folder) as (spark, _):
            measured("Spark: an hour", lambda: job.export_all(spark, program, [str(traces)], str(folder / "tables")))
            measured("Spark: views", lambda: job.views(spark, str(tables)))
            for path in sorted(pathlib.Path(sql).glob("*.sql")):
                measured(f"Spark: {path.stem}", lambda: spark.sql(path.read_text()).collect())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    trace, program, tables, sql, hosts, hours = sys.argv[1:]
    trace, tables, hosts = pathlib.Path(trace), pathlib.Path(tables), int(hosts)
    print(f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores")
    midnight = datetime.datetime.now(datetime.timezone.utc).replace(hour=0, minute=0, second=0)
    yesterday = int(midnight.timestamp()) - DAY_S
    for hour in [-40 * 24, *range(int(hours))]:
        traces = chunks(trace, hosts, yesterday + hour * 3600)
        measured(f"hour {hour}", run(program, "--delta", "--output", tables, traces))
        shutil.rmtree(traces)
    measured("prune", run(program, "prune", "--keep", "30d", "--grace", "0s", tables))
    report(tables, sql)
    measured("compact", run(program, "compact", "--grace", "0s", tables))
    report(tables, sql)
    if importlib.util.find_spec("pyspark") and shutil.which("java"):
        traces = chunks(trace, hosts, yesterday)
        on_spark(program, tables, sql, traces)
        shutil.rmtree(traces)


if __name__ == "__main__":
    main()
