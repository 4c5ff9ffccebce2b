//! Very many hosts: few files are open at a time, and memory does not grow with their number.

use std::process::Command;

use lttng_testing::{CommandInTime as _, Program};

use crate::handwritten::requests;
use crate::run::{files, rows};

#[test]
#[ignore = "make check: a thousand hosts"]
fn a_thousand_hosts_need_few_open_files_and_little_memory() {
    let traces = tempfile::tempdir().expect("a temporary folder");
    for host in 0..1000 {
        let folder = traces.path().join(format!("host-{host}/session/ust/uid/0/64-bit"));
        requests(&format!("host-{host}"), &[("get", 10), ("set", host)]).write_to(&folder);
    }
    let tables = tempfile::tempdir().expect("a temporary folder");
    // A quarter of the usual number of open files, and 1 GiB of addresses.
    let script = r#"ulimit -n 256 && ulimit -v 1048576 && exec "$0" --output "$1" "$2""#;
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_ltt-parquet")]).arg(tables.path()).arg(traces.path());
    command.succeed();
    assert_eq!((files(tables.path(), "events").len(), rows(tables.path(), "events")), (1000, 2000));
    let script = r#"ulimit -n 256 && ulimit -v 1048576 && exec "$0" "$2" --format json "$1""#;
    for question in ["top", "incidents", "info"] {
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(Program::binary("ltt-top", "ltt-top").build());
        let said = command.arg(traces.path()).arg(question).succeed();
        let found: serde_json::Value = serde_json::from_str(&said).expect("it is JSON");
        assert_eq!(found["trace"]["hosts"].as_array().map(Vec::len), Some(1000), "{question}");
    }
}
