//! Runs LTTng's own tools.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

use crate::outcome::Trouble;

/// Runs `lttng` and returns what it prints; what went wrong is one line.
pub fn lttng<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Result<String, Trouble> {
    let output = output(arguments)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = [output.stderr, output.stdout].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("no message").to_owned();
    Err(Trouble::Failed(format!("lttng: {}", line.trim_start_matches("Error: "))))
}

/// Whether a session daemon answers.
pub fn answers() -> Result<bool, Trouble> {
    Ok(output(["list"])?.status.success())
}

fn output<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Result<Output, Trouble> {
    let mut command = tool("lttng");
    command.arg("--no-sessiond").args(arguments);
    command.output().map_err(|error| missing("lttng", &error))
}

/// A command for one of LTTng's tools, in a separate process group: Ctrl-C must not end it before we do.
pub fn tool(name: &str) -> Command {
    let mut command = Command::new(name);
    command.process_group(0).stdin(Stdio::null());
    command
}

/// What to say if a tool cannot be run.
pub fn missing(tool: &str, error: &std::io::Error) -> Trouble {
    Trouble::Failed(match error.kind() {
        ErrorKind::NotFound => format!("{tool} is not installed: install the package lttng-tools"),
        _ => format!("cannot run {tool}: {error}"),
    })
}
