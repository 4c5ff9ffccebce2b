//! The tables only grow: each packet is exported once, whatever becomes of its source.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lttng_testing::{Daemon, Program, Trace, python};

use crate::equal::duckdb_counts;
use crate::handwritten::requests;
use crate::run::{files, ltt_parquet, rows, said};

/// Exports, and expects this exit status and this number of events in the tables then.
fn export(tables: &Path, traces: &[&Path], status: i32, events: usize) -> String {
    let (found, said) = said(&mut ltt_parquet(tables, traces));
    assert_eq!((found, rows(tables, "events")), (status, events), "{said}");
    said
}

/// What Babeltrace counts.
fn counted(folder: &Path) -> usize {
    Trace::open(folder).events().len()
}

/// The folders of chunks or snapshots, in the order in which they were made.
fn parts(folder: &Path) -> Vec<PathBuf> {
    let mut parts: Vec<_> =
        fs::read_dir(folder).expect("it is there").flatten().map(|part| part.path()).collect();
    parts.sort_by_key(|part| {
        part.to_string_lossy().rsplit('-').next().and_then(|number| number.parse::<u64>().ok())
    });
    parts
}

#[test]
fn chunks_of_a_session_add_up_when_it_rotates_grows_and_loses_its_oldest() {
    let tables = tempfile::tempdir().expect("a temporary folder");
    let emit_all = Program::example("valkey-trace", "emit-all").traced().build();
    let daemon = Daemon::start();
    let session = daemon.recording_with(&["valkey_*"], &[], &["vpid", "vtid", "procname"]);
    for count in ["20", "10"] {
        daemon.run(&emit_all, [count]);
        session.rotate();
    }
    let archives = session.folder().join("archives");
    let mut sum = 0;
    for chunk in parts(&archives) {
        sum += counted(&chunk);
        export(tables.path(), &[&chunk], 0, sum);
    }
    assert_eq!(sum, 30 * 35);
    // All of it again: with what was recorded since then, and without its oldest part.
    daemon.run(&emit_all, ["5"]);
    session.stop();
    export(tables.path(), &[session.folder()], 0, sum + 5 * 35);
    fs::remove_dir_all(&parts(&archives)[0]).expect("it can be removed");
    let said = export(tables.path(), &[session.folder()], 0, sum + 5 * 35);
    assert!(said.contains("1 host with nothing new"), "{said}");
    session.start();
    daemon.run(&emit_all, ["7"]);
    session.rotate();
    export(tables.path(), &[session.folder()], 0, sum + 12 * 35);
    let Some(python) = python(&["duckdb"], Duration::from_secs(60)) else { return };
    assert_eq!(duckdb_counts(&python, tables.path()), [sum + 12 * 35; 2], "rows of events, counts of groups");
}

#[test]
fn snapshots_that_overlap_add_up_in_any_order() {
    let emit_all = Program::example("valkey-trace", "emit-all").traced().build();
    let daemon = Daemon::start();
    let session = daemon.snapshot_session();
    session.enable("valkey_*");
    session.start();
    for count in ["3", "4"] {
        daemon.run(&emit_all, [count]);
        session.snapshot();
    }
    session.stop();
    let snapshots = parts(session.folder());
    let of = |snapshot: &Path| counted(snapshot);
    assert_eq!((of(&snapshots[0]), of(&snapshots[1])), (3 * 35, 7 * 35), "the second repeats the first");
    for order in [[0, 1], [1, 0]] {
        let tables = tempfile::tempdir().expect("a temporary folder");
        let [first, second] = order.map(|number: usize| &*snapshots[number]);
        export(tables.path(), &[first], 0, of(first));
        export(tables.path(), &[second], 0, 7 * 35);
    }
}

