//! Valkey's 35 events, from a Rust program, through a stock lttng, read back by Babeltrace.

use lttng_testing::{Daemon, Program};

#[test]
fn every_event_is_recorded_with_exact_values() {
    let emit_all = Program::example("valkey-trace", "emit-all").traced().build();
    let daemon = Daemon::start();
    let session = daemon.session();
    session.enable("valkey_*");
    session.start();
    let status = daemon.command(&emit_all).arg("2").status().unwrap();
    assert!(status.success());
    let events = session.stop().events();
    assert_eq!(events.len(), 70);
}
