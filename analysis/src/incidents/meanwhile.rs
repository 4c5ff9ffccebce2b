//! What ran at the same time as a stall: on other threads and in other processes of the machine.

use std::cmp::Reverse;
use std::collections::VecDeque;

use super::activity::Activity;
use crate::finding::Span;
use crate::intervals::{Interval, Scene};
use crate::recent::remember;

/// The number of long intervals that are remembered.
const MOST_LONG: usize = 4096;

/// The most threads, and the most processes, that are listed.
const NAMED: usize = 3;

/// An interval is listed if it covers at least one part in this number of a stall.
const LEAST_SHARE: i64 = 10;

/// Something that ran at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meanwhile {
    /// An interval of another thread.
    Interval { thread: usize, interval: Interval },
    /// Another process was active, and had about this many events.
    Process { process: usize, events: u64 },
}

/// The last long intervals of all threads.
#[derive(Debug, Default)]
pub struct LongIntervals(VecDeque<Long>);

/// A long interval of a thread.
#[derive(Debug)]
struct Long {
    thread: usize,
    interval: Interval,
    /// The latest end of this one and of all before it, which are later where a clock stepped back.
    latest: i64,
}

impl LongIntervals {
    /// Remembers a long interval of a thread.
    pub fn push(&mut self, thread: usize, interval: Interval) {
        let latest = self.0.back().map_or(interval.end, |last| last.latest.max(interval.end));
        remember(&mut self.0, MOST_LONG, Long { thread, interval, latest });
    }

    /// Those that may have ended at a time or later, with their threads; all that did are among them.
    fn ended_since(&self, time: i64) -> impl Iterator<Item = (usize, Interval)> {
        let first = self.0.partition_point(|long| long.latest < time);
        self.0.range(first..).map(|long| (long.thread, long.interval))
    }

    /// What ran on the machine of a thread while it was stalled.
    pub fn during<'a>(
        &self,
        stall: Span,
        stalled: usize,
        scene: &Scene,
        activities: impl Iterator<Item = (usize, &'a Activity)>,
    ) -> Vec<Meanwhile> {
        let is_here = |(thread, interval): &(usize, Interval)| {
            *thread != stalled
                && scene.threads.are_on_one_host(*thread, stalled)
                && covers_much(interval, stall)
        };
        let mut intervals: Vec<(usize, Interval)> =
            self.ended_since(stall.begin_ns).filter(is_here).collect();
        intervals.sort_by_key(|(_, interval)| Reverse(interval.overlap_ns(stall)));
        let mut seen = Vec::new();
        let mut meanwhile = Vec::new();
        for &(thread, interval) in intervals.iter() {
            if meanwhile.len() < NAMED && !seen.contains(&thread) {
                seen.push(thread);
                let of_thread = intervals.iter().filter(|(other, _)| *other == thread);
                let interval = most_telling(stall, interval, of_thread.map(|(_, inner)| *inner));
                meanwhile.push(Meanwhile::Interval { thread, interval });
            }
        }
        let process = scene.threads.thread(stalled).process;
        let host = |process: usize| scene.threads.process(process).host;
        let is_other = |other: usize| {
            let is_named = seen.iter().any(|&thread| scene.threads.thread(thread).process == other);
            other != process && !is_named && host(other) == host(process)
        };
        let others = activities.filter(|(other, _)| is_other(*other));
        let mut others: Vec<(usize, u64)> =
            others.map(|(other, activity)| (other, activity.count(stall))).collect();
        others.retain(|(_, events)| *events > 0);
        others.sort_by_key(|(_, events)| Reverse(*events));
        let others = others.into_iter().take(NAMED);
        meanwhile.extend(others.map(|(process, events)| Meanwhile::Process { process, events }));
        meanwhile
    }
}

/// Whether an interval covers enough of a stall to be listed.
pub fn covers_much(interval: &Interval, stall: Span) -> bool {
    interval.overlap_ns(stall).saturating_mul(LEAST_SHARE) >= stall.length_ns()
}

