//! Samples what the scheduler does with the recorded threads, in a thread of this process.
//!
//! Nothing here can harm a recording: what cannot be read is left out, and what cannot be written ends the sampling.

mod cost;
mod machine;
mod runners;
mod sink;
mod threads;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use cost::Pace;
use runners::Runners;
pub use sink::Sink;
use threads::Threads;

/// The shares of a core that looking at the threads, at all threads of the machine, at the machine and its limits, and for new
/// threads may take; the sum is less than a hundredth. And the shortest time from one look to the next.
const THREADS: Pace = Pace { share: 0.006, least: Duration::from_millis(2) };
const OTHERS: Pace = Pace { share: 0.0015, least: Duration::from_millis(100) };
const MACHINE: Pace = Pace { share: 0.001, least: Duration::from_millis(20) };
const NEW: Pace = Pace { share: 0.001, least: Duration::from_millis(250) };

/// The longest sleep before it is looked whether to end.
const LONGEST: Duration = Duration::from_millis(50);

/// How often what was sampled is written: after a crash, the rest is there.
const FLUSH_NS: u64 = 1_000_000_000;

/// Takes samples until it is dropped.
pub struct Sampler {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Sampler {
    /// Samples these processes; all that record where there are none.
    pub fn start(sink: Sink, pids: Vec<u32>) -> Sampler {
        let is_over = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&is_over);
        let thread = thread::Builder::new().name("sampler".into()).spawn(move || run(sink, pids, &told));
        Sampler { is_over, thread: thread.ok() }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

fn run(mut sink: Sink, pids: Vec<u32>, is_over: &AtomicBool) {
    let mut threads = Threads::new(pids);
    let (mut others, mut throttled) = (Runners::default(), HashMap::new());
    let [mut next_look, mut next_others, mut next_machine, mut next_new, mut next_flush] = [monotonic(); 5];
    while !is_over.load(Ordering::Relaxed) && !sink.has_failed() {
        let now = monotonic();
        if now >= next_new {
            next_new = NEW.next(now, || threads.find());
        }
        if now >= next_look {
            next_look = THREADS.next(now, || threads.look(&mut sink));
        }
        if now >= next_others && !threads.is_empty() {
            next_others = OTHERS.next(now, || others.look(&mut sink));
        }
        if now >= next_machine && !threads.is_empty() {
            let processes = threads.processes();
            next_machine = MACHINE.next(now, || machine::look(&processes, &mut throttled, &mut sink));
        }
        if now >= next_flush {
            next_flush = now + FLUSH_NS;
            sink.flush();
        }
        let next = if threads.is_empty() { next_new } else { next_look.min(next_new) };
        let pause = Duration::from_nanos(next.saturating_sub(monotonic()));
        thread::sleep(pause.min(LONGEST));
    }
    sink.finish();
}

/// The clock of the events.
fn monotonic() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    u64::try_from(i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)).unwrap_or(0)
}
