"""Compares what an engine says of exported tables with what ltt-top says of the traces.

    equal.py duckdb TABLES LTT_TOP SQL_FOLDER TRACE...

Counts, totals, extremes and percentiles must be equal group by group, incidents row by row, and every query in SQL_FOLDER must
run. Exits with 1 and says what differs. The job for Spark uses it, too: `compare` takes anything that answers queries.
"""

import json
import pathlib
import subprocess
import sys

QUANTILES = {"p50_us": (50, 100), "p90_us": (90, 100), "p99_us": (99, 100), "p999_us": (999, 1000)}

# Exact nearest-rank percentiles of raw events; plain SQL, so that all engines understand it.
EXACT = """
WITH ranks AS (
  SELECT event, group_name, duration_ns,
         ROW_NUMBER() OVER (PARTITION BY event, group_name ORDER BY duration_ns) AS up_to,
         COUNT(*) OVER (PARTITION BY event, group_name) AS timed
  FROM events WHERE NOT is_repeat AND duration_ns IS NOT NULL
)
SELECT event, group_name, {quantiles} FROM ranks GROUP BY event, group_name
""".format(
    quantiles=", ".join(
        f"MIN(CASE WHEN up_to >= CEIL(timed * {part} / {of}e0) THEN duration_ns END) AS {name}"
        for name, (part, of) in QUANTILES.items()
    )
)
SUMS = """
SELECT event, group_name, COUNT(*) AS events, SUM(CASE WHEN is_implausible THEN 1 ELSE 0 END) AS implausible,
       SUM(duration_ns) AS total, MIN(duration_ns) AS shortest, MAX(duration_ns) AS longest
FROM events WHERE NOT is_repeat GROUP BY event, group_name
"""


def ltt_top(program, arguments, traces):
    command = [program, *arguments, "--format", "json", *traces]
    found = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    # 3: part of a trace is damaged and left out.
    if found.returncode not in (0, 3):
        sys.exit(f"{command} failed with {found.returncode}")
    return json.loads(found.stdout)


def group_name(key):
    values = [value if isinstance(value, str) else json.dumps(value) for value in key.values()]
    if len(values) > 1:
        return json.dumps(list(key.values()), separators=(",", ":"), ensure_ascii=False)
    return values[0] if values else None


def without_host(found):
    """The host of processes is said only where there are several; tables have a column for it."""
    if isinstance(found, list):
        return [without_host(part) for part in found]
    if not isinstance(found, dict):
        return found
    process = found.get("process")
    found = {key: without_host(value) for key, value in found.items() if key != "process"}
    if process:
        found["process"] = {key: value for key, value in process.items() if key != "host"}
    return found


def ns(microseconds):
    return None if microseconds is None else round(microseconds * 1000)


def integer(value):
    return None if value is None else int(value)


class Differences(list):
    def equal(self, what, found, expected):
        if found != expected:
            self.append(f"{what}: {str(found)[:500]} instead of {str(expected)[:500]}")


