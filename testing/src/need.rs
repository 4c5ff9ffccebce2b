//! What a test needs from the machine, and the list of tests that could not run for lack of it.
//!
//! A test that cannot run returns early and passes, so each such test is added to a list, and the scripts print
//! the list after all tests; `make check` fails if anything on it could be installed. The list is a text file with a line
//! for each test: `installable` or `machine`, the test, what it needs and why it did not run, separated by tabs.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, thread};

use crate::private::hides_machine_wide_daemon;
use crate::{CommandInTime as _, workspace};

/// Tools, and the Debian packages that have them where the names differ.
const PACKAGES: &[(&str, &str)] = &[
    ("cc", "gcc"),
    ("clang++", "clang"),
    ("chrt", "util-linux"),
    ("dpkg-deb", "dpkg"),
    ("dpkg-shlibdeps", "dpkg-dev"),
    ("event.h", "libevent-dev"),
    ("ip", "iproute2"),
    ("java", "default-jre-headless"),
    ("ld.lld", "lld"),
    ("lttng", "lttng-tools"),
    ("lttng-relayd", "lttng-tools"),
    ("lttng-sessiond", "lttng-tools"),
    ("lttng/tracepoint.h", "liblttng-ust-dev"),
    ("man", "man-db"),
    ("nm", "binutils"),
    ("promtool", "prometheus"),
    ("readelf", "binutils"),
    ("redis-benchmark", "redis-tools"),
    ("redis-cli", "redis-tools"),
    ("strip", "binutils"),
    ("sys/sdt.h", "systemtap-sdt-dev"),
    ("taskset", "util-linux"),
    ("unshare", "util-linux"),
    ("xz", "xz-utils"),
];

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

/// Lists the running test as not run because a tool, or a header, is not installed.
pub fn missing_tool(tool: &str) {
    let package = PACKAGES.iter().find(|(name, _)| *name == tool).map_or(tool, |(_, package)| package);
    list("installable", tool, &format!("it is not installed (package {package})"));
}

/// Lists the running test as not run because the machine does not allow it, and no package would help.
pub fn not_allowed(what: &str, why: &str) {
    list("machine", what, why);
}

fn is_installed(tool: &str) -> bool {
    let is_program = |path: PathBuf| {
        fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| is_program(folder.join(tool)))
}

fn list(kind: &str, what: &str, why: &str) {
    let line = line(kind, &test(), what, why);
    // Not by `eprintln!`, which libtest hides while a test passes.
    let _ = writeln!(io::stderr(), "not run: {}", line.replace('\t', "  ").trim_end());
    let path = env::var_os("NOT_RUN_LIST").map_or_else(|| workspace().join("target/not-run"), PathBuf::from);
    let added = OpenOptions::new().append(true).create(true).open(&path);
    added.and_then(|mut file| file.write_all(line.as_bytes())).unwrap_or_else(|error| {
        panic!("cannot list that this test did not run: {}: {error}", path.display())
    });
}

/// A line of the list; one write, so that the lines of several processes do not mix.
fn line(kind: &str, test: &str, what: &str, why: &str) -> String {
    let cells = [kind, test, what, why].map(|cell| cell.split_whitespace().collect::<Vec<_>>().join(" "));
    cells.join("\t") + "\n"
}

/// The running test: its binary, and its name unless libtest runs all of them in the main thread.
fn test() -> String {
    let binary = env::current_exe().ok();
    let binary = binary.as_deref().and_then(|path| path.file_stem()).and_then(OsStr::to_str);
    // Cargo adds a hash.
    let binary = binary.map_or("", |name| name.rsplit_once('-').map_or(name, |(name, _)| name));
    match thread::current().name() {
        Some(name) if name != "main" => format!("{binary}::{name}"),
        _ => binary.to_owned(),
    }
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

    #[test]
    fn line_has_four_cells_whatever_a_tool_says() {
        assert_eq!(line("machine", "a::b", "c", "d\n\te  f\n"), "machine\ta::b\tc\td e f\n");
    }

    #[test]
    fn running_test_is_known_by_name() {
        let name = test();
        assert!(
            name == "lttng_testing" || name == "lttng_testing::need::tests::running_test_is_known_by_name"
        );
    }
}
