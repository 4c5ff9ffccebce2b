//! What a test needs from the machine. A test that cannot have it is listed as not run, and should return.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::deadline::CommandInTime as _;
use crate::not_run::{missing_tool, not_allowed};
use crate::private::hides_machine_wide_daemon;

/// Whether a tool is installed. If it is not, the test is listed as not run and should return.
///
/// ```
/// if !lttng_testing::need("sh") {
///     return;
/// }
/// ```
#[must_use]
pub fn need(tool: &str) -> bool {
    let is_installed = is_installed(tool);
    if !is_installed {
        missing_tool(tool);
    }
    is_installed
}

/// Whether this user may make user namespaces, in which a host can have another name. If not, the test is listed as not
/// run and should return.
#[must_use]
pub fn need_namespaces() -> bool {
    let mut unshare = Command::new("unshare");
    let output = need("unshare").then(|| {
        unshare
            .args(["--user", "--map-root-user", "--uts", "true"])
            .output_in_time()
            .expect("it is installed")
    });
    match output {
        Some(output) if output.status.success() => return true,
        Some(output) => not_allowed("user namespaces", &String::from_utf8_lossy(&output.stderr)),
        None => {}
    }
    false
}

/// Whether programs of a [`Daemon`](crate::Daemon) find no other daemon. If one serves the whole machine and cannot be
/// hidden from them, the test is listed as not run and should return.
#[must_use]
pub fn need_no_other_daemon() -> bool {
    let is_alone = hides_machine_wide_daemon();
    if !is_alone {
        not_allowed(
            "no other session daemon",
            "one serves the machine, and mount namespaces are not allowed",
        );
    }
    is_alone
}

/// Whether bpftrace is installed and may attach to probes. If not, the test is listed as not run and should return.
#[must_use]
pub fn need_bpftrace() -> bool {
    if !need("bpftrace") {
        return false;
    }
    let output =
        Command::new("bpftrace").args(["-e", "BEGIN { exit(); }"]).output_in_time().expect("it is installed");
    if !output.status.success() {
        not_allowed("bpftrace", &String::from_utf8_lossy(&output.stderr));
        return false;
    }
    let has_uprobes = UPROBES.iter().any(|path| Path::new(path).exists());
    if !has_uprobes {
        not_allowed("uprobes", "the kernel has none, or tracefs is not mounted");
    }
    has_uprobes
}

/// One of these exists where the kernel has uprobes.
const UPROBES: [&str; 3] = [
    "/sys/kernel/tracing/uprobe_events",
    "/sys/kernel/debug/tracing/uprobe_events",
    "/sys/bus/event_source/devices/uprobe",
];

fn is_installed(tool: &str) -> bool {
    let is_program = |path: PathBuf| {
        fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| is_program(folder.join(tool)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_found_on_the_path_only() {
        assert!(is_installed("sh"));
        assert!(!is_installed("no-such-tool"));
        assert!(!is_installed(""), "a folder is not a tool");
    }
}
