//! Python with packages of others, in an environment of this workspace.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::{CommandInTime as _, not_allowed, patience, workspace};

/// Python with these packages, by `scripts/python.sh`; if they cannot be installed within a time, the test is listed as not run.
pub fn python(packages: &[&str], limit: Duration) -> Option<PathBuf> {
    let mut script = Command::new(workspace().join("scripts/python.sh"));
    script.args(packages).env("PYTHON_TIMEOUT", limit.as_secs().to_string());
    // The script ends before that.
    let output = script.output_within(patience(2 * limit)).expect("it runs");
    if output.status.success() {
        return Some(String::from_utf8(output.stdout).expect("a path").trim().into());
    }
    not_allowed(&format!("Python with {}", packages.join(", ")), &String::from_utf8_lossy(&output.stderr));
    None
}
