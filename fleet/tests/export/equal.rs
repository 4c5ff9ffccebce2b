//! What DuckDB says of the tables is what `ltt-top` says of the traces, on real traces of Valkey and on hosts that are made up.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use ltt_analysis::samples::{MachineSample, Sample, SampleWriter, ThreadSample};
use lttng_testing::{CommandInTime as _, Program, need, patience, python, unpack, workspace};

use crate::handwritten::requests as handwritten;
use crate::run::{files, ltt_parquet, said};

/// The number of events in the tables, by DuckDB: as rows, and as the sum of the groups' counts.
pub fn duckdb_counts(python: &Path, tables: &Path) -> [usize; 2] {
    let script = "import sys; sys.path.insert(0, sys.argv[1]); import equal; query = equal.duckdb_query(sys.argv[2]); \
                  print(*(query(sql)[0]['n'] for sql in ('SELECT COUNT(*) AS n FROM events', 'SELECT SUM(count) AS n FROM groups')))";
    let mut command = Command::new(python);
    let found = command.args(["-c", script]).arg(workspace().join("fleet/tests")).arg(tables).succeed();
    let counts: Vec<usize> = found.split_whitespace().map(|count| count.parse().expect("a number")).collect();
    counts.try_into().expect("two numbers")
}

fn assert_equal(python: &Path, tables: &Path, traces: &[&Path]) -> String {
    let mut command = Command::new(python);
    command.arg(workspace().join("fleet/tests/equal.py")).arg("duckdb").arg(tables);
    command.arg(Program::binary("ltt-top", "ltt-top").build()).arg(workspace().join("docs/sql")).args(traces);
    command.succeed()
}

#[test]
fn duckdb_says_of_real_traces_what_ltt_top_says() {
    let Some(python) = python(&["duckdb"], Duration::from_secs(60)) else { return };
    let data = workspace().join("tests/data");
    let (mixed, causes) =
        (unpack(&data.join("valkey-mixed.tar.xz")), unpack(&data.join("valkey-causes.tar.xz")));
    stop_during_a_turn(causes.path());
    let tables = tempfile::tempdir().expect("a temporary folder");
    let traces = [mixed.path(), causes.path()];
    let (status, said) = said(&mut ltt_parquet(tables.path(), &traces));
    assert_eq!(status, 0, "{said}");
    assert_eq!(files(tables.path(), "events").len(), 1, "both were recorded on one host and one day");
    let equal = assert_equal(&python, tables.path(), &traces);
    assert_eq!(equal.trim(), "47 groups and 91 incidents are equal, 4 held by the system");
}

/// Writes samples beside a real trace: its process was stopped during a turn of 29 ms in which nothing
/// else was recorded, and slept in its neighbours.
fn stop_during_a_turn(recording: &Path) {
    // By the clock of the trace.
    const BEGIN: u64 = 1_794_732_100_658_477_622 - 1_794_724_777_563_752_475;
    let mut writer = SampleWriter::new(recording, "vm", 0);
    for (at_ms, state) in [(-5, b'S'), (0, b'T'), (30, b'S'), (60, b'S')] {
        let since_ns = 2_000_000;
        let thread = ThreadSample { vpid: 32_613, vtid: 32_613, since_ns, state, ..ThreadSample::default() };
        let time = BEGIN.saturating_add_signed(at_ms * 1_000_000);
        writer.add(time, &Sample::Thread(thread)).expect("it is written");
        writer.add(time, &Sample::Machine(MachineSample::default())).expect("it is written");
    }
    writer.finish(recording).expect("it is written");
}

#[test]
#[ignore = "make check: a Spark cluster"]
fn spark_says_the_same_although_a_worker_is_killed() {
    if !need("java") {
        return;
    }
    let Some(python) = python(&["pyspark"], Duration::from_secs(400)) else { return };
    let data = workspace().join("tests/data");
    let (mixed, causes) =
        (unpack(&data.join("valkey-mixed.tar.xz")), unpack(&data.join("valkey-causes.tar.xz")));
    let folder = tempfile::tempdir().expect("a temporary folder");
    // More hosts than executors, so that some are left when one is killed.
    let hosts = folder.path().join("hosts");
    for host in 0..6 {
        let requests: Vec<(&str, u64)> =
            (0..200).map(|number| (["get", "set"][number as usize % 2], number * host)).collect();
        handwritten(&format!("host-{host}"), &requests).write_to(&hosts.join(host.to_string()));
    }
    let mut command = Command::new(python);
    command.arg(workspace().join("fleet/tests/cluster.py")).arg(env!("CARGO_BIN_EXE_ltt-parquet"));
    command.arg(Program::binary("ltt-top", "ltt-top").build()).arg(workspace().join("docs/sql"));
    command.arg(folder.path().join("tables")).args([mixed.path(), causes.path(), &hosts]);
    let said = command.succeed_within(patience(Duration::from_secs(300)));
    assert!(said.contains("killed a worker") && said.contains("are equal"), "{said}");
}
