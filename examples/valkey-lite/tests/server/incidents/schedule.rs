//! Taking the CPU from a server.

use std::process::Command;

use crate::support::Server;

/// Sends a signal, e.g. `STOP`.
pub fn signal(server: &Server, name: &str) {
    let status = Command::new("kill").args(["-s", name, &server.pid().to_string()]).status();
    assert!(status.is_ok_and(|status| status.success()), "cannot send {name}");
}