/// Adds to what is known an interval of another thread, of `process`, that ended later.
pub fn add(known: &mut Vec<Meanwhile>, stall: Span, thread: usize, interval: Interval, process: usize) {
    // An interval says more than the number of events of its process.
    known.retain(|other| !matches!(other, Meanwhile::Process { process: other, .. } if *other == process));
    let mut named = 0;
    for other in known.iter_mut() {
        let Meanwhile::Interval { thread: of, interval: other } = other else { continue };
        if *of == thread {
            *other = most_telling(stall, interval, [*other, interval].into_iter());
            return;
        }
        named += 1;
    }
    if named < NAMED {
        known.insert(named, Meanwhile::Interval { thread, interval });
    }
}

/// Of intervals of one thread, the one that says best what it did at this time, given the one that covers the most of it:
/// the innermost that covers almost as much. A command tells more than the turn that it is in.
fn most_telling(time: Span, widest: Interval, intervals: impl Iterator<Item = Interval>) -> Interval {
    let least = widest.overlap_ns(time) / 10 * 9;
    intervals.filter(|inner| inner.overlap_ns(time) >= least).min_by_key(Interval::length).unwrap_or(widest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intervals::IntervalName;
    use crate::reading::passes::Passes;

    fn interval(kind: u32, begin: i64, end: i64) -> Interval {
        Interval { begin, end, name: IntervalName { kind, key: 0 }, client: None, passes: Passes::ALL }
    }

    #[test]
    fn none_that_ended_late_enough_is_passed_over_though_a_clock_steps_back() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..300 {
            let (mut long, mut time, mut ends) = (LongIntervals::default(), 0, Vec::new());
            for thread in 0..random.usize(0..50) {
                time += if random.u8(..) < 20 { random.i64(-200..0) } else { random.i64(0..20) };
                long.push(thread, interval(1, time - random.i64(0..30), time));
                ends.push(time);
            }
            for time in [-100, random.i64(0..300), 1000] {
                let found: Vec<usize> = long.ended_since(time).map(|(thread, _)| thread).collect();
                let all = || ends.iter().enumerate().filter(|(_, end)| **end >= time);
                assert!(all().all(|(thread, _)| found.contains(&thread)), "{ends:?} since {time}");
                assert!(!ends.is_sorted() || found.len() == all().count(), "{ends:?} since {time}");
            }
        }
    }

    #[test]
    fn the_innermost_that_took_almost_all_of_the_time_tells_most() {
        let (turn, command, sync) = (interval(0, 0, 1000), interval(1, 20, 990), interval(4, 30, 400));
        let kind = |begin_ns, end_ns| {
            let told = most_telling(Span { begin_ns, end_ns }, turn, [sync, command, turn].into_iter());
            told.name.kind
        };
        assert_eq!(kind(0, 1000), 1);
        assert_eq!(kind(100, 300), 4);
        assert_eq!(kind(0, 30), 0);
        assert_eq!(most_telling(Span { begin_ns: 0, end_ns: 10 }, turn, std::iter::empty()), turn);
    }

    #[test]
    fn what_ran_meanwhile_is_named_once_for_each_thread() {
        let stall = Span { begin_ns: 100, end_ns: 200 };
        let ran = |thread, begin, end| Meanwhile::Interval { thread, interval: interval(1, begin, end) };
        let other = Meanwhile::Process { process: 6, events: 2 };
        let mut known = vec![Meanwhile::Process { process: 5, events: 3 }, other];
        let mut add = |thread, begin, end| {
            add(&mut known, stall, thread, interval(1, begin, end), 5);
            known.clone()
        };
        assert_eq!(add(1, 150, 180), [ran(1, 150, 180), other]);
        add(1, 10, 300);
        assert_eq!(add(1, 0, 1000)[0], ran(1, 10, 300), "the innermost that covers all of it");
        add(2, 0, 400);
        add(3, 0, 500);
        assert_eq!(add(4, 0, 600).len(), NAMED + 1, "three threads and a process");
    }
}
