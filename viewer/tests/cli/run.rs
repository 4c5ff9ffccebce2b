//! Runs the program itself.

use std::ffi::OsStr;
use std::process::{Command, Output};

/// `ltt-top` with these arguments, in a time zone and on a screen that do not depend on the machine.
pub fn ltt_top(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ltt-top"));
    command.args(arguments).env("TZ", "UTC").env_remove("COLUMNS").env_remove("NO_COLOR");
    command
}

/// What the command says as JSON; it must succeed.
pub fn json(command: &mut Command) -> serde_json::Value {
    let Output { status, stdout, stderr } = command.args(["--format", "json"]).output().expect("it runs");
    assert!(status.success(), "{status}: {}", String::from_utf8_lossy(&stderr));
    serde_json::from_slice(&stdout).expect("it is JSON")
}
