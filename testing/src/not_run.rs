//! The list of tests that could not run.
//!
//! A test that cannot run returns early and passes, so each such test is added to a list, and the scripts print
//! the list after all tests; `make check` fails if anything on it could be installed. The list is a text file with a line
//! for each test: `installable` or `machine`, the test, what it needs and why it did not run, separated by tabs.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::{env, thread};

/// Tools, and the Debian packages that have them where the names differ.
const PACKAGES: &[(&str, &str)] = &[
    ("autoreconf", "automake"),
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
    ("redis-check-rdb", "redis-tools"),
    ("redis-cli", "redis-tools"),
    ("strip", "binutils"),
    ("sys/sdt.h", "systemtap-sdt-dev"),
    ("taskset", "util-linux"),
    ("tclsh", "tcl"),
    ("unshare", "util-linux"),
    ("xz", "xz-utils"),
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

/// The folder of the workspace.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("testing/ is a folder of the workspace")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_has_four_cells_whatever_a_tool_says() {
        assert_eq!(line("machine", "a::b", "c", "d\n\te  f\n"), "machine\ta::b\tc\td e f\n");
    }

    #[test]
    fn running_test_is_known_by_name() {
        let name = test();
        assert!(
            name == "lttng_testing" || name == "lttng_testing::not_run::tests::running_test_is_known_by_name"
        );
    }
}
