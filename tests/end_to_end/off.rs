//! Off means off, and a build that cannot be on says what to do.

use std::process::Command;

use lttng_testing::{CommandInTime as _, Program};

#[test]
#[ignore = "make check: other builds"]
fn program_with_tracing_off_has_no_lttng_symbol_and_no_lttng_library() {
    let program = Program::example("valkey-trace", "emit-all").release().build();
    assert_eq!(lines_with_lttng(Command::new("nm").arg(&program)), [""; 0]);
    assert_eq!(lines_with_lttng(Command::new("ldd").arg(&program)), [""; 0]);
    let output = Command::new(program).output_in_time().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("tracing is off"));
}

#[test]
#[ignore = "make check: other builds"]
fn program_with_tracing_on_has_lttng_symbols() {
    let program = Program::example("valkey-trace", "emit-all").release().traced().build();
    assert!(!lines_with_lttng(Command::new("nm").arg(&program)).is_empty());
}

#[test]
fn program_with_tracing_off_evaluates_no_argument() {
    let scenario = Program::binary("lttng-fixtures", "scenario").build();
    assert_eq!(Command::new(scenario).arg("side-effect").succeed(), "0\n");
}

#[test]
fn program_with_tracing_off_measures_and_forks() {
    let scenario = Program::binary("lttng-fixtures", "scenario").build();
    ["durations", "fork"].iter().for_each(|name| _ = Command::new(&scenario).arg(name).succeed());
}

#[test]
#[ignore = "make check: other builds"]
fn build_without_the_headers_names_the_packages() {
    // pkg-config looks nowhere.
    let program =
        Program::example("valkey-trace", "emit-all").traced().variable("PKG_CONFIG_LIBDIR", "/nowhere");
    let errors = program.try_build().unwrap_err();
    let expected = "tracing is on (feature `lttng` or USE_LTTNG=yes), but pkg-config finds no lttng-ust 2.13 or newer: \
                    install liblttng-ust-dev and pkg-config (Debian, Ubuntu), lttng-ust-devel and pkgconf (Fedora), \
                    or lttng-ust and pkgconf (Arch)";
    assert!(errors.contains(expected), "{errors}");
}

#[test]
#[ignore = "make check: other builds"]
fn build_with_tracing_off_needs_no_headers() {
    Program::example("valkey-trace", "emit-all").variable("PKG_CONFIG_LIBDIR", "/nowhere").build();
}

#[test]
#[ignore = "make check: other builds"]
fn unclear_use_lttng_is_refused() {
    let program = Program::example("valkey-trace", "emit-all").variable("USE_LTTNG", "maybe");
    let errors = program.try_build().unwrap_err();
    assert!(
        errors.contains("invalid USE_LTTNG `maybe`: set it to `yes` to turn tracing on, or to `no`"),
        "{errors}"
    );
}

fn lines_with_lttng(command: &mut Command) -> Vec<String> {
    let text = command.succeed();
    text.lines().filter(|line| line.contains("lttng")).map(str::to_owned).collect()
}
