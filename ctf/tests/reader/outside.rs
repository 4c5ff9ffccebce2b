//! The program outside of the workspace builds and reads a real trace.

use std::process::Command;

use lttng_testing::{CommandInTime as _, DEADLINE, build_outside};

use crate::support::SharedTrace;

#[test]
#[ignore = "make check: builds a crate"]
fn a_program_outside_of_the_workspace_reads_a_trace() {
    let shared = SharedTrace::unpack();
    let mut program = Command::new(build_outside("ctf/examples/outside").join("longest-gap"));
    let run = program.arg(shared.folder()).output_within(DEADLINE).expect("it is built");
    let (out, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{errors}");
    assert_eq!(out, "vm: 267919 events, nothing for 164361285 ns before valkey_commands:command_call\n");
}
