//! A progress bar on standard error, for readings that take a while.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use ctf_reader::Progress;
use ltt_analysis::text::amount::grouped;

/// The delay before the bar appears, so that short readings do not flicker.
const PATIENCE: Duration = Duration::from_millis(500);
const REDRAW: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;

/// Runs a reading, and shows its progress if standard error is a terminal.
pub fn shown<T>(progress: &Progress, read: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return read();
    }
    let (finished, is_finished) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut wait = PATIENCE;
            while is_finished.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = REDRAW;
                // A terminal that is gone must not stop the reading.
                _ = write!(std::io::stderr(), "\r{}\x1b[K", line(progress.done(), progress.total()));
            }
            if wait == REDRAW {
                _ = write!(std::io::stderr(), "\r\x1b[K");
            }
        });
        let result = read();
        drop(finished);
        result
    })
}

fn line(done: u64, total: u64) -> String {
    let megabytes = |bytes: u64| grouped((bytes / 1_000_000).into());
    if total == 0 {
        return format!("reading … {} MB", megabytes(done));
    }
    let part = done.min(total) as f64 / total as f64;
    let filled = (part * WIDTH as f64) as usize;
    let bar = "█".repeat(filled) + &"░".repeat(WIDTH - filled);
    format!("reading {bar} {:3.0}% of {} MB", part * 100.0, megabytes(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_never_exceeds_its_width() {
        for (done, total) in [(0, 0), (5, 0), (0, 10), (10, 10), (20, 10)] {
            assert_eq!(line(done, total).matches(['█', '░']).count(), if total == 0 { 0 } else { WIDTH });
        }
    }
}
