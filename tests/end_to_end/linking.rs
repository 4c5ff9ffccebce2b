//! Events are *recorded*, and not only listed, however a program is built and linked.
//!
//! `rust-lld`, the default of rustc on x86-64 Linux, collects sections that GNU ld keeps, so each build is
//! made with either.

use std::path::Path;
use std::process::Command;

use crate::support::compile_c;
use lttng_testing::{BUILD_DEADLINE, CommandInTime as _, Daemon, Event, Program, cargo};

const GNU_LD: &str = "-Clink-arg=-fuse-ld=bfd";
const LLD: &str = "-Clink-arg=-fuse-ld=lld";

#[test]
#[ignore = "make check: other linkers and builds"]
fn debug_builds_record_whatever_links_them() {
    assert_records_all(emit_all);
}

#[test]
#[ignore = "make check: other linkers and builds"]
fn release_builds_record_whatever_links_them() {
    assert_records_all(|| emit_all().release());
}

#[test]
#[ignore = "make check: other linkers and builds"]
fn release_builds_with_lto_and_strip_record_whatever_links_them() {
    assert_records_all(|| with_lto_and_strip(emit_all()));
}

#[test]
#[ignore = "make check: other linkers and builds"]
fn build_with_use_lttng_in_the_environment_records() {
    let program = Program::example("valkey-trace", "emit-all").variable("USE_LTTNG", "yes").build();
    assert_eq!(record(&program, &[]).len(), 35);
}

#[test]
#[ignore = "make check: other linkers and builds"]
fn static_library_in_a_c_program_records_both_catalogs() {
    let library = Program::static_library("lttng-fixtures").traced().build();
    for linker in ["-fuse-ld=bfd", "-fuse-ld=lld"] {
        let program = library.with_file_name(format!("link{linker}"));
        // The libraries are those that `--print native-static-libs` names.
        let libraries = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl", "-lc"];
        let arguments = [linker, "-Wl,--gc-sections"];
        compile_c("link.c", &program, &[&arguments[..], &[library.to_str().unwrap()], &libraries].concat());
        assert_both_catalogs(&record(&program, &[]));
    }
}

#[test]
#[ignore = "make check: other linkers and builds"]
fn dynamic_library_that_a_c_program_loads_records_both_catalogs() {
    for linker in [LLD, GNU_LD] {
        let library = Program::dynamic_library("lttng-fixtures").traced().rustc(linker).build();
        let program = library.with_file_name("load");
        compile_c("load.c", &program, &["-ldl"]);
        assert_both_catalogs(&record(&program, &[library.to_str().unwrap()]));
    }
}

#[test]
fn program_needs_no_lttng_library_to_start() {
    let program = emit_all().build();
    let needed = Command::new("ldd").arg(program).succeed();
    assert!(needed.contains("libc.so") && !needed.contains("lttng"), "{needed}");
}

#[test]
fn program_has_little_static_memory() {
    let sizes = Command::new("size").arg(emit_all().build()).succeed();
    let bss: u64 =
        sizes.lines().nth(1).and_then(|line| line.split_whitespace().nth(2)).unwrap().parse().unwrap();
    assert!(bss < 1 << 20, "{bss} bytes");
}

#[test]
#[ignore = "make check: other linkers and builds"]
fn static_libc_is_refused_with_tracing_on_and_fine_with_tracing_off() {
    // For a target that is named, the flag does not reach build scripts, which would need a static libc, too.
    let target = format!("--target={}-unknown-linux-gnu", std::env::consts::ARCH);
    let program =
        |program: Program| program.argument(&target).variable("RUSTFLAGS", "-Ctarget-feature=+crt-static");
    let errors = program(emit_all()).try_build().unwrap_err();
    assert!(errors.contains("(target feature crt-static) cannot load LTTng-UST"), "{errors}");
    // `try_build` keeps the program from the folder of the host, so cargo is asked by itself.
    let mut off = cargo();
    off.args(["check", "--quiet", "--package=valkey-trace", &target]);
    off.env("RUSTFLAGS", "-Ctarget-feature=+crt-static").succeed_within(BUILD_DEADLINE);
}

#[test]
#[ignore = "make check: another target"]
fn musl_is_refused_with_tracing_on() {
    let mut check = cargo();
    let target = format!("--target={}-unknown-linux-musl", std::env::consts::ARCH);
    // The standard library for it need not be installed: only the build script is of interest.
    check.args(["check", "--keep-going", "--package=lttng-provider", "--no-default-features", &target]);
    for flags in ["", "-Ctarget-feature=-crt-static"] {
        let output = check.env("USE_LTTNG", "yes").env("RUSTFLAGS", flags).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains("a program for musl cannot load the LTTng-UST"), "{errors}");
    }
}

fn emit_all() -> Program {
    Program::example("valkey-trace", "emit-all").traced()
}

fn with_lto_and_strip(program: Program) -> Program {
    let program = program.release().variable("CARGO_PROFILE_RELEASE_LTO", "fat");
    program
        .variable("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
        .variable("CARGO_PROFILE_RELEASE_STRIP", "symbols")
}

fn assert_records_all(program: impl Fn() -> Program) {
    for linker in [LLD, GNU_LD] {
        let program = program().rustc(linker).build();
        // lld signs its work.
        let comment = Command::new("readelf").args(["-p", ".comment"]).arg(&program).succeed();
        assert_eq!(comment.contains("LLD"), linker == LLD, "{comment}");
        let events = record(&program, &["2"]);
        assert_eq!(events.len(), 2 * 35);
        assert!(events.iter().enumerate().all(|(index, event)| {
            event.field("duration") == (1000 * (index / 35) + index % 35 + 1).to_string()
        }));
    }
}

fn assert_both_catalogs(events: &[Event]) {
    let names: Vec<_> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names, ["every_type:unsigned", "valkey_db:expire_del"]);
    assert_eq!(events[0].field("d"), "4");
    assert_eq!(events[1].field("duration"), "5");
}

/// All events of both catalogs.
fn record(program: &Path, arguments: &[&str]) -> Vec<Event> {
    Daemon::start().record(&["valkey_*", "every_type:*"], program, arguments).events()
}
