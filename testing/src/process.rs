//! Running processes where a private daemon serves them.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::geteuid;

use crate::missing_tool;

/// A command that runs a program with this home; as root, in a user namespace in which it is not root.
pub(crate) fn command(program: &OsStr, home: &Path, variables: &[(String, String)]) -> Command {
    let mut command = if geteuid().is_root() {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-user=1000", "--map-group=1000"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command.env("LTTNG_HOME", home).env("LTTNG_UST_REGISTER_TIMEOUT", "-1").stdin(Stdio::null());
    command
}

/// What to say when a tool cannot be run. One that is missing is also listed, with the test that needs it.
pub(crate) fn missing(tool: &str, error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => {
            missing_tool(tool);
            format!("{tool} is not installed: run `make setup`")
        }
        _ => format!("cannot run {tool}: {error}"),
    }
}
