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
mod bounds;
mod history;
mod kernel;
#[cfg(test)]
mod known_life;
mod runners;
mod totals;

use std::collections::HashMap;

use crate::finding::Span;
use crate::samples::Sample;

pub(crate) use account::{Account, Extent};
pub use account::{AccountSource, SystemCause};
use history::{History, Point};
use kernel::KernelThreads;
pub(crate) use kernel::{KernelEvent, KernelFields};
use runners::Runners;
use totals::Totals;

/// The most points of all threads of a machine, and of each.
const MOST_POINTS: usize = 1 << 20;
const POINTS: std::ops::RangeInclusive<usize> = 64..=1 << 14;

/// The most threads of a machine that have a history.
const MOST_THREADS: usize = 1 << 14;

/// The most processes of a machine whose limits are known.
const MOST_PROCESSES: usize = 4096;

/// A thread that was sampled within this time, in nanoseconds, is missed when it is forgotten.
const LATELY: i64 = 60_000_000_000;

/// What is older than this, in nanoseconds, becomes one point: stalls are looked at soon after they end. And how often.
const RECENT: i64 = 120_000_000_000;
const AGE_EVERY: i64 = 60_000_000_000;

/// Samples end this long before the end of a span, in nanoseconds, and still say what happened in it.
const SLACK: i64 = 20_000_000;

/// What is known of all machines.
#[derive(Debug, Default)]
pub struct Scheduling {
    machines: HashMap<usize, Machine>,
}

#[derive(Debug, Default)]
struct Machine {
    /// By process and thread: in containers, threads of several processes have the same ID.
    sampled: HashMap<(i64, i64), History>,
    ageing: Ageing,
    kernel: KernelThreads,
    runners: Runners,
    /// How long each process was kept from the CPU by a limit.
    throttled: HashMap<i64, Totals>,
    steal: Totals,
}

/// When histories are to be shortened, and what had to be forgotten.
#[derive(Debug, Default)]
struct Ageing {
    /// The time of the last sample or event, and that of the next look.
    latest: i64,
    next: i64,
    /// The number of samples or events since the last look.
    seen: usize,
    /// The number of threads that were forgotten although they were still followed.
    forgotten: u64,
}

impl Ageing {
    /// Time goes on. Now and then, but not more often than there are threads to look at, returns before when histories are old.
    fn due(&mut self, time: i64, threads: usize) -> Option<i64> {
        self.latest = self.latest.max(time);
        self.seen += 1;
        if self.latest < self.next || self.seen < threads {
            return None;
        }
        self.seen = 0;
        self.next = self.latest.saturating_add(AGE_EVERY);
        Some(self.latest.saturating_sub(RECENT))
    }

    /// Threads were forgotten that were last seen at these times.
    fn forgot(&mut self, last_seen: Vec<i64>) {
        let lately = self.latest.saturating_sub(LATELY);
        self.forgotten += last_seen.into_iter().filter(|seen| *seen >= lately).count() as u64;
    }
}

impl Scheduling {
    /// Adds a sample.
    pub fn sample(&mut self, host: usize, time: i64, sample: Sample) {
        let machine = self.machines.entry(host).or_default();
        if let Some(old) = machine.ageing.due(time, machine.sampled.len()) {
            machine.sampled.values_mut().for_each(|history| history.age(old));
        }
        match sample {
            Sample::Thread(thread) => {
                let id = (i64::from(thread.vpid), i64::from(thread.vtid));
                if machine.sampled.len() >= MOST_THREADS && !machine.sampled.contains_key(&id) {
                    machine.ageing.forgot(forget_oldest(&mut machine.sampled, History::latest));
                }
                let count = machine.sampled.len();
                let history = machine.sampled.entry(id).or_default();
                let since = i64::try_from(thread.since_ns).unwrap_or(i64::MAX);
                history.stay(time.saturating_sub(since));
                history.push(Point::of_sample(time, &thread), most_points(count));
            }
            Sample::Runner(runner) => machine.runners.add(time, runner),
            Sample::Limit(limit) => {
                let id = limit.vpid.into();
                if machine.throttled.len() >= MOST_PROCESSES && !machine.throttled.contains_key(&id) {
                    forget_oldest(&mut machine.throttled, Totals::latest);
                }
                machine.throttled.entry(id).or_default().push(time, limit.throttled_ns);
            }
            Sample::Machine(of_all) => machine.steal.push(time, of_all.steal_ns),
        }
    }

    /// Adds an event of the kernel.
    pub fn kernel(&mut self, host: usize, time: i64, event: KernelEvent) {
        self.machines.entry(host).or_default().kernel.event(time, event);
    }

    /// What the scheduler did with a thread in some spans of time, one after the other; none if that is not known.
    pub(crate) fn account(&self, host: usize, pid: Option<i64>, tid: i64, spans: &[Span]) -> Option<Account> {
        let machine = self.machines.get(&host)?;
        let accounts = spans.iter().map(|span| {
            machine.kernel.account(tid, *span).or_else(|| machine.sampled_account(pid, tid, *span))
        });
        accounts.collect::<Option<Vec<Account>>>()?.into_iter().reduce(Account::and)
    }

    /// The number of threads that were forgotten although they were still sampled, or had run lately.
    pub fn forgotten(&self) -> u64 {
        self.machines.values().map(|machine| machine.ageing.forgotten + machine.kernel.forgotten()).sum()
    }

