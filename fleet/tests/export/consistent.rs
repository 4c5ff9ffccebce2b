//! Whatever happens to an export: no file that an engine reads is cut, and the next run completes the folder.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lttng_testing::{ChildInTime as _, CommandInTime as _, Random, need_namespaces};
use tempfile::TempDir;

use crate::handwritten::{BEGIN, Handwritten, requests};
use crate::run::{files, ltt_parquet, metadata, rows, said};

/// The traces of hosts, each with this number of events.
fn fleet(hosts: usize, events: u64) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for host in 0..hosts {
        let mut trace = Handwritten::new(&format!("host-{host}"));
        let class = trace.class("app:request", "string _name; u64 _latency_us;");
        for event in 0..events {
            let name = format!("request-{}\0", event % 100);
            trace.event_at(BEGIN + event * 1000, class, &[name.as_bytes(), &(event % 1000).to_le_bytes()]);
        }
        trace.write_to(&folder.path().join(format!("host-{host}")));
    }
    folder
}

fn all_is_there(tables: &Path, hosts: usize, events: u64) {
    assert_eq!(files(tables, "events").len(), hosts);
    assert_eq!(rows(tables, "events"), hosts * events as usize);
    let remains = Command::new("find").arg(tables.join("_ltt/staging")).arg("-type").arg("f").output();
    let remains = remains.expect("find runs").stdout;
    assert!(remains.is_empty(), "{}", String::from_utf8_lossy(&remains));
}

#[test]
fn an_export_that_is_killed_leaves_whole_files_and_is_completed_by_the_next() {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_nanos() as u64;
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let traces = fleet(6, 3000);
    let tables = tempfile::tempdir().expect("a temporary folder");
    for _ in 0..8 {
        let mut export = ltt_parquet(tables.path(), &[traces.path()]);
        let mut running = export.stderr(Stdio::null()).spawn().expect("it runs");
        sleep(Duration::from_millis(random.below(120)));
        // It may have ended already.
        running.kill().expect("it was started");
        running.wait_in_time().expect("it ends");
        // Reads every file: one that is cut fails here.
        ["events", "groups", "incidents"].iter().for_each(|table| _ = rows(tables.path(), table));
    }
    let (status, said) = said(&mut ltt_parquet(tables.path(), &[traces.path()]));
    assert_eq!(status, 0, "{said}");
    all_is_there(tables.path(), 6, 3000);
}

#[test]
fn a_full_disk_leaves_whole_files_and_is_completed_when_there_is_room() {
    if !need_namespaces() {
        return;
    }
    let traces = fleet(4, 3000);
    let tables = tempfile::tempdir().expect("a temporary folder");
    // In a private namespace, so that nothing is mounted for others. A file fills the disk and makes room when it is
    // removed: a plain user may mount a tmpfs, but not mount it again with another size. What is there when the disk is
    // full is copied.
    let script = r#"
        mount -t tmpfs -o size=8m none "$1" && head -c 8224768 /dev/zero >"$1/ballast" || exit 99
        "$0" --output "$1/t" "$2" 2>"$3/said"; echo $? >"$3/status"
        mkdir "$3/full" && cp -r "$1/t" "$3/full/"
        rm "$1/ballast" || exit 99
        "$0" --output "$1/t" "$2" 2>>"$3/said" || exit 98
        cp -r "$1/t" "$3/whole"
    "#;
    let kept = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    command.arg(env!("CARGO_BIN_EXE_ltt-parquet")).arg(tables.path()).arg(traces.path()).arg(kept.path());
    let output = command.output_in_time().expect("it runs");
    let text = |name: &str| std::fs::read_to_string(kept.path().join(name)).unwrap_or_default();
    assert!(output.status.success(), "{output:?} {}", text("said"));
    assert_eq!(text("status").trim(), "1", "{}", text("said"));
    assert!(text("said").contains("No space left on device"), "{}", text("said"));
    assert!(rows(&kept.path().join("full/t"), "events") < 4 * 3000);
    all_is_there(&kept.path().join("whole"), 4, 3000);
}

#[test]
fn a_damaged_trace_spoils_no_other() {
    let traces = fleet(5, 100);
    // One is no trace at all, and of one the end is missing.
    std::fs::write(traces.path().join("host-1/metadata"), "/* CTF 1.8 */ trace {")
        .expect("it can be written");
    let stream = traces.path().join("host-3/stream_0");
    let bytes = std::fs::read(&stream).expect("it is there");
    std::fs::write(&stream, &bytes[..bytes.len() / 2]).expect("it can be written");
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    let file = std::fs::File::options().write(true).open(&stream).expect("it is there");
    file.set_modified(long_ago).expect("it can be set");
    let tables = tempfile::tempdir().expect("a temporary folder");
    let (status, said) = said(&mut ltt_parquet(tables.path(), &[traces.path()]));
    assert_eq!(status, 3, "{said}");
    assert!(said.contains("host-1/metadata") && said.contains("host host-3"), "{said}");
    assert_eq!(files(tables.path(), "events").len(), 4);
    let whole = rows(tables.path(), "events");
    assert!((300..400).contains(&whole), "{whole}");
    let damage = metadata(tables.path(), "events", "ltt.damaged_places");
    assert_eq!(damage, ["0", "1"], "the file of the damaged one says so");
    let (status, again) = crate::run::said(&mut ltt_parquet(tables.path(), &[traces.path()]));
    assert!(status == 3 && again.contains("host host-3: 1 damaged part"), "{again}");
    assert_eq!(rows(tables.path(), "events"), whole);
}

#[test]
fn what_is_still_being_written_waits_until_it_is_whole() {
    let traces = fleet(1, 100);
    let stream = traces.path().join("host-0/stream_0");
    let bytes = std::fs::read(&stream).expect("it is there");
    std::fs::write(&stream, &bytes[..bytes.len() / 2]).expect("it can be written");
    let tables = tempfile::tempdir().expect("a temporary folder");
    let (status, half) = said(&mut ltt_parquet(tables.path(), &[traces.path()]));
    assert!(status == 0 && half.contains("1 packet still being written"), "{half}");
    std::fs::write(&stream, &bytes).expect("it can be written");
    assert_eq!(said(&mut ltt_parquet(tables.path(), &[traces.path()])).0, 0);
    all_is_there(tables.path(), 1, 100);
}

#[test]
fn runs_at_the_same_time_export_each_host_once_and_all_succeed() {
    let traces = fleet(12, 50);
    // With a log, a run keeps hosts until they become a version: two must not wait for each other's.
    for log in [&[][..], &["--delta"]] {
        let tables = tempfile::tempdir().expect("a temporary folder");
        let start = |_| {
            let mut command = ltt_parquet(tables.path(), &[traces.path()]);
            command.args(log).args(["--threads", "2"]).stderr(Stdio::null()).spawn().expect("it runs")
        };
        let running: Vec<_> = (0..4).map(start).collect();
        for mut export in running {
            assert!(export.wait_in_time().expect("it ends").success());
        }
        all_is_there(tables.path(), 12, 50);
    }
}

#[test]
fn files_say_where_they_come_from() {
    let traces = tempfile::tempdir().expect("a temporary folder");
    requests("alpha", &[("get", 10)]).write_to(&traces.path().join("a"));
    let tables = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(said(&mut ltt_parquet(tables.path(), &[traces.path()])).0, 0);
    for (key, value) in
        [("host", "alpha"), ("events", "1"), ("discarded_events", "0"), ("damage", "[]"), ("catalogs", "[]")]
    {
        assert_eq!(metadata(tables.path(), "events", &format!("ltt.{key}")), [value]);
    }
}
