//! Programs that offer something, built as their authors would.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use lttng_testing::CommandInTime as _;
use serde_json::Value;
use tempfile::TempDir;

/// The program of `offers.c`, linked with these further arguments.
pub struct Built {
    folder: TempDir,
}

impl Built {
    pub fn new(arguments: &[&str]) -> Built {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tool/list/c");
        let mut compiler = Command::new("gcc");
        compiler.args(["-O1", "-g", "-o"]).arg(folder.path().join("offers")).arg("-I").arg(&sources);
        compiler.arg(sources.join("offers.c")).args(arguments).args(["-llttng-ust", "-ldl"]);
        compiler.succeed();
        Built { folder }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("offers")
    }

    pub fn strip(self) -> Built {
        Command::new("strip").arg("--strip-all").arg(self.path()).succeed();
        self
    }
}

/// The plain program, built once.
pub fn plain() -> &'static Built {
    static BUILT: OnceLock<Built> = OnceLock::new();
    BUILT.get_or_init(|| Built::new(&[]))
}

/// `lttng-catalog list` with these arguments: the status, the JSON, and what it complained of.
pub fn list(arguments: &[&str]) -> (i32, Value, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lttng-catalog"));
    let output = command.arg("list").args(arguments).args(["--format", "json"]).output().expect("it runs");
    let json = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (
        output.status.code().expect("no signal ended it"),
        json,
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// What a program alone offers; nothing may be amiss.
pub fn offer(path: &Path) -> Value {
    let (status, json, said) = list(&[path.to_str().expect("UTF-8"), "--no-libraries"]);
    assert_eq!((status, &*said), (0, ""), "{}", path.display());
    json["files"][0].clone()
}
