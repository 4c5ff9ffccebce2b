//! Readers of the Delta Lake log see one version of the tables, whole, while others export, compact and remove days.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lttng_testing::{CommandInTime as _, must_end, python, workspace};

use crate::handwritten::{BEGIN, Handwritten};
use crate::run::{files, ltt_parquet, rows, said};

const HOSTS: usize = 4;
const EVENTS: u64 = 25;

/// A chunk of each host, with events from this time on.
fn write_chunks(folder: &Path, begin: u64) {
    for host in 0..HOSTS {
        let mut trace = Handwritten::new(&format!("host-{host}"));
        // Fields differ, so that the schema grows.
        let class =
            trace.class("app:request", &format!("string _name; u64 _latency_us; u64 _f{};", begin % 7));
        for event in 0..EVENTS {
            let name = format!("request-{}\0", event % 3);
            let numbers = (event * 1000).to_le_bytes();
            trace.event_at(begin + event * 1000, class, &[name.as_bytes(), &numbers, &numbers]);
        }
        trace.write_to(&folder.join(format!("host-{host}")));
    }
}

fn run(command: &str, arguments: &[&str], tables: &Path) -> (i32, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_ltt-parquet"));
    said(program.arg(command).args(arguments).arg(tables))
}

#[test]
fn compaction_and_retention_keep_old_files_for_a_while_and_rows_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let tables = folder.path().join("tables");
    for chunk in 0..3 {
        let traces = folder.path().join(format!("chunk-{chunk}"));
        write_chunks(&traces, BEGIN + chunk * 1_000_000_000);
        let (status, said) = said(ltt_parquet(&tables, &[&traces]).arg("--delta"));
        assert_eq!(status, 0, "{said}");
    }
    let count = 3 * HOSTS * EVENTS as usize;
    assert_eq!((rows(&tables, "events"), files(&tables, "events").len()), (count, 3 * HOSTS));
    let (status, said) = run("compact", &["--grace", "1h"], &tables);
    assert!(status == 0 && said.contains("made 8 files of 24 files"), "{said}");
    assert_eq!(files(&tables, "events").len(), 4 * HOSTS, "readers of older versions need them");
    let (status, said) = run("compact", &["--grace", "0s"], &tables);
    assert!(status == 0 && said.contains("made 0 files"), "{said}");
    assert_eq!((rows(&tables, "events"), files(&tables, "events").len()), (count, HOSTS));
    let (status, said) = run("prune", &["--keep", "30d", "--grace", "0s"], &tables);
    assert!(status == 0 && said.contains("removed 1 day;"), "{said}");
    assert!(files(&tables, "events").is_empty() && !tables.join("events/date=2023-11-14").exists());
    // Without a log, compaction would show rows twice.
    let plain = folder.path().join("plain");
    assert_eq!(crate::run::said(&mut ltt_parquet(&plain, &[&folder.path().join("chunk-0")])).0, 0);
    let (status, said) = run("compact", &[], &plain);
    assert!(status == 1 && said.contains("without a log"), "{said}");
    let (status, said) =
        crate::run::said(ltt_parquet(&plain, &[&folder.path().join("chunk-0")]).arg("--delta"));
    assert!(status == 1 && said.contains("files without a log"), "{said}");
}

#[test]
#[ignore = "make check: Polars and Delta Lake from PyPI"]
fn a_reader_sees_one_version_while_others_export_compact_and_prune() {
    let Some(python) = python(&["deltalake", "polars", "duckdb"], Duration::from_secs(200)) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (tables, end) = (folder.path().join("tables"), folder.path().join("end"));
    let of_run = HOSTS * EVENTS as usize;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_nanos() as u64;
    let mut reader = None;
    for chunk in 0..10 {
        let traces = folder.path().join(format!("chunk-{chunk}"));
        // The last two are of today: compaction leaves them alone, and retention keeps them.
        write_chunks(
            &traces,
            if chunk < 8 { BEGIN + chunk * 1_000_000_000 } else { now + chunk * 1_000_000 },
        );
        let (status, said) = said(ltt_parquet(&tables, &[&traces]).arg("--delta"));
        assert_eq!(status, 0, "{said}");
        if chunk == 0 {
            let mut command = Command::new(&python);
            command.arg(workspace().join("fleet/tests/versions.py")).arg(&tables).arg(&end);
            command.args((1..=10).map(|runs| (runs * of_run).to_string()));
            reader = Some(command.stdout(Stdio::piped()).spawn().expect("it runs"));
        }
        if chunk % 3 == 2 {
            let (status, said) = run("compact", &["--grace", "60s"], &tables);
            assert_eq!(status, 0, "{said}");
        }
    }
    let (status, said) = run("prune", &["--keep", "30d", "--grace", "60s"], &tables);
    assert_eq!(status, 0, "{said}");
    std::fs::write(&end, "").expect("it can be written");
    let output = must_end("the reader", move || reader.expect("it was started").wait_with_output());
    let output = output.expect("it ran");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{text}");
    assert!(output.status.success(), "{text}");
    let expected = format!("the last has {} events in {} files, {0} by DuckDB", 2 * of_run, 2 * HOSTS);
    assert!(text.contains(&expected), "{text}");
}

#[test]
#[ignore = "make check: Polars and Delta Lake from PyPI"]
fn a_checkpoint_takes_the_place_of_the_versions_before_it() {
    let Some(python) = python(&["deltalake", "polars", "duckdb"], Duration::from_secs(200)) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (tables, end) = (folder.path().join("tables"), folder.path().join("end"));
    let traces = folder.path().join("traces");
    std::fs::write(&end, "").expect("it can be written");
    let export = |chunk: u64| {
        _ = std::fs::remove_dir_all(&traces);
        write_chunks(&traces, BEGIN + chunk * 1_000_000_000);
        let (status, said) = said(ltt_parquet(&tables, &[&traces]).arg("--delta"));
        assert_eq!(status, 0, "{said}");
    };
    let versions = |table: &str| {
        let names = std::fs::read_dir(tables.join(table).join("_delta_log")).expect("it is there");
        let names = names.map(|entry| entry.expect("a file").file_name().into_string().expect("a name"));
        names.filter(|name| name.ends_with(".json")).count()
    };
    let read = |runs: usize, files: usize| {
        let count = runs * HOSTS * EVENTS as usize;
        let mut command = Command::new(&python);
        command
            .arg(workspace().join("fleet/tests/versions.py"))
            .arg(&tables)
            .arg(&end)
            .arg(count.to_string());
        let text = command.succeed();
        assert!(
            text.contains(&format!("the last has {count} events in {files} files, {count} by DuckDB")),
            "{text}"
        );
    };
    // The first version is empty.
    (0..21).for_each(export);
    assert_eq!(versions("events"), 22);
    for table in ["events", "groups"] {
        (0..20).for_each(|version| {
            let log = tables.join(table).join("_delta_log");
            std::fs::remove_file(log.join(format!("{version:020}.json"))).expect("it is there");
        });
    }
    read(21, 21 * HOSTS);
    // What writes goes on from there, and removes by itself what nobody needs.
    let (status, said) = run("compact", &["--grace", "0s"], &tables);
    assert!(status == 0 && said.contains("made 8 files of 168 files"), "{said}");
    read(21, HOSTS);
    (21..40).for_each(export);
    let (status, said) = run("compact", &["--grace", "0s"], &tables);
    assert_eq!(status, 0, "{said}");
    read(40, HOSTS);
    assert!(versions("events") < 20, "{}", versions("events"));
    assert_eq!(files(&tables, "events").len(), HOSTS, "files that were removed from the log are gone");
}
