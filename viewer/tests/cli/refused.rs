//! What `html`, `export` and `compare` refuse: one line that says what, where and what to do, the documented status, and nothing
//! half-written.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use lttng_testing::{CommandInTime as _, need_namespaces, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::handwritten::{Handwritten, requests};
use super::run::{Said, ltt_top, said};

/// The commands that write a file.
const WRITERS: [&[&str]; 2] = [&["html"], &["export", "--to", "chrome-trace"]];

/// A folder with a trace `t`, a trace without events, one that is damaged throughout, a file, a link to it, and a folder.
fn scene() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    requests("alpha", &[("get", 10), ("set", 30)]).write_to(&path("t"));
    Handwritten::new("alpha").write_to(&path("eventless"));
    fs::create_dir_all(path("damaged")).unwrap();
    fs::write(path("damaged/metadata"), "not metadata").unwrap();
    fs::write(path("file"), "precious").unwrap();
    std::os::unix::fs::symlink("file", path("link")).unwrap();
    fs::create_dir(path("folder")).unwrap();
    folder
}

/// All files of a scene, with what is in them.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => files.extend(self::files(&path)),
            false => files.push((path.to_string_lossy().into_owned(), fs::read(&path).unwrap())),
        }
    }
    files.sort();
    files
}

fn ltt_top_in(scene: &TempDir, arguments: &[&str]) -> Said {
    said(ltt_top(arguments).current_dir(scene.path()).env("PATH", "/usr/bin:/bin"))
}

#[track_caller]
fn assert_refused(said: &Said, status: i32, because: &str) {
    assert_eq!((said.status, &*said.out), (status, ""), "{said:?}");
    assert!(said.err.starts_with("ltt-top: error: ") && said.err.lines().count() == 1, "{said:?}");
    assert!(said.err.contains(because), "{because}: {said:?}");
}

#[test]
fn files_that_cannot_be_written_are_refused_before_and_after_and_nothing_is_left() {
    let scene = scene();
    let before = files(scene.path());
    let cases: [(&[&str], &str); 11] = [
        (&["t", "--output", "file"], "file: it exists already; --force replaces it"),
        (&["t", "--output", "link"], "link: it exists already; --force replaces it"),
        (&["t", "--output", "folder"], "folder: it is a folder; name a file"),
        (&["t", "--output", "folder", "--force"], "folder: it is a folder; name a file"),
        (&["t", "--output", "nowhere/x"], "nowhere/x: there is no folder nowhere; create it"),
        (&["t", "--output", "file/x"], "file/x: there is no folder file"),
        (&["t", "--output", "/proc/x"], "/proc/x: cannot write into its folder: "),
        (&["t", "--output", "/dev/full"], "/dev/full: cannot write it: No space left on device"),
        (&["t", "--output", "t/x"], "t/x: this folder holds a trace; a file here would be read as a stream"),
        (&["gone", "--output", "x"], "gone: "),
        (&["damaged", "--output", "x"], "damaged/metadata"),
    ];
    for (arguments, because) in cases {
        for command in WRITERS {
            assert_refused(&ltt_top_in(&scene, &[command, arguments].concat()), 1, because);
        }
    }
    assert_eq!(files(scene.path()), before);
}

#[test]
fn a_full_disk_and_a_closed_pipe_leave_nothing() {
    if !need_namespaces() {
        return;
    }
    let scene = scene();
    let script = r#"mount -t tmpfs -o size=16k none folder && for command in html export; do
        "$0" $command t --output folder/x; echo $?; "$0" $command t --output -| true; ls -A folder; done"#;
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_ltt-top")]);
    let output = command.current_dir(scene.path()).output_in_time().expect("it runs");
    let [out, err] = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap());
    // The small timeline fits.
    assert_eq!(out, "1\n0\nx\n", "{err}");
    assert!(err.contains("folder/x: cannot write it: No space left on device"), "{err}");
}

