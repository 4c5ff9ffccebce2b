//! Programs in C and C++ with generated files: they build without a warning, record what Rust records, and cost nothing
//! while nobody records.

use std::path::Path;
use std::process::Command;

use crate::support::{Built, CProgram, NO_ARGUMENTS, VALKEY, compile_c, fixture, generate_c};
use lttng_testing::{
    CommandInTime as _, Daemon, Event, Program, declarations, instructions_each, need, workspace,
};
use tempfile::tempdir;

/// What events are recorded by: nothing, either, or both.
const BACK_ENDS: [&[&str]; 4] = [&[], &["-DUSE_LTTNG"], &["-DUSE_USDT"], &["-DUSE_LTTNG", "-DUSE_USDT"]];

#[test]
#[ignore = "make check: other compilers"]
fn example_builds_without_a_warning_and_records_whatever_compiles_it() {
    let ways = [
        ("gcc", &["-std=c99"][..]),
        ("clang", &["-std=c99"]),
        ("g++", &["-std=c++17", "-x", "c++"]),
        ("clang++", &["-std=c++17", "-x", "c++"]),
    ];
    for (compiler, own_flags) in ways.into_iter().filter(|(compiler, _)| need(compiler)) {
        for (flags, fast) in BACK_ENDS.into_iter().flat_map(|flags| [(flags, true), (flags, false)]) {
            let program = CProgram { compiler, own_flags, fast, ..CProgram::emit_all(flags) }.build();
            let events = Daemon::start().record(&["valkey_*"], program, ["2"]).events();
            let expected = if flags.contains(&"-DUSE_LTTNG") { 70 } else { 0 };
            assert_eq!(events.len(), expected, "{compiler} {flags:?}, fast: {fast}");
        }
    }
}

#[test]
fn c_records_valkeys_events_as_rust_does_and_declares_them_as_valkey_does() {
    let daemon = Daemon::start();
    let rust = Program::example("valkey-trace", "emit-all").traced().build();
    let rust = daemon.record(&["valkey_*"], rust, ["3"]).events();
    assert_eq!(rust.len(), 105);
    let real = std::fs::read_to_string(workspace().join("tests/data/valkey-metadata.tsdl")).unwrap();
    let real = declarations(&format!("\n{real}"));
    assert_eq!(real.len(), 35);
    for fast in [false, true] {
        let program = CProgram { fast, ..CProgram::emit_all(&["-DUSE_LTTNG"]) }.build();
        let trace = daemon.record(&["valkey_*"], program, ["3"]);
        assert_same(&trace.events(), &rust);
        assert_eq!(trace.declarations(), real);
    }
}

#[test]
fn every_function_records_the_same_extreme_values_from_c_as_from_rust() {
    assert_records_extreme_values_as_rust("gcc", &["-std=c99"]);
}

#[test]
#[ignore = "make check: other compilers"]
fn every_function_records_the_same_extreme_values_from_cpp_as_from_rust() {
    assert_records_extreme_values_as_rust("clang++", &["-std=c++17", "-x", "c++"]);
}

