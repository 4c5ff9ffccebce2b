//! Damaged traces: what can be read is reported, the damage is named, and the exit status says so.

use std::fs;

use super::run::{copy, ltt_top, said, small_trace, streams};

#[test]
fn a_truncated_stream_is_read_as_far_as_it_goes_and_named() {
    let trace = copy(small_trace());
    let stream = &streams(trace.path())[0];
    let length = fs::metadata(stream).unwrap().len();
    fs::OpenOptions::new().write(true).open(stream).unwrap().set_len(length / 2).unwrap();
    let said = said(ltt_top(["top"]).arg(trace.path()));
    assert_eq!(said.status, 3, "{said:?}");
    let name = stream.file_name().unwrap().to_string_lossy();
    let warning = said.out.lines().find(|line| line.starts_with("warning: left out: ")).expect("it is named");
    assert!(warning.contains(&*name), "{warning}");
}

#[test]
fn damage_is_listed_in_json_and_on_standard_error_beside_csv() {
    let trace = copy(small_trace());
    let stream = &streams(trace.path())[0];
    fs::write(stream, vec![0x55; 4096]).unwrap();
    let json = said(ltt_top(["top", "--format", "json"]).arg(trace.path()));
    assert_eq!(json.status, 3, "{json:?}");
    let found: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let path = found["trace"]["damage"][0]["path"].as_str().unwrap();
    assert!(path.ends_with(&*stream.file_name().unwrap().to_string_lossy()), "{path}");
    let csv = said(ltt_top(["info", "--format", "csv"]).arg(trace.path()));
    assert_eq!(csv.status, 3);
    assert!(csv.err.starts_with("ltt-top: warning: left out: "), "{csv:?}");
}

#[test]
fn good_traces_are_read_beside_bad_ones() {
    let bad = tempfile::tempdir().unwrap();
    fs::write(bad.path().join("metadata"), "").unwrap();
    let said = said(ltt_top(["info"]).arg(bad.path()).arg(small_trace()));
    assert_eq!(said.status, 3, "{said:?}");
    assert!(said.out.contains("1,040 events"), "{said:?}");
}

#[test]
fn where_nothing_can_be_read_there_is_no_result() {
    let empty = tempfile::tempdir().unwrap();
    let garbage = tempfile::tempdir().unwrap();
    fs::write(garbage.path().join("metadata"), "not metadata").unwrap();
    for folder in [empty.path(), garbage.path(), std::path::Path::new("/nowhere/at/all")] {
        let said = said(ltt_top(["top"]).arg(folder));
        assert_eq!((said.status, &*said.out), (1, ""), "{said:?}");
        assert!(said.err.starts_with("ltt-top: error: "), "{said:?}");
        assert!(said.err.contains(&*folder.to_string_lossy()), "{said:?}");
        assert_eq!(said.err.lines().count(), 1, "{said:?}");
    }
}

#[test]
fn what_cannot_be_read_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let preamble = r#"{"type": "preamble", "version": 2, "extensions": {"my.tracer": {"piano": 88}}}"#;
    fs::write(folder.path().join("metadata"), format!("\x1e{preamble}\n")).unwrap();
    let said = said(ltt_top(["top"]).arg(folder.path()));
    assert_eq!(said.status, 1, "{said:?}");
    assert!(said.err.contains("the trace needs the CTF 2 extension `piano`"), "{said:?}");
}