#[test]
fn devices_pipes_and_links_are_written_through() {
    let scene = scene();
    for command in WRITERS {
        for output in ["-", "/dev/stdout"] {
            let said = ltt_top_in(&scene, &[command, &["t", "--output", output]].concat());
            assert_eq!(said.status, 0, "{said:?}");
            assert!(said.out.starts_with(['<', '{']) && said.err.contains("wrote "), "{said:?}");
        }
        // It stays a device.
        assert_eq!(
            ltt_top_in(&scene, &[command, &["t", "--output", "/dev/null", "--force"]].concat()).status,
            0
        );
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        let said = ltt_top_in(&scene, &[command, &["t", "--output", "link", "--force"]].concat());
        assert_eq!(said.status, 0, "{said:?}");
        let link = scene.path().join("link");
        assert!(link.is_symlink() && fs::metadata(&link).unwrap().len() > 100, "{said:?}");
        let empty = ltt_top_in(&scene, &[command, &["eventless", "--output", "-"]].concat());
        assert_eq!(empty.status, 0, "{empty:?}");
    }
}

#[test]
fn a_signal_while_a_file_is_written_leaves_nothing() {
    let scene = scene();
    let many: Vec<(&str, u64)> = (0..50_000).map(|number| ("get", number % 100)).collect();
    requests("alpha", &many).write_to(&scene.path().join("large"));
    let before = files(scene.path()).len();
    let mut command = ltt_top(["export", "large", "--output", "x"]);
    let mut child = command.current_dir(scene.path()).stderr(Stdio::piped()).spawn().expect("it runs");
    let is_partial = || files(scene.path()).iter().any(|(name, _)| name.contains("/.ltt-top-"));
    wait_until("it writes or has ended", || is_partial() || child.try_wait().unwrap().is_some());
    _ = kill_process(Pid::from_child(&child), Signal::INT);
    wait_until("it ends", || {
        std::thread::sleep(Duration::from_millis(5));
        child.try_wait().unwrap().is_some()
    });
    let left: Vec<String> = files(scene.path()).into_iter().map(|(name, _)| name).collect();
    assert!(!left.iter().any(|name| name.contains("/.ltt-top-")), "{left:?}");
    assert!(left.len() == before || scene.path().join("x").exists(), "{left:?}");
}

#[test]
fn comparisons_and_exports_that_make_no_sense_are_refused() {
    let scene = scene();
    let before = files(scene.path());
    let cases: [(&[&str], i32, &str); 16] = [
        (&["compare", "t", "t", "--fail-if", "new<1%"], 2, "new>1%"),
        (&["compare", "t", "t", "--allow", "new"], 2, "--fail-if"),
        (&["compare", "t", "t", "--fail-if", "p99>1%", "--allow", "all"], 2, "empty, lost, short"),
        (&["compare", "t", "t", "--report", "x.pdf"], 2, ".md, .xml"),
        (&["compare", "t", "t", "--fail-if", "p98>+10%"], 2, "--fail-if"),
        (&["compare", "t", "t", "--fail-if", "p99"], 2, "--fail-if"),
        (&["compare", "t", "t", "--fail-if", "p99>ten"], 2, "--fail-if"),
        (&["compare", "t", "t", "--error-rate", "7"], 2, "--error-rate"),
        (&["compare", "t"], 2, "compare needs two recordings"),
        (&["compare", "t", "gone"], 1, "gone: "),
        (&["compare", "damaged", "t"], 1, "damaged/metadata"),
        (&["export", "t"], 2, "--output"),
        (&["export", "t", "--to", "pdf", "--output", "x"], 2, "chrome-trace, speedscope, perfetto, parquet"),
        (&["export", "t", "--to", "parquet", "--output", "x", "--event", "y"], 2, "filter them in the query"),
        (&["live", "--enable", "x", "net://127.0.0.1/y"], 2, "leave the URL out"),
        (&["record"], 2, "--enable"),
    ];
    for (arguments, status, because) in cases {
        assert_refused(&ltt_top_in(&scene, arguments), status, because);
    }
    for (arguments, doubt) in [
        (&["compare", "t", "./t"][..], "both recordings have t: name two different ones"),
        (&["compare", "t", "eventless"], "app:request"),
    ] {
        let said = ltt_top_in(&scene, arguments);
        assert!(said.status == 0 && [said.err, said.out].concat().contains(doubt), "{doubt}");
    }
    // A copy, so that `ltt-parquet` is not beside it.
    let program = scene.path().join("ltt-top");
    fs::copy(env!("CARGO_BIN_EXE_ltt-top"), &program).unwrap();
    let mut command = Command::new(&program);
    command.args(["export", "t", "--to", "parquet", "--output", "x"]).env("PATH", "/nowhere");
    let alone = said(command.current_dir(scene.path()));
    fs::remove_file(program).unwrap();
    assert_refused(&alone, 1, "ltt-parquet is not installed: ");
    assert_eq!(files(scene.path()), before);
}
