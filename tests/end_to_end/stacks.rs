//! A field of the type `stack` has the callers' return addresses, the nearest first, and no more than 32 of them.

use std::path::Path;
use std::process::Command;

use crate::support::CProgram;
use lttng_testing::{CommandInTime as _, Daemon, Event, Program};

#[test]
#[ignore = "make check: another build"]
fn rust_records_its_callers() {
    // Without PIE, addresses in a trace are those of the file.
    let program = Program::binary("lttng-fixtures", "probing").traced();
    // Without debug information, binutils names the function that others were inlined into.
    let program = program.rustc("-Crelocation-model=static").rustc("-Cdebuginfo=0").build();
    let events = record(&program);
    let [called, alone, deep] = &events[..] else { panic!("{events:?}") };
    assert_called_from_inner_and_outer(called, &program);
    assert_eq!(called.field("end"), "\"end\"");
    assert_eq!(names(alone, &program)[..2], ["inner", "outer"]);
    assert_eq!(deep.field("number"), "8");
    assert_eq!(addresses(deep).len(), 32);
}

#[test]
fn c_records_its_callers() {
    let program = CProgram::odd(&["-DUSE_LTTNG", "-no-pie", "-fno-pie"]).build();
    let events = record(&program);
    let [called, alone] = &events[..] else { panic!("{events:?}") };
    assert_called_from_inner_and_outer(called, &program);
    assert_eq!(names(alone, &program)[..2], ["inner", "outer"]);
}

fn record(program: &Path) -> Vec<Event> {
    Daemon::start().record(&["probing:*"], program, ["stack"]).events()
}

fn assert_called_from_inner_and_outer(event: &Event, program: &Path) {
    assert_eq!(event.field("number"), "7");
    assert_eq!(names(event, program)[..2], ["inner", "outer"], "{event:?}");
    assert_eq!(event.field("_callers_length"), addresses(event).len().to_string());
}

/// `[ [0] = 0x1, [1] = 0x2 ]`
fn addresses(event: &Event) -> Vec<u64> {
    let words = event.field("callers").split_whitespace();
    let hexadecimal = words.filter_map(|word| word.trim_end_matches(',').strip_prefix("0x"));
    hexadecimal.map(|digits| u64::from_str_radix(digits, 16).unwrap()).collect()
}

/// The functions that binutils finds at the addresses; a return address is after the call.
fn names(event: &Event, program: &Path) -> Vec<String> {
    let mut addr2line = Command::new("addr2line");
    addr2line.arg("-f").arg("-e").arg(program);
    addr2line.args(addresses(event).iter().map(|address| format!("{:#x}", address - 1)));
    addr2line.succeed().lines().step_by(2).map(str::to_owned).collect()
}