    /// Whether anything is known.
    pub fn is_empty(&self) -> bool {
        self.machines.is_empty()
    }
}

impl Machine {
    /// The history of a thread. Where its process was not recorded, only one thread may have its ID.
    fn history(&self, pid: Option<i64>, tid: i64) -> Option<&History> {
        if let Some(pid) = pid {
            return self.sampled.get(&(pid, tid));
        }
        let mut found = self.sampled.iter().filter(|((_, of), _)| *of == tid);
        found.next().filter(|_| found.next().is_none()).map(|(_, history)| history)
    }

    fn sampled_account(&self, pid: Option<i64>, tid: i64, span: Span) -> Option<Account> {
        let history = self.history(pid, tid)?;
        if self.ageing.latest.saturating_add(SLACK) < span.end_ns {
            return None;
        }
        let mut account = history.account(span, AccountSource::Samples)?;
        let throttled = pid.and_then(|pid| self.throttled.get(&pid)?.rise(span));
        account.throttled = throttled.unwrap_or_default().up_to(account.queued);
        account.stolen = self.steal.rise(span).unwrap_or_default().up_to(account.on_cpu);
        if account.queued.most > 0 {
            account.had_cpu = self.runners.on(account.cpu, span, account.queued.least.max(1), tid);
        }
        Some(account)
    }
}

/// Removes the quarter that is the oldest, and returns when those were last seen.
fn forget_oldest<K, V>(all: &mut HashMap<K, V>, latest: impl Fn(&V) -> i64) -> Vec<i64> {
    let mut times: Vec<i64> = all.values().map(&latest).collect();
    let (_, &mut oldest, _) = times.select_nth_unstable(all.len() / 4);
    let mut gone = Vec::new();
    all.retain(|_, value| {
        let time = latest(value);
        if time <= oldest {
            gone.push(time);
        }
        time > oldest
    });
    gone
}

/// How many points a thread may have, if there are this many threads.
fn most_points(threads: usize) -> usize {
    (MOST_POINTS / threads.max(1)).clamp(*POINTS.start(), *POINTS.end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::ThreadSample;

    fn sample(vpid: i32, vtid: i32, on_cpu_ns: u64) -> Sample {
        Sample::Thread(ThreadSample { vpid, vtid, on_cpu_ns, state: b'S', ..ThreadSample::default() })
    }

    #[test]
    fn threads_of_two_containers_with_the_same_id_do_not_mix() {
        let mut scheduling = Scheduling::default();
        for step in 0..100 {
            scheduling.sample(0, step * 1_000_000, sample(7, 9, step as u64 * 1_000_000));
            scheduling.sample(0, step * 1_000_000, sample(8, 9, 0));
        }
        let span = [Span { begin_ns: 10_000_000, end_ns: 90_000_000 }];
        let on_cpu = |pid| scheduling.account(0, pid, 9, &span).map(|account| account.on_cpu.least);
        assert!(on_cpu(Some(7)) > Some(70_000_000), "{:?}", on_cpu(Some(7)));
        assert_eq!(on_cpu(Some(8)), Some(0));
        assert_eq!(on_cpu(None), None, "it may be either");
    }

    #[test]
    fn threads_that_ended_are_forgotten_before_those_that_run() {
        let mut scheduling = Scheduling::default();
        for step in 0..10 * MOST_THREADS as i64 {
            scheduling.sample(0, step * 1_000_000_000, sample(1, 1000 + step as i32, 0));
            scheduling.sample(0, step * 1_000_000_000, sample(1, 1, step as u64));
        }
        let machine = &scheduling.machines[&0];
        assert!(machine.sampled.len() <= MOST_THREADS && machine.sampled.contains_key(&(1, 1)));
        assert_eq!(scheduling.forgotten(), 0, "nobody misses those");
        let now = 10 * MOST_THREADS as i64 * 1_000_000_000;
        (0..2 * MOST_THREADS as i32).for_each(|tid| scheduling.sample(0, now, sample(2, tid, 0)));
        assert!(scheduling.forgotten() > 0);
    }

    #[test]
    fn a_server_that_is_restarted_every_minute_takes_no_more_memory_after_some_minutes() {
        let mut scheduling = Scheduling::default();
        let mut points = Vec::new();
        for minute in 0..120 {
            for step in 0..6000 {
                let time = (minute * 6000 + step) * 10_000_000;
                (1..=4).for_each(|tid| scheduling.sample(0, time, sample(minute as i32, tid, step as u64)));
            }
            points.push(scheduling.machines[&0].sampled.values().map(History::len).sum::<usize>());
            let span = Span {
                begin_ns: (minute * 6000 + 10) * 10_000_000,
                end_ns: minute * 60_000_000_000 + 500_000_000,
            };
            assert!(scheduling.account(0, Some(minute), 1, &[span]).is_some());
        }
        let (early, late) = (points[..10].iter().max(), points[10..].iter().max());
        // Two points of each thread that has ended.
        assert!(*late.unwrap() <= early.unwrap() + 2 * 4 * 120, "{points:?}");
        // The first minute is known in all, if no longer in detail.
        let first = [Span { begin_ns: 0, end_ns: 60_000_000_000 }];
        assert_eq!(scheduling.account(0, Some(0), 1, &first).map(|account| account.on_cpu.most), Some(5999));
    }
}
