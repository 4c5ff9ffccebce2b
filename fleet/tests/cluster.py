"""A Spark cluster of separate processes: the export over it, one worker killed in the middle, equals what ltt-top says.

    cluster.py LTT_PARQUET LTT_TOP SQL_FOLDER TABLES TRACE...
"""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

import pyspark
from pyspark.sql import SparkSession

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent)]
import equal
import job

DEADLINE_S = 600


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Cluster:
    """A master and workers, each a process of its own; they end with this one."""

    def __init__(self, folder):
        self.folder = folder
        self.home = pathlib.Path(pyspark.__file__).parent
        self.port = free_port()
        self.url = f"spark://127.0.0.1:{self.port}"
        self.processes = []

    def start(self, name, main, *arguments):
        environment = {
            **os.environ,
            "SPARK_HOME": str(self.home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOCAL_DIRS": str(self.folder / name),
            "PYSPARK_PYTHON": sys.executable,
        }
        command = [str(self.home / "bin/spark-class"), f"org.apache.spark.deploy.{main}", *arguments]
        with open(self.folder / f"{name}.log", "wb") as log:
            # A group of its own, so that a worker's executors can be killed with it.
            process = subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, start_new_session=True, preexec_fn=job.die_with_parent
            )
        self.processes.append(process)
        return process

    def master(self):
        self.start("master", "master.Master", "--host", "127.0.0.1", "--port", str(self.port), "--webui-port", "0")
        deadline = time.monotonic() + DEADLINE_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert time.monotonic() < deadline, "timed out waiting for the master"
                time.sleep(0.2)

    def worker(self, name):
        options = ["--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "768m"]
        options += ["--work-dir", str(self.folder / f"{name}-work"), self.url]
        return self.start(name, "worker.Worker", *options)

    def end(self):
        for process in self.processes:
            kill(process)


def kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


@contextlib.contextmanager
def session(folder):
    """A session on a cluster with two workers that are ready, and those workers."""
    folder.mkdir(parents=True, exist_ok=True)
    cluster = Cluster(folder)
    try:
        cluster.master()
        workers = [cluster.worker("one"), cluster.worker("two")]
        spark = (
            SparkSession.builder.master(cluster.url)
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.executor.memory", "512m")
            .config("spark.executor.cores", "1")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.network.timeout", "600s")
            .getOrCreate()
        )
        context = spark.sparkContext
        context.setLogLevel("ERROR")
        # As the main program it would be sent by Spark itself.
        context.addPyFile(job.__file__)
        deadline = time.monotonic() + DEADLINE_S
        while len(executors(context)) < 2:
            assert time.monotonic() < deadline, "timed out waiting for two executors"
            time.sleep(0.2)
        print("two executors", flush=True)
        yield spark, workers
        spark.stop()
    finally:
        cluster.end()


def main():
    program, ltt_top, sql, tables, *traces = sys.argv[1:]
    with session(pathlib.Path(tables + "-cluster")) as (spark, workers):
        killer = kill_when_begun(pathlib.Path(tables), workers[0])
        damaged = job.export_all(spark, program, traces, tables)
        killer.join()
        assert not damaged, damaged
        job.views(spark, tables)
        query = lambda text: [row.asDict() for row in spark.sql(text).collect()]
        found, _ = equal.compare(query, pathlib.Path(sql), ltt_top, traces)
        print(f"{found}; {len(executors(spark.sparkContext))} executors are left")


def executors(context):
    """The executors, without the driver."""
    statuses = context._jsc.sc().statusTracker().getExecutorInfos()
    return statuses[1:] if len(statuses) else []


def kill_when_begun(tables, worker):
    """Kills a worker with its executor once the first host is exported."""
    import threading

    def wait():
        deadline = time.monotonic() + DEADLINE_S
        while not any(tables.glob("_ltt/hosts/*/state.json")) and time.monotonic() < deadline:
            time.sleep(0.01)
        kill(worker)
        print("killed a worker", flush=True)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


if __name__ == "__main__":
    main()
