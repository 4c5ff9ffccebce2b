//! Very many hosts: few files are open at a time, memory does not grow with their number, and one that is damaged spoils no other.

use std::process::Command;

use lttng_testing::{CommandInTime as _, Program};

use crate::handwritten::requests;
use crate::run::{files, rows, said};

#[test]
#[ignore = "make check: a thousand hosts"]
fn a_thousand_hosts_need_few_open_files_and_little_memory() {
    let traces = tempfile::tempdir().expect("a temporary folder");
    for host in 0..1000 {
        let folder = traces.path().join(format!("host-{host}/session/ust/uid/0/64-bit"));
        requests(&format!("host-{host}"), &[("get", 10), ("set", host)]).write_to(&folder);
    }
    let damaged = traces.path().join("host-500/session/ust/uid/0/64-bit/metadata");
    std::fs::write(damaged, "/* CTF 1.8 */ trace {").expect("it can be written");
    let tables = tempfile::tempdir().expect("a temporary folder");
    // A quarter of the usual number of open files, and 1 GiB of addresses.
    let script = r#"ulimit -n 256 && ulimit -v 1048576 && exec "$0" --output "$1" "$2""#;
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_ltt-parquet")]).arg(tables.path()).arg(traces.path());
    let (status, said) = said(&mut command);
    assert_eq!(status, 3, "{said}");
    assert!(said.contains("host-500/") && said.lines().count() == 2, "{said}");
    assert_eq!((files(tables.path(), "events").len(), rows(tables.path(), "events")), (999, 1998));
    let script = r#"ulimit -n 256 && ulimit -v 1048576 && exec "$0" "$2" --format json "$1""#;
    for question in ["top", "incidents", "info"] {
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(Program::binary("ltt-top", "ltt-top").build());
        let output = command.arg(traces.path()).arg(question).output_in_time().expect("it runs");
        assert_eq!(output.status.code(), Some(3), "{question}: {output:?}");
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        assert_eq!(found["trace"]["hosts"].as_array().map(Vec::len), Some(999), "{question}");
    }
}
