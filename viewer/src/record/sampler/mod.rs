//! Samples what the scheduler does with the recorded threads, in two threads of this process: one looks at the recorded threads and
//! does nothing else, so that it does so often; the other does all that may take long.
//!
//! Nothing here can harm a recording: what cannot be read is left out, and what cannot be written ends the sampling.

mod cost;
mod finder;
mod machine;
mod output;
mod runners;
mod threads;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use cost::{Pace, cpu_time};
use finder::{Change, Finder};
pub use output::Output;
use runners::Runners;
use threads::Threads;

/// The shares of a core that looking at the threads, at all threads of the machine, at the machine and its limits, and for new
/// threads may take. And the shortest time from one look to the next.
const THREADS: (f64, Duration) = (0.01, Duration::from_millis(2));
const OTHERS: (f64, Duration) = (0.0015, Duration::from_millis(100));
const MACHINE: (f64, Duration) = (0.001, Duration::from_millis(20));
const NEW: (f64, Duration) = (0.001, Duration::from_millis(250));

/// The longest sleep before it is looked whether to end.
const LONGEST: Duration = Duration::from_millis(50);

/// How often what was sampled is written: after a crash, the rest is there.
const WRITE_NS: u64 = 500_000_000;

/// What the threads that sample share.
#[derive(Default)]
struct Shared {
    is_over: AtomicBool,
    /// The time on a CPU that looking at the recorded threads took.
    looking_ns: AtomicU64,
}

impl Shared {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

/// Takes samples until it is dropped.
pub struct Sampler {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Sampler {
    /// Samples these processes; all that record where there are none.
    pub fn start(output: Output, pids: Vec<u32>) -> Sampler {
        let shared = Arc::<Shared>::default();
        let its = Arc::clone(&shared);
        let thread = thread::Builder::new().name("samples".into()).spawn(move || run(output, pids, &its));
        Sampler { shared, thread: thread.ok() }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

/// Does all but looking at the recorded threads, and writes what is sampled.
fn run(mut output: Output, pids: Vec<u32>, shared: &Shared) {
    let sink = output.sink();
    let is_whole = thread::scope(|scope| {
        let ((tell, changes), (gone, ended)) = (channel(), channel());
        let mut finder = Finder::new(pids, tell, ended);
        let threads = Threads::new(sink.clone(), gone);
        let looks = move || look(threads, &changes, shared);
        if thread::Builder::new().name("sampler".into()).spawn_scoped(scope, looks).is_err() {
            return false;
        }
        let (mut others, mut throttled) = (Runners::default(), HashMap::new());
        let [mut new, mut runners, mut limits] = [NEW, OTHERS, MACHINE].map(Pace::from);
        let (mut next_write, mut charged) = (0, cpu_time());
        while !shared.is_over() {
            new.work(&mut charged, || finder.find());
            if !finder.is_empty() {
                runners.work(&mut charged, || others.look(&sink));
                let spent = shared.looking_ns.load(Ordering::Relaxed) + charged;
                limits
                    .work(&mut charged, || machine::look(&finder.processes(), spent, &mut throttled, &sink));
            }
            let now = monotonic();
            if now >= next_write {
                next_write = now + WRITE_NS;
                if !output.write(now) {
                    shared.is_over.store(true, Ordering::Relaxed);
                    return false;
                }
            }
            let next = if finder.is_empty() { new.next } else { new.next.min(runners.next).min(limits.next) };
            thread::sleep(until(next));
        }
        true
    });
    if is_whole {
        output.finish();
    }
}

/// Looks at the recorded threads.
fn look(mut threads: Threads, changes: &Receiver<Change>, shared: &Shared) {
    let (mut pace, mut charged) = (Pace::from(THREADS), cpu_time());
    while !shared.is_over() {
        changes.try_iter().for_each(|change| threads.change(change));
        if threads.is_empty() {
            thread::sleep(LONGEST);
            continue;
        }
        pace.work(&mut charged, || threads.look());
        shared.looking_ns.store(charged, Ordering::Relaxed);
        thread::sleep(until(pace.next));
    }
}

/// How long to sleep until a time.
fn until(time: u64) -> Duration {
    Duration::from_nanos(time.saturating_sub(monotonic())).min(LONGEST)
}

/// The clock of the events.
fn monotonic() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    u64::try_from(i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)).unwrap_or(0)
}
