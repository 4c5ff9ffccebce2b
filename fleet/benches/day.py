"""A day of a fleet: each hour every host exports a chunk, then old days are removed, the day is compacted, and asked.

    day.py TRACE LTT_PARQUET TABLES SQL_FOLDER HOSTS HOURS

TRACE is a synthetic trace, as for scale.py; a small one makes many small chunks. One chunk of each host is 40 days old, for
retention to remove. On a busy machine, look at processor time.
"""

import datetime
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from scale import copy, processor_time, report

DAY_S = 86_400


def measured(what, command):
    start, before = time.monotonic(), processor_time()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    print(f"{what}: {time.monotonic() - start:.1f} s, {processor_time() - before:.1f} s of processor time", flush=True)


def main():
    trace, program, tables, sql, hosts, hours = sys.argv[1:]
    trace, tables, hosts = pathlib.Path(trace), pathlib.Path(tables), int(hosts)
    print(f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores")
    midnight = datetime.datetime.now(datetime.timezone.utc).replace(hour=0, minute=0, second=0)
    yesterday = int(midnight.timestamp()) - DAY_S
    for hour in [-40 * 24, *range(int(hours))]:
        traces = pathlib.Path(tempfile.mkdtemp(prefix="ltt-parquet-day-"))
        for host in range(hosts):
            copy(trace, traces / f"host-{host:05}", f"host-{host:05}", yesterday + hour * 3600)
        measured(f"hour {hour}", [program, "--delta", "--output", tables, traces])
        shutil.rmtree(traces)
    report(tables, sql)
    measured("prune", [program, "prune", "--keep", "30d", "--grace", "0s", tables])
    measured("compact", [program, "compact", "--grace", "0s", tables])
    report(tables, sql)


if __name__ == "__main__":
    main()
