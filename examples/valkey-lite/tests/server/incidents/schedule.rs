//! Taking the CPU from a server.

use std::process::Command;

use crate::support::Server;

/// Sends a signal, e.g. `STOP`.
pub fn signal(server: &Server, name: &str) {
    // That of the shell: minimal systems have no other.
    let status = Command::new("sh").args(["-c", &format!("kill -s {name} {}", server.pid())]).status();
    assert!(status.is_ok_and(|status| status.success()), "cannot send {name}");
}
