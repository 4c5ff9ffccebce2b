//! Waiting for a condition, never for a time.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use crate::{DEADLINE, patience};

/// Does work that must come to an end, and fails the test with `what` if it seems to hang.
pub fn must_end<R: Send + 'static>(what: &str, work: impl FnOnce() -> R + Send + 'static) -> R {
    let (sender, receiver) = channel();
    let worker = spawn(move || sender.send(work()));
    let mut result = receiver.recv_timeout(DEADLINE);
    if matches!(result, Err(RecvTimeoutError::Timeout)) {
        result = receiver.recv_timeout(patience(DEADLINE) - DEADLINE);
    }
    match result {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("{what}: no end after {} s", DEADLINE.as_secs()),
        // The panic of the work is the test's.
        Err(RecvTimeoutError::Disconnected) => {
            std::panic::resume_unwind(worker.join().expect_err("no result"))
        }
    }
}

/// Waits until the condition holds, and fails the test with `what` if that takes longer than [`DEADLINE`].
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        let is_late = start.elapsed() >= DEADLINE && start.elapsed() >= patience(DEADLINE);
        assert!(!is_late, "timed out after {} s waiting until {what}", start.elapsed().as_secs());
        sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use super::must_end;

    #[test]
    fn work_that_ends_returns_its_result() {
        assert_eq!(must_end("a sum", || 1 + 1), 2);
    }

    #[test]
    #[should_panic(expected = "its own words")]
    fn panic_of_the_work_is_that_of_the_test() {
        must_end("a panic", || panic!("its own words"));
    }
}
