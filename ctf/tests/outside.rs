//! The program outside of the workspace builds and reads a real trace.

use lttng_testing::cargo;

#[path = "support/shared_trace.rs"]
mod shared_trace;

use shared_trace::SharedTrace;

#[test]
#[ignore = "make check: builds a crate"]
fn a_program_outside_of_the_workspace_reads_a_trace() {
    let shared = SharedTrace::unpack();
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/outside/Cargo.toml");
    let target = concat!(env!("CARGO_TARGET_TMPDIR"), "/outside");
    let run = cargo()
        .args(["run", "--quiet", "--manifest-path", manifest, "--target-dir", target, "--"])
        .arg(shared.folder())
        .output()
        .expect("cargo runs");
    let (out, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{errors}");
    assert_eq!(out, "vm: 267919 events, nothing for 164361285 ns before valkey_commands:command_call\n");
}
