//! C programs beside ours.
#![allow(dead_code, reason = "each test uses some of it")]

use std::path::{Path, PathBuf};
use std::process::Command;

use lttng_testing::workspace;

/// Compiles a file of `fixtures/c`, and returns the program.
pub fn compile_c(source: &str, program: &Path, arguments: &[&str]) -> PathBuf {
    let folder = workspace().join("tests/fixtures/c");
    let mut cc = Command::new("cc");
    cc.arg("-I").arg(&folder).arg(folder.join(source)).arg("-o").arg(program).args(arguments);
    let output = cc.output().expect("a C compiler is installed");
    assert!(output.status.success(), "{cc:?}\n{}", String::from_utf8_lossy(&output.stderr));
    program.to_owned()
}

/// The program that prints what a trigger captures.
pub fn notified(folder: &Path) -> PathBuf {
    compile_c("notified.c", &folder.join("notified"), &["-l:liblttng-ctl.so.0"])
}