#[test]
fn a_source_that_changed_or_shrank_is_refused_and_named() {
    let traces = tempfile::tempdir().expect("a temporary folder");
    let tables = tempfile::tempdir().expect("a temporary folder");
    let (first, second) = (traces.path().join("first"), traces.path().join("second"));
    requests("alpha", &[("get", 10), ("set", 30)]).write_to(&first);
    export(tables.path(), &[&first], 0, 2);
    let said = export(tables.path(), &[&first, &first], 0, 2);
    assert!(said.contains("0 events of 0 hosts") && said.contains("1 host with nothing new"), "{said}");
    // Another trace of the host is added, alone or with others.
    requests("alpha", &[("del", 1)]).write_to(&second);
    export(tables.path(), &[&second], 0, 3);
    export(tables.path(), &[&first, &second], 0, 3);
    // A packet that is another one now; other traces are exported nevertheless.
    requests("alpha", &[("get", 10), ("set", 30), ("get", 5)]).write_to(&first);
    requests("beta", &[("get", 5)]).write_to(&traces.path().join("third"));
    let said = export(tables.path(), &[traces.path()], 1, 4);
    assert!(said.contains("first/stream_0: packets changed after they were exported"), "{said}");
    // A file with two packets that loses the second.
    let fourth = traces.path().join("fourth");
    requests("gamma", &[("get", 5)]).write_to(&fourth);
    let stream = fourth.join("stream_0");
    let mut bytes = fs::read(&stream).expect("it is there");
    let whole = bytes.len();
    let mut later = bytes.clone();
    for place in [8, 16, 44] {
        // Its times: those of the packet, and that of its event.
        later[place + 6] ^= 8;
    }
    bytes.extend(later);
    fs::write(&stream, &bytes).expect("it can be written");
    export(tables.path(), &[&fourth], 0, 6);
    fs::write(&stream, &bytes[..whole]).expect("it can be written");
    let said = export(tables.path(), &[&fourth], 1, 6);
    assert!(said.contains("fourth/stream_0: packets at the end that were exported are missing"), "{said}");
    fs::remove_dir_all(traces.path()).expect("it can be removed");
    assert_eq!(rows(tables.path(), "events"), 6);
}

#[test]
fn machines_of_one_name_are_kept_apart_unless_a_name_is_given() {
    let traces = tempfile::tempdir().expect("a temporary folder");
    let tables = tempfile::tempdir().expect("a temporary folder");
    for (name, boot) in
        [("a", "aac338d9-85d9-4292-be84-4a61498dc1d0"), ("b", "bbc338d9-85d9-4292-be84-4a61498dc1d0")]
    {
        let folder = traces.path().join(name);
        requests("localhost", &[("get", 10), ("set", 30)]).write_to(&folder);
        let metadata = fs::read_to_string(folder.join("metadata")).expect("it is there");
        let metadata = metadata.replace("name = c;", &format!("name = c; uuid = \"{boot}\";"));
        fs::write(folder.join("metadata"), metadata).expect("it can be written");
    }
    for _ in 0..2 {
        let said = export(tables.path(), &[traces.path()], 0, 4);
        assert!(said.contains("several machines are called localhost"), "{said}");
    }
    let hosts = |tables: &Path| crate::run::metadata(tables, "events", "ltt.host");
    assert_eq!(hosts(tables.path()), ["localhost", "localhost~bbc338d9"]);
    let named = tempfile::tempdir().expect("a temporary folder");
    let (status, said) = said(ltt_parquet(named.path(), &[traces.path()]).args(["--host", "shard-1"]));
    assert_eq!((status, hosts(named.path())), (0, vec!["shard-1".to_owned()]), "{said}");
}

#[test]
fn days_are_removed_by_command_and_not_brought_back_by_an_export() {
    let traces = tempfile::tempdir().expect("a temporary folder");
    let tables = tempfile::tempdir().expect("a temporary folder");
    requests("alpha", &[("get", 10)]).write_to(&traces.path().join("old"));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("it is after 1970");
    let mut recent = crate::handwritten::Handwritten::new("alpha");
    let class = recent.class("app:request", "string _name; u64 _latency_us;");
    recent.event_at(now.as_nanos() as u64, class, &[b"get\0", &1_u64.to_le_bytes()]);
    recent.write_to(&traces.path().join("recent"));
    export(tables.path(), &[traces.path()], 0, 2);
    let mut prune = std::process::Command::new(env!("CARGO_BIN_EXE_ltt-parquet"));
    let (status, said) = said(prune.args(["prune", "--keep", "30d"]).arg(tables.path()));
    assert_eq!((status, rows(tables.path(), "events")), (0, 1), "{said}");
    assert!(said.contains("removed 1 day;") && files(tables.path(), "groups").len() == 1, "{said}");
    // Engines refuse a table without files.
    assert_eq!((files(tables.path(), "incidents").len(), rows(tables.path(), "incidents")), (1, 0));
    export(tables.path(), &[traces.path()], 0, 1);
}