def compare(query, sql, program, traces):
    """`query` runs SQL and returns dictionaries. Returns what is equal, and what each query in SQL_FOLDER gives; exits if anything differs."""
    differences = Differences()
    groups = {
        (group["event"], group_name(group["key"])): group
        for group in ltt_top(program, ["top"], traces)["groups"]
    }
    merged = {(row["event"], row["group_name"]): row for row in query((sql / "top.sql").read_text())}
    sums = {(row["event"], row["group_name"]): row for row in query(SUMS)}
    exact = {(row["event"], row["group_name"]): row for row in query(EXACT)}
    differences.equal("groups of events", sorted(sums, key=str), sorted(groups, key=str))
    differences.equal("groups of histograms", sorted(merged, key=str), sorted(groups, key=str))
    for name, group in groups.items():
        of_sums, of_merged, of_exact = sums.get(name, {}), merged.get(name, {}), exact.get(name, {})
        figures = [
            ("count", "events", "events", group["count"]),
            ("implausible", "implausible", "implausible", group["implausible"]),
            ("total", "total", "total_ns", ns(group["total_us"])),
            ("min", "shortest", "min_ns", ns(group["min_us"])),
            ("max", "longest", "max_ns", ns(group["max_us"])),
        ]
        for figure, in_sums, in_merged, expected in figures:
            differences.equal(f"{figure} of {name} in events", integer(of_sums.get(in_sums)), expected)
            differences.equal(f"{figure} of {name} in groups", integer(of_merged.get(in_merged)), expected)
        for quantile in QUANTILES:
            expected, found = ns(group[quantile]), integer(of_exact.get(quantile))
            of_groups = integer(of_merged.get(quantile.replace("_us", "_ns")))
            differences.equal(f"{quantile} of {name} in groups", of_groups, expected)
            # ltt-top's own are exact up to 1,023 ticks, of a microsecond or less, and within 1/1,024 above.
            is_near = expected is not None and found is not None and abs(found - expected) <= expected / 1000
            is_exact = found is None or found >= 1_024_000 or not name[0].startswith("valkey_") or found == expected
            if found != expected and not (is_near and is_exact):
                differences.append(f"{quantile} of {name} in events: {found} instead of {expected}")
    incidents = ltt_top(program, ["incidents", "-n", "0"], traces)
    expected = incidents["incidents"]
    # What ltt-top calls what the scheduler did.
    words = {cause["system"]: cause["in_words"] for cause in incidents["causes"] if "system" in cause}
    # The same times once more, for people.
    expected = [without_host({key: incident[key] for key in incident if key not in ("begin", "end")}) for incident in expected]
    rows = query("SELECT begin_ns, end_ns, held_ns, cause_event, cause_group, held_by, json FROM incidents")
    found = [json.loads(row["json"]) for row in rows]
    order = lambda incident: json.dumps(incident, sort_keys=True)
    differences.equal("number of incidents", len(found), len(expected))
    for mine, theirs in zip(sorted(found, key=order), sorted(expected, key=order)):
        differences.equal("incident", mine, theirs)
    for row in rows:
        incident = json.loads(row["json"])
        cause = incident["cause"] or {"event": None, "key": {}}
        columns = [row[name] for name in ("begin_ns", "end_ns", "held_ns", "cause_event", "cause_group", "held_by")]
        written = [incident["begin_ns"], incident["end_ns"], ns(incident["held_us"]), cause["event"], group_name(cause["key"])]
        written.append(words.get(incident.get("held_by", {}).get("cause")))
        differences.equal("columns of an incident", columns, written)
    results = {}
    for path in sorted(sql.glob("*.sql")):
        results[path.stem] = query(path.read_text())
        if not results[path.stem]:
            differences.append(f"{path.name} finds nothing")
    if differences:
        sys.exit("\n".join(differences[:20]) + f"\n{len(differences)} differences")
    held_by = sum(row["held_by"] is not None for row in rows)
    return f"{len(groups)} groups and {len(rows)} incidents are equal, {held_by} held by the system", results


def duckdb_query(tables, threads=None):
    """Queries of tables in a folder. Names of hosts may look like numbers."""
    import duckdb

    connection = duckdb.connect()
    if threads:
        connection.execute(f"SET threads = {threads}")
    connection.execute("SET TimeZone = 'UTC'")
    for table in ("events", "groups", "incidents"):
        connection.execute(
            f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{tables}/{table}/date=*/host=*/*.parquet', hive_partitioning = true, "
            "hive_types = {'host': VARCHAR, 'date': DATE}, union_by_name = true)"
        )

    def query(sql):
        found = connection.sql(sql)
        # Times as numbers: fetching them would need another package.
        names = [
            f"epoch_us({name}) AS {name}" if str(kind).startswith("TIMESTAMP") else name
            for name, kind in zip(found.columns, found.types)
        ]
        found = connection.sql(f"SELECT {', '.join(names)} FROM ({sql})")
        return [dict(zip(found.columns, row)) for row in found.fetchall()]

    return query


if __name__ == "__main__":
    engine, tables, program, sql, *traces = sys.argv[1:]
    assert engine == "duckdb", "spark has a job of its own"
    equal, _ = compare(duckdb_query(tables), pathlib.Path(sql), program, traces)
    print(equal)
