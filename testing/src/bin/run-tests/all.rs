//! All test binaries of a workspace, as many at a time as there are processors: while tests of one wait for daemons, those
//! of another compute.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{available_parallelism, scope};
use std::{env, fs};

use serde_json::Value;

/// Those that take longest, which begin first so that nothing waits for them alone.
const LONGEST: [&str; 4] = ["program", "end_to_end", "module", "reader"];

/// A test binary, and the folder of its package, in which it runs.
struct Binary {
    path: PathBuf,
    folder: PathBuf,
}

/// Runs the binaries that `cargo test --no-run --message-format=json` has listed in a file, each in a process of this
/// program, and prints what each printed when it ends.
pub fn run(list: &str) -> ExitCode {
    let messages = fs::read_to_string(list).unwrap_or_else(|error| panic!("{list}: {error}"));
    let binaries = Mutex::new(binaries(&messages));
    let processors = available_parallelism().map_or(2, usize::from);
    let (printing, has_failed) = (Mutex::new(()), AtomicBool::new(false));
    let libraries = libraries();
    let work = || {
        while let Some(Binary { path, folder }) = next(&binaries) {
            let mut runner = Command::new(env::current_exe().expect("it runs"));
            // As Cargo runs tests.
            runner.arg(path).current_dir(&folder).env("CARGO_MANIFEST_DIR", folder);
            runner.env("LD_LIBRARY_PATH", &libraries);
            if env::var_os("RUST_TEST_THREADS").is_none() {
                // Most of them wait for daemons.
                runner.env("RUST_TEST_THREADS", (processors + 1).to_string());
            }
            let output = runner.output().expect("it runs");
            has_failed.fetch_or(!output.status.success(), Ordering::Relaxed);
            let _printing = printing.lock().unwrap_or_else(PoisonError::into_inner);
            println!("{}", String::from_utf8_lossy(&[output.stderr, output.stdout].concat()));
        }
    };
    scope(|scope| (0..processors).for_each(|_| _ = scope.spawn(work)));
    if has_failed.into_inner() { ExitCode::from(101) } else { ExitCode::SUCCESS }
}

fn next(binaries: &Mutex<VecDeque<Binary>>) -> Option<Binary> {
    binaries.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

/// The binaries that messages of Cargo list, the longest first.
fn binaries(messages: &str) -> VecDeque<Binary> {
    let binary = |message: Value| {
        let is_test = message["profile"]["test"] == true;
        let path = message["executable"].as_str().filter(|_| is_test)?;
        let folder = PathBuf::from(message["manifest_path"].as_str()?).parent()?.to_owned();
        let name = message["target"]["name"].as_str()?;
        let rank = LONGEST.iter().position(|long| *long == name).unwrap_or(LONGEST.len());
        Some((rank, Binary { path: path.into(), folder }))
    };
    let messages = messages.lines().filter_map(|line| serde_json::from_str(line).ok());
    let mut binaries: Vec<_> = messages.filter_map(binary).collect();
    assert!(!binaries.is_empty(), "no test binaries are listed");
    binaries.sort_by_key(|(rank, _)| *rank);
    binaries.into_iter().map(|(_, binary)| binary).collect()
}

/// Where tests of proc macros find the standard library.
fn libraries() -> String {
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or("rustc".into()));
    let folder = rustc.args(["--print", "target-libdir"]).output().expect("rustc is installed").stdout;
    String::from_utf8_lossy(&folder).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_binaries_are_found_in_the_messages_of_cargo_and_the_longest_begin() {
        let message = |name: &str, is_test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/{name}/Cargo.toml","target":{{"name":"{name}"}},"profile":{{"test":{is_test}}},"executable":"/t/{name}"}}"#
            )
        };
        let build_finished = r#"{"reason":"build-finished","success":true}"#;
        let messages =
            [message("a", true), message("b", false), message("reader", true), build_finished.into()];
        let found: Vec<_> =
            binaries(&messages.join("\n")).into_iter().map(|binary| (binary.path, binary.folder)).collect();
        assert_eq!(found, [("/t/reader".into(), "/w/reader".into()), ("/t/a".into(), "/w/a".into())]);
    }
}