fn assert_records_extreme_values_as_rust(compiler: &str, own_flags: &[&str]) {
    let daemon = Daemon::start();
    let rust = daemon.record(&["every_type:*"], fixture("every-type"), NO_ARGUMENTS).events();
    let program = CProgram {
        compiler,
        source: "tests/fixtures/c/every-type.c",
        catalogs: &["tests/catalogs/every-type.toml"],
        // What is undefined ends the program.
        flags: &["-DUSE_LTTNG", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"],
        own_flags,
        fast: true,
    };
    for fast in [true, false] {
        let program = CProgram { fast, ..program.clone() }.build();
        assert_same(&daemon.record(&["every_type:*"], &program, NO_ARGUMENTS).events(), &rust);
    }
}

#[test]
fn odd_strings_are_recorded_as_by_lttngs_macro() {
    let daemon = Daemon::start();
    for fast in [true, false] {
        let program = CProgram { fast, ..CProgram::odd(&["-DUSE_LTTNG"]) }.build();
        let events = daemon.record(&["valkey_*"], program, ["strings"]).events();
        let [null] = &events[..] else { panic!("{events:?}") };
        assert_eq!(null.field("addr"), r#""(null)""#);
        assert_eq!(null.field("laddr"), format!("\"{}\"", "y".repeat(70_000)));
        assert_eq!(null.field("duration"), u64::MAX.to_string());
    }
}

#[test]
fn disabled_event_evaluates_no_argument() {
    let daemon = Daemon::start();
    for (flags, fast) in BACK_ENDS.into_iter().flat_map(|flags| [(flags, true), (flags, false)]) {
        // It ends with a failure if an argument is evaluated.
        daemon.run(CProgram { fast, ..CProgram::odd(flags) }.build(), ["lazy"]);
    }
}

#[test]
fn stopwatch_measures_what_it_began_while_the_event_was_on() {
    let events = Daemon::start().record(&["probing:timed"], odd(&["-DUSE_LTTNG"]), ["measured"]).events();
    let [watched] = &events[..] else { panic!("{events:?}") };
    assert_eq!(watched.field("what"), r#""watched""#);
    let took: u64 = watched.field("took").parse().unwrap();
    assert!((9_000..60_000_000).contains(&took), "{took} µs");
}

#[test]
fn without_a_definition_nothing_of_lttng_is_included_linked_or_called() {
    let program = CProgram::emit_all(&[]).build();
    for source in generate_c(VALKEY, true, &program.folder.path().join("generated")) {
        let included = Command::new("gcc").arg("-M").arg(source).succeed();
        assert!(!included.contains("lttng/"), "{included}");
    }
    let symbols = Command::new("nm").arg(&program).succeed();
    assert!(symbols.contains(" T main") && !symbols.contains("lttng"), "{symbols}");
}

#[test]
fn fragments_for_make_and_pkg_config_build_the_example() {
    let folder = tempdir().unwrap();
    let generated = folder.path().join("generated");
    generate_c(VALKEY, false, &generated);
    let assignment = |name: &str, path: &Path| format!("{name}={}", path.display());
    let made = folder.path().join("made");
    let mut make = Command::new("make");
    make.arg("-C").arg(workspace().join("examples/c")).arg(assignment("GENERATED", &generated));
    make.arg(assignment("PROGRAM", &made)).arg("USE_LTTNG=yes").succeed();
    let packaged = folder.path().join("packaged");
    let script = format!(
        "cc -DUSE_LTTNG $(pkg-config --cflags lttng-ust valkey-trace) examples/c/emit-all.c \
         $(pkg-config --variable=sources valkey-trace) $(pkg-config --libs valkey-trace) -o {}",
        packaged.display()
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(workspace()).env("PKG_CONFIG_PATH", &generated).succeed();
    for program in [made, packaged] {
        assert_eq!(Daemon::start().record(&["valkey_*"], program, ["1"]).events().len(), 35);
    }
}

#[test]
#[ignore = "make check: valgrind"]
fn idle_event_takes_as_many_instructions_for_each_tracer_as_lttngs_macro() {
    let daemon = Daemon::start();
    for event in [&["-DDURATION"][..], &[]] {
        let theirs = instructions_each(&daemon, &[], &looping(&["-DMACROS"], event), &[], 1_000_000).round();
        for back_ends in &BACK_ENDS[1..] {
            let ours = instructions_each(&daemon, &[], &looping(back_ends, event), &[], 1_000_000).round();
            println!("idle {event:?}, in instructions: {back_ends:?} {ours}, LTTng's macro {theirs}");
            // A second tracer is a second check.
            let more = if back_ends.len() > 1 { 3.0 } else { 0.0 };
            assert!(ours <= theirs + more, "{back_ends:?}: {ours} and {theirs}");
        }
    }
}

#[test]
#[ignore = "make check: valgrind"]
fn recorded_event_takes_fewer_instructions_than_with_lttngs_macro() {
    let daemon = Daemon::start();
    let session = daemon.snapshot_session();
    session.enable("valkey_*");
    session.start();
    let recorded = |back_ends| instructions_each(&daemon, &[], &looping(back_ends, &[]), &[], 10_000).round();
    let (ours, theirs) = (recorded(&["-DUSE_LTTNG"]), recorded(&["-DMACROS"]));
    println!("command_call, in instructions: {ours}, LTTng's macro {theirs}");
    assert!(ours * 10.0 < theirs * 8.0, "{ours} and {theirs}");
}

/// The program that emits one event in a loop.
fn looping(back_ends: &[&str], event: &[&str]) -> Built {
    let flags: Vec<&str> = [back_ends, event].concat();
    let generated = CProgram { source: "tests/fixtures/c/loop.c", ..CProgram::emit_all(&flags) };
    if back_ends != ["-DMACROS"] {
        return generated.build();
    }
    // Without the generated C files: LTTng's macros define all that there is.
    let empty = CProgram::emit_all(&[]).build();
    let include = format!("-I{}", empty.folder.path().join("generated").display());
    compile_c("loop.c", &empty, &[&flags[..], &["-O2", &include, "-llttng-ust", "-ldl"]].concat());
    empty
}

fn odd(flags: &[&str]) -> Built {
    CProgram::odd(flags).build()
}

fn assert_same(ours: &[Event], expected: &[Event]) {
    for (ours, expected) in ours.iter().zip(expected) {
        assert_eq!((&ours.name, &ours.fields), (&expected.name, &expected.fields));
    }
    assert_eq!(ours.len(), expected.len());
}
