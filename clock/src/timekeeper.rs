//! Monotonic nanoseconds, computed from the counter.
//!
//! The clocks are compared when an event needs the time and the last comparison is a while ago; there is no thread. Until the
//! counter's rate is known, and where the line cannot be trusted, the monotonic clock itself is read.
//!
//! Events are recorded in signal handlers, too, so nothing waits. Two lines lie side by side: the one in use, and room for the
//! next one, which a single thread at a time may write (a latch, as in the kernel's `seqcount_latch`).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};

use crate::ffi::{counter, monotonic};
use crate::line::{Line, Pair};

/// How long the clocks are compared before the counter is used, in nanoseconds.
const FIRST: u64 = 20_000_000;

/// How long a line holds. The longer, the more it is off at its end, if the kernel corrects its clock.
const INTERVAL: u64 = 100_000_000;

/// How often both clocks are read for a comparison; the fastest pair counts.
const ATTEMPTS: usize = 8;

static LINES: [SharedLine; 2] = [SharedLine::new(), SharedLine::new()];
/// The number of the line in use; its lowest bit says which of the two it is.
static CURRENT: AtomicU64 = AtomicU64::new(0);
/// Whether a thread writes the next line.
static BUSY: AtomicBool = AtomicBool::new(false);

/// A line in parts that can be read while they are written; whether they belong together is checked afterwards.
struct SharedLine([AtomicU64; 6]);

impl SharedLine {
    const fn new() -> SharedLine {
        SharedLine([const { AtomicU64::new(0) }; 6])
    }

    #[inline(always)]
    fn load(&self) -> Line {
        let [counter, nanoseconds, compared, slope, rate, counts] =
            self.0.each_ref().map(|part| part.load(Ordering::Relaxed));
        Line { counter, nanoseconds, compared, slope, rate, counts }
    }

    fn store(&self, line: &Line) {
        let Line { counter, nanoseconds, compared, slope, rate, counts } = *line;
        for (part, value) in self.0.iter().zip([counter, nanoseconds, compared, slope, rate, counts]) {
            part.store(value, Ordering::Relaxed);
        }
    }
}

/// Begins to compare the clocks.
pub(crate) fn begin() {
    publish(0, &Line::begin(compare()));
}

/// In the child after a fork: the thread that wrote a line is not there.
pub(crate) fn reset_after_fork() {
    BUSY.store(false, Ordering::Release);
}

/// The time, in nanoseconds of the monotonic clock.
#[inline]
pub(crate) fn now() -> u64 {
    let (number, line) = current();
    let count = counter();
    if line.is_current(count) { line.at(count) } else { renew(number, &line, count) }
}

#[inline(always)]
fn current() -> (u64, Line) {
    loop {
        let number = CURRENT.load(Ordering::Acquire);
        let line = LINES[(number & 1) as usize].load();
        fence(Ordering::Acquire);
        if CURRENT.load(Ordering::Relaxed) == number {
            return (number, line);
        }
    }
}

/// Compares the clocks, or leaves that to another thread that is at it.
#[cold]
fn renew(number: u64, line: &Line, count: u64) -> u64 {
    let is_usable = line.is_calibrated() && line.is_usable(count);
    if BUSY.swap(true, Ordering::Acquire) {
        return if is_usable { line.at(count) } else { monotonic().max(line.latest()) };
    }
    let time = renew_alone(number, line);
    BUSY.store(false, Ordering::Release);
    time
}

fn renew_alone(number: u64, line: &Line) -> u64 {
    if CURRENT.load(Ordering::Relaxed) != number {
        // Another thread was faster; this line began a moment ago.
        let (_, line) = current();
        let count = counter();
        return if line.is_current(count) { line.at(count) } else { monotonic().max(line.latest()) };
    }
    let time = monotonic();
    if !line.is_calibrated() && time.saturating_sub(line.compared) < FIRST {
        return time.max(line.nanoseconds);
    }
    let now = compare();
    let next = line.next(now, INTERVAL);
    publish(number, &next);
    if next.is_calibrated() { next.at(counter()) } else { now.nanoseconds.max(line.latest()) }
}

fn publish(number: u64, line: &Line) {
    // Who reads a part of the new line also sees that the one before it is in use.
    fence(Ordering::Release);
    LINES[(number.wrapping_add(1) & 1) as usize].store(line);
    CURRENT.store(number.wrapping_add(1), Ordering::Release);
}

/// Reads both clocks several times, and keeps the pair that was read fastest.
fn compare() -> Pair {
    let read = |_| {
        let before = counter();
        let nanoseconds = monotonic();
        let apart = counter().wrapping_sub(before);
        (apart, Pair { counter: before.wrapping_add(apart / 2), nanoseconds })
    };
    let (_, closest) = (0..ATTEMPTS).map(read).min_by_key(|(apart, _)| *apart).unwrap_or_else(|| read(0));
    closest
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    use lttng_provider::__private::check_counter;

    /// One test, since there is one clock in a process.
    #[test]
    fn time_is_that_of_the_monotonic_clock_on_all_threads_and_never_goes_back() {
        if let Err(reason) = check_counter() {
            return println!("nothing to test: {reason}");
        }
        begin();
        let began = Instant::now();
        let run = |_| {
            std::thread::spawn(move || {
                let mut last = 0;
                let mut by_counter = 0_u64;
                while began.elapsed() < Duration::from_secs(2) {
                    let before = monotonic();
                    let time = now();
                    let after = monotonic();
                    assert!(time >= last, "{time} after {last}");
                    // The processor may be taken away between the readings, but not within one of the bounds.
                    assert!(time + 2_000 >= before && time <= after + 2_000, "{before} <= {time} <= {after}");
                    last = time;
                    by_counter += u64::from(current().1.is_calibrated());
                }
                by_counter
            })
        };
        let threads: Vec<_> = (0..4).map(run).collect();
        let by_counter: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert!(by_counter > 0, "the counter was never used");
    }
}
