//! Odd traces: strange names, no events, one event, fields whose type depends on the event.

use std::process::Command;
use std::time::Duration;

use lttng_testing::{CommandInTime as _, python};

use crate::handwritten::{Handwritten, requests};
use crate::run::{fields, files, ltt_parquet, metadata, rows, said};

#[test]
fn engines_read_hosts_by_their_names_whatever_these_are() {
    let Some(python) = python(&["duckdb"], Duration::from_secs(60)) else { return };
    let names = ["1234", "a=b", "date=2020-01-01", "../../etc", "ünï.example", "a b%41", "NULL", "."];
    let (traces, tables) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    for (number, name) in names.iter().enumerate() {
        requests(name, &[("get", 10)]).write_to(&traces.path().join(number.to_string()));
    }
    let (status, said) = said(&mut ltt_parquet(tables.path(), &[traces.path()]));
    assert_eq!(status, 0, "{said}");
    let mut sorted = names.map(str::to_owned);
    sorted.sort();
    assert_eq!(metadata(tables.path(), "events", "ltt.host"), sorted);
    let script = "import sys; sys.path.insert(0, sys.argv[1]); import equal; print(*sorted(row['host'] for row in \
                  equal.duckdb_query(sys.argv[2])('SELECT DISTINCT host FROM events')), sep='\\n')";
    let mut command = Command::new(python);
    command.args(["-c", script]).arg(lttng_testing::workspace().join("fleet/tests")).arg(tables.path());
    let found = command.env("PYTHONIOENCODING", "utf-8").succeed();
    assert_eq!(found.lines().collect::<Vec<_>>(), sorted);
}

#[test]
fn a_trace_without_events_is_exported_once_and_has_no_rows() {
    let (traces, tables) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    requests("idle", &[]).write_to(&traces.path().join("idle"));
    requests("busy", &[("get", 10)]).write_to(&traces.path().join("busy"));
    for expected in ["1 event of 2 hosts", "2 hosts with nothing new"] {
        let (status, said) = said(&mut ltt_parquet(tables.path(), &[traces.path()]));
        assert_eq!(status, 0, "{said}");
        assert!(said.contains(expected), "{said}");
    }
    assert_eq!((files(tables.path(), "events").len(), rows(tables.path(), "events")), (1, 1));
}

#[test]
fn fields_of_one_name_have_a_column_for_each_type() {
    let mut trace = Handwritten::new("alpha");
    let number = trace.class("app:number", "u64 _value;");
    let text = trace.class("app:text", "string _value;");
    let float = trace.class(
        "app:float",
        "floating_point { exp_dig = 11; mant_dig = 53; align = 8; byte_order = le; } _value;",
    );
    // Two fields of one event that engines would call the same.
    let twice = trace.class("app:twice", "u64 _Value; u64 _value;");
    let large = u64::MAX.to_le_bytes();
    trace.event(number, &[&7_u64.to_le_bytes()]);
    trace.event(text, &[b"seven\0"]);
    trace.event(float, &[&7.5_f64.to_le_bytes()]);
    trace.event(twice, &[&1_u64.to_le_bytes(), &2_u64.to_le_bytes()]);
    trace.event(number, &[&large]);
    let (traces, tables) = (trace.write(), tempfile::tempdir().expect("a folder"));
    let (status, said) = said(&mut ltt_parquet(tables.path(), &[traces.path()]));
    assert_eq!(status, 0, "{said}");
    let wanted = ["int_value", "text_value", "float_value", "other"];
    let found: Vec<String> = fields(tables.path(), &wanted);
    let expected = [
        "7 null null null",
        "null \"seven\" null null",
        "null null 7.5 null",
        "1 null null {\"value\" -> \"2\"}",
        "null null null {\"value\" -> \"18446744073709551615\"}",
    ];
    assert_eq!(found, expected);
}
