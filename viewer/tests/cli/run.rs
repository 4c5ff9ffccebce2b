//! Runs the program itself.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use lttng_testing::Daemon;
use tempfile::TempDir;

use crate::tracee::Tracee;

/// `ltt-top` with these arguments, in a time zone and on a screen that do not depend on the machine.
pub fn ltt_top(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ltt-top"));
    command.args(arguments).env("TZ", "UTC").stdin(Stdio::null());
    ["COLUMNS", "NO_COLOR", "LTT_TOP_CATALOG", "LTTNG_HOME"]
        .iter()
        .for_each(|name| _ = command.env_remove(name));
    command
}

/// What a command wrote and how it ended.
#[derive(Debug)]
pub struct Said {
    pub status: i32,
    pub out: String,
    pub err: String,
}

/// Runs a command to its end.
pub fn said(command: &mut Command) -> Said {
    let Output { status, stdout, stderr } = command.output().expect("it runs");
    Said {
        status: status.code().expect("no signal ended it"),
        out: String::from_utf8(stdout).expect("it writes UTF-8"),
        err: String::from_utf8(stderr).expect("it writes UTF-8"),
    }
}

/// What the command says as JSON; it must succeed.
pub fn json(command: &mut Command) -> serde_json::Value {
    let said = said(command.args(["--format", "json"]));
    assert_eq!(said.status, 0, "{said:?}");
    serde_json::from_str(&said.out).expect("it is JSON")
}

/// A small trace of `tracee`: 40 events `every_type`, and 1,000 events `work` of 0 to 999 ns, with `vpid`.
pub fn small_trace() -> &'static Path {
    static TRACE: OnceLock<TempDir> = OnceLock::new();
    let folder = TRACE.get_or_init(|| {
        let daemon = Daemon::start();
        let session = daemon.recording_with(&["tracee:*"], &[], &["vpid"]);
        let mut tracee = Tracee::start(&daemon);
        tracee.emit("every_type", 40);
        tracee.emit("work", 1000);
        drop(tracee);
        copy(session.stop().folder())
    });
    folder.path()
}

/// A copy of a folder that the test may damage; it goes when it is dropped.
pub fn copy(folder: &Path) -> TempDir {
    let copy = tempfile::tempdir().expect("a temporary folder");
    let status = Command::new("cp").arg("-r").arg(folder).arg(copy.path()).status();
    assert!(status.expect("cp runs").success());
    copy
}

/// The stream files of a trace that hold anything, sorted.
pub fn streams(folder: &Path) -> Vec<PathBuf> {
    let mut streams = Vec::new();
    for entry in std::fs::read_dir(folder).expect("it is a folder").flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && name != "index" {
            streams.extend(self::streams(&path));
        } else if path.is_file() && name != "metadata" && path.metadata().is_ok_and(|file| file.len() > 0) {
            streams.push(path);
        }
    }
    streams.sort();
    streams
}
