//! What the scheduler did with threads: when they ran, when they waited for a CPU, when they were blocked.
//!
//! It is known exactly where a trace has the kernel's events, and closely where threads were sampled while it was recorded.
//! Both become totals at points of time:
//!
//! ```text
//!  sched_switch, sched_wakeup … ─> kernel ──┐
//!                                           ├─> history of a thread ─> account of a span of time
//!  samples of /proc ────────────────────────┘
//! ```

mod account;
mod history;
mod kernel;
mod runners;
mod totals;

use std::collections::HashMap;

use crate::analysis::finding::Span;
use crate::samples::Sample;

pub(in crate::analysis) use account::Account;
pub use account::{AccountSource, SystemCause};
use history::{History, Point};
use kernel::KernelThreads;
pub(in crate::analysis) use kernel::{KernelEvent, KernelSlots};
use runners::Runners;
use totals::Totals;

/// The most points of all threads of a machine, and of each.
const MOST_POINTS: usize = 1 << 20;
const POINTS: std::ops::RangeInclusive<usize> = 64..=1 << 14;

/// The most threads of a machine that have a history.
const MOST_THREADS: usize = 1 << 14;

/// Samples end this long before the end of a span, in nanoseconds, and still say what happened in it.
const SLACK: i64 = 20_000_000;

/// What is known of all machines.
#[derive(Debug, Default)]
pub struct Scheduling {
    machines: HashMap<usize, Machine>,
}

#[derive(Debug, Default)]
struct Machine {
    sampled: HashMap<i64, History>,
    kernel: KernelThreads,
    runners: Runners,
    /// How long each process was kept from the CPU by a limit.
    throttled: HashMap<i64, Totals>,
    steal: Totals,
    /// The time of the last sample.
    latest: i64,
}

impl Scheduling {
    /// Adds a sample.
    pub fn sample(&mut self, host: usize, time: i64, sample: Sample) {
        let machine = self.machines.entry(host).or_default();
        machine.latest = machine.latest.max(time);
        match sample {
            Sample::Thread(thread) => {
                let count = machine.sampled.len();
                let id = i64::from(thread.vtid);
                if count >= MOST_THREADS && !machine.sampled.contains_key(&id) {
                    return;
                }
                let history = machine.sampled.entry(id).or_default();
                let since = i64::try_from(thread.since_ns).unwrap_or(i64::MAX);
                history.stay(time.saturating_sub(since));
                history.push(Point::of_sample(time, &thread), most_points(count));
            }
            Sample::Runner(runner) => machine.runners.add(time, runner),
            Sample::Limit(limit) => {
                machine.throttled.entry(limit.vpid.into()).or_default().push(time, limit.throttled_ns)
            }
            Sample::Machine(of_all) => machine.steal.push(time, of_all.steal_ns),
        }
    }

    /// Adds an event of the kernel.
    pub fn kernel(&mut self, host: usize, time: i64, event: KernelEvent) {
        self.machines.entry(host).or_default().kernel.event(time, event);
    }

    /// What the scheduler did with a thread in some spans of time, one after the other; none if that is not known.
    pub fn account(&self, host: usize, pid: Option<i64>, tid: i64, spans: &[Span]) -> Option<Account> {
        let machine = self.machines.get(&host)?;
        let accounts = spans.iter().map(|span| {
            machine.kernel.account(tid, *span).or_else(|| machine.sampled_account(pid, tid, *span))
        });
        accounts.collect::<Option<Vec<Account>>>()?.into_iter().reduce(Account::and)
    }

    /// Whether anything is known.
    pub fn is_empty(&self) -> bool {
        self.machines.is_empty()
    }
}

impl Machine {
    fn sampled_account(&self, pid: Option<i64>, tid: i64, span: Span) -> Option<Account> {
        let history = self.sampled.get(&tid)?;
        if self.latest.saturating_add(SLACK) < span.end_ns {
            return None;
        }
        let mut account = history.account(span, AccountSource::Samples)?;
        let throttled = pid.and_then(|pid| self.throttled.get(&pid)?.rise(span));
        account.throttled = throttled.unwrap_or(0).min(account.queued);
        account.stolen = self.steal.rise(span).unwrap_or(0).min(account.on_cpu);
        if account.queued > 0 {
            account.had_cpu = self.runners.on(account.cpu, span, account.queued, tid);
        }
        Some(account)
    }
}

/// How many points a thread may have, if there are this many threads.
fn most_points(threads: usize) -> usize {
    (MOST_POINTS / threads.max(1)).clamp(*POINTS.start(), *POINTS.end())
}
