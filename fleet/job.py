"""Exports the traces of a fleet on a Spark cluster, and answers the questions in docs/sql.

    spark-submit fleet/job.py --traces /nfs/traces --output /nfs/tables --sql docs/sql --results results

The executors must see the folder of traces and the output, and have `ltt-parquet` (--program says where). Each host is a share of
its own: Spark hands shares out, and hands those of a lost executor to another one. What was exported is
not exported again, so a retry costs nothing, and a run that was ended half-way goes on where it was.
"""

import argparse
import csv
import ctypes
import json
import pathlib
import signal
import subprocess

TABLES = ("events", "groups", "incidents")


def die_with_parent():
    """An export must not outlive its executor: its share is given to another."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def list_hosts(program, traces):
    """The folders of each host's traces, as an executor sees them."""
    listed = subprocess.run([program, "--list", *traces], stdout=subprocess.PIPE, check=False)
    if listed.returncode not in (0, 3):
        raise RuntimeError(f"{program} --list failed with {listed.returncode}")
    return [json.loads(line) for line in listed.stdout.splitlines()]


def export(program, output, host):
    """Exports a host; an error makes Spark try again elsewhere. Returns what was said."""
    command = [program, "--threads", "1", "--output", output, *host["traces"]]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, preexec_fn=die_with_parent, check=False)
    # 3: exported, but part of a trace is damaged and left out.
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{host['host']}: {done.stderr}")
    return host["host"], done.returncode == 3, done.stderr


def export_all(spark, program, traces, output):
    """Exports all hosts; returns the names of those of which part is damaged."""
    context = spark.sparkContext
    hosts = context.parallelize([traces], 1).flatMap(lambda traces: list_hosts(program, traces)).collect()
    shares = context.parallelize(hosts, max(1, len(hosts)))
    done = shares.map(lambda host: export(program, output, host)).collect()
    return [host for host, is_damaged, _ in done if is_damaged]


def views(spark, output):
    """Makes the tables known under their names. Names of hosts may look like numbers."""
    spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    for table in TABLES:
        spark.read.option("mergeSchema", "true").parquet(f"{output}/{table}").createOrReplaceTempView(table)


def main():
    from pyspark.sql import SparkSession

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", nargs="+", required=True, help="folders of traces, as executors see them")
    parser.add_argument("--output", required=True, help="the folder of tables, as executors see it")
    parser.add_argument("--program", default="ltt-parquet", help="where ltt-parquet is on executors")
    parser.add_argument("--sql", type=pathlib.Path, help="a folder of queries to answer")
    parser.add_argument("--results", type=pathlib.Path, help="the folder for the answers, a CSV file for each query")
    options = parser.parse_args()
    spark = SparkSession.builder.appName("ltt-parquet").getOrCreate()
    damaged = export_all(spark, options.program, options.traces, options.output)
    for host in damaged:
        print(f"warning: {host}: part of a trace is damaged and left out")
    if options.sql and options.results:
        views(spark, options.output)
        options.results.mkdir(parents=True, exist_ok=True)
        for path in sorted(options.sql.glob("*.sql")):
            answer = spark.sql(path.read_text())
            with open(options.results / f"{path.stem}.csv", "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(answer.columns)
                writer.writerows(answer.collect())
    spark.stop()


if __name__ == "__main__":
    main()
