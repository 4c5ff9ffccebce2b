//! Runs the program itself.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What the program wrote and how it ended.
#[derive(Debug)]
pub struct Said {
    pub status: i32,
    pub out: String,
    pub err: String,
}

/// Runs `lttng-catalog` with these arguments to its end.
pub fn said<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lttng-catalog"));
    let Output { status, stdout, stderr } =
        command.args(arguments).env_remove("COLUMNS").output().expect("it runs");
    Said {
        status: status.code().expect("no signal ended it"),
        out: String::from_utf8(stdout).expect("it writes UTF-8"),
        err: String::from_utf8(stderr).expect("it writes UTF-8"),
    }
}

/// A catalog that comes with the project.
pub fn catalog(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalog").join(name)
}

/// A file or folder of these tests.
pub fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tool").join(name)
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("the path is UTF-8")
}
