//! Waiting for a condition, never for a time.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a condition may take to come true before a test fails; generous, as machines are shared.
const DEADLINE: Duration = Duration::from_secs(60);

/// Waits until the condition holds, and fails the test with `what` if that takes longer than a minute.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "waited a minute in vain until {what}");
        sleep(Duration::from_millis(10));
    }
}
