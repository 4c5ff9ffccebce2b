//! The totals of one thread at points of time, and what they say of a span of time.
//!
//! The kernel adds to a total late: the time that a thread waited for a CPU when it gets one, the time on a CPU at the
//! next tick. But no total rises faster than time, so what it rose by too fast happened before:
//!
//! ```text
//!  queued, as it is read      ........................╷     all of a wait of 40 ms, at its end
//!  queued, as it was          ..........╱╱╱╱╱╱╱╱╱╱╱╱╱╱
//! ```

use std::collections::VecDeque;

use super::account::{Account, AccountSource};
use crate::analysis::finding::Span;
use crate::samples::ThreadSample;

/// The totals of a thread at a time; nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Point {
    pub time: i64,
    pub on_cpu: i64,
    pub queued: i64,
    pub minor_faults: u32,
    pub major_faults: u32,
    pub voluntary: u32,
    pub involuntary: u32,
    pub cpu: i32,
    /// The letter of its state from here on.
    pub state: u8,
    /// Whether it waits for a CPU at this time.
    pub is_queued: bool,
}

impl Point {
    /// What a sample says.
    pub fn of_sample(time: i64, sample: &ThreadSample) -> Point {
        let ns = |total: u64| i64::try_from(total).unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
        Point {
            time,
            on_cpu: ns(sample.on_cpu_ns),
            queued: ns(sample.queued_ns),
            minor_faults: sample.minor_faults as u32,
            major_faults: sample.major_faults as u32,
            voluntary: sample.voluntary_switches as u32,
            involuntary: sample.involuntary_switches as u32,
            cpu: sample.cpu,
            state: sample.state,
            is_queued: false,
        }
    }
}

/// The totals of a thread over time.
#[derive(Clone, Debug, Default)]
pub struct History {
    points: VecDeque<Point>,
}

impl History {
    /// Up to this time nothing has changed.
    pub fn stay(&mut self, time: i64) {
        if let Some(&last) = self.points.back()
            && last.time < time
        {
            self.points.push_back(Point { time, ..last });
        }
    }

    /// Adds a point, and makes room for it if there are too many.
    pub fn push(&mut self, point: Point, most: usize) {
        if self.points.back().is_some_and(|last| last.time > point.time || last.on_cpu > point.on_cpu) {
            // A clock that was set back, or another thread with the same number.
            self.points.clear();
        }
        if self.points.back().is_some_and(|last| last.time == point.time) {
            self.points.pop_back();
        }
        for earlier in self.points.iter_mut().rev() {
            let apart = point.time - earlier.time;
            let on_cpu = (point.on_cpu - apart).max(earlier.on_cpu);
            let both = point.on_cpu.saturating_add(point.queued) - apart - on_cpu;
            let queued = both.min(point.queued).max(earlier.queued);
            if (on_cpu, queued) == (earlier.on_cpu, earlier.queued) {
                break;
            }
            earlier.is_queued |= queued > earlier.queued;
            (earlier.on_cpu, earlier.queued) = (on_cpu, queued);
        }
        self.points.push_back(point);
        if self.points.len() > most {
            // The older half becomes coarser: totals stay right.
            let half = self.points.len() / 2;
            let mut place = 0;
            self.points.retain(|_| {
                place += 1;
                place > half || place % 2 == 1
            });
        }
    }

    /// What the thread did in a span of time; none if it was not yet known at its beginning.
    pub fn account(&self, span: Span, source: AccountSource) -> Option<Account> {
        let first = self.points.partition_point(|point| point.time <= span.begin_ns).checked_sub(1)?;
        let mut account = Account::new(source);
        let mut longest = 0;
        for place in first..self.points.len() {
            let from = self.points[place];
            if from.time >= span.end_ns {
                break;
            }
            let is_seen = source == AccountSource::Kernel || from.time > span.begin_ns;
            account.seen_asleep += u32::from(is_seen && from.state == b'S');
            // After the last point nothing has changed.
            let last = Point { time: span.end_ns.max(from.time + 1), ..from };
            let to = self.points.get(place + 1).copied().unwrap_or(last);
            let queued = account.queued;
            account.add(&from, &to, span);
            if account.queued - queued > longest {
                longest = account.queued - queued;
                account.cpu = to.cpu;
            }
        }
        Some(account)
    }
}

impl Account {
    /// Adds what happened from one point to the next, as far as it lies in a span.
    fn add(&mut self, from: &Point, to: &Point, span: Span) {
        let between = Span { begin_ns: from.time, end_ns: to.time };
        let (length, inside) = (between.length_ns(), between.overlap_ns(span));
        let [on_cpu, queued] =
            [to.on_cpu - from.on_cpu, to.queued - from.queued].map(|rise| rise.clamp(0, length));
        let queued = queued.min(length - on_cpu);
        let in_queue = match (from.is_queued, to.is_queued) {
            (true, false) => Span { end_ns: from.time + queued, ..between }.overlap_ns(span),
            (false, true) => Span { begin_ns: to.time - queued, ..between }.overlap_ns(span),
            _ => share(queued, length, inside),
        };
        let on = share(on_cpu, length - queued, inside - in_queue);
        let blocked = inside - in_queue - on;
        self.on_cpu += on;
        self.queued += in_queue;
        // It went to sleep, or woke up, in between.
        let state = if from.state == b'R' { to.state } else { from.state };
        let is_ready = (from.state, to.state) == (b'R', b'R') && on_cpu == 0;
        match state {
            _ if is_ready => self.queued += blocked,
            b'T' | b't' => self.stopped += blocked,
            b'D' => self.device += blocked,
            _ => self.asleep += blocked,
        }
        let rise = |from: u32, to: u32| u64::from(to.wrapping_sub(from));
        self.minor_faults += rise(from.minor_faults, to.minor_faults);
        self.major_faults += rise(from.major_faults, to.major_faults);
        self.voluntary_switches += rise(from.voluntary, to.voluntary);
        self.involuntary_switches += rise(from.involuntary, to.involuntary);
    }
}

/// How much of a part lies in an overlap, if it may be anywhere: halfway between the least and the most.
fn share(part: i64, length: i64, overlap: i64) -> i64 {
    let least = (part - (length - overlap)).max(0);
    let most = part.min(overlap);
    (least + most) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn history(points: &[(i64, i64, i64, u8)]) -> History {
        let mut history = History::default();
        for &(time, on_cpu, queued, state) in points {
            let [time, on_cpu, queued] = [time, on_cpu, queued].map(|ms| ms * MS);
            history.push(Point { time, on_cpu, queued, state, ..Point::default() }, 1000);
        }
        history
    }

    fn account(history: &History, begin: i64, end: i64) -> [i64; 5] {
        let span = Span { begin_ns: begin * MS, end_ns: end * MS };
        let account = history.account(span, AccountSource::Samples).expect("it is known");
        assert_eq!(account.length(), span.length_ns());
        [account.on_cpu, account.queued, account.stopped, account.device, account.asleep].map(|ns| ns / MS)
    }

    #[test]
    fn a_wait_that_is_told_at_its_end_lies_before_it() {
        // It waits from 10 to 50, and runs from there; the kernel says so at 55.
        let history = history(&[
            (0, 0, 0, b'S'),
            (10, 10, 0, b'R'),
            (20, 10, 0, b'R'),
            (55, 15, 40, b'R'),
            (60, 20, 40, b'R'),
        ]);
        assert_eq!(account(&history, 10, 50), [0, 40, 0, 0, 0]);
        assert_eq!(account(&history, 0, 60), [20, 40, 0, 0, 0]);
        assert_eq!(account(&history, 50, 60), [10, 0, 0, 0, 0]);
        assert_eq!(account(&history, 30, 40), [0, 10, 0, 0, 0]);
    }

    #[test]
    fn time_that_is_neither_on_the_cpu_nor_queued_goes_by_the_state() {
        let history = history(&[
            (0, 0, 0, b'R'),
            (10, 10, 0, b'T'),
            (40, 10, 0, b'T'),
            (41, 11, 0, b'D'),
            (60, 11, 0, b'D'),
        ]);
        assert_eq!(account(&history, 0, 60), [11, 0, 30, 19, 0]);
        assert_eq!(account(&history, 10, 90)[3], 49, "after the last sample nothing changed");
        let span = Span { begin_ns: -1, end_ns: 5 };
        assert_eq!(history.account(span, AccountSource::Samples), None);
    }

    #[test]
    fn a_thread_was_seen_asleep_if_somebody_looked_meanwhile() {
        let asleep = |points: &[(i64, i64, i64, u8)], source| {
            let span = Span { begin_ns: 10 * MS, end_ns: 50 * MS };
            history(points).account(span, source).expect("it is known").seen_asleep
        };
        let (before, after) = ((5, 5, 0, b'S'), (55, 6, 0, b'S'));
        assert_eq!(asleep(&[before, (30, 5, 0, b'S'), after], AccountSource::Samples), 1);
        assert_eq!(
            asleep(&[before, after], AccountSource::Samples),
            0,
            "all of the machine may have stopped"
        );
        assert_eq!(asleep(&[before, after], AccountSource::Kernel), 1, "the kernel says each change");
        assert_eq!(asleep(&[before, (30, 5, 0, b'T'), after], AccountSource::Samples), 0);
    }

    #[test]
    fn a_thread_that_is_ready_and_does_not_run_has_no_cpu() {
        // A control group that has used up its time: the kernel counts no wait.
        let history = history(&[(0, 0, 0, b'R'), (10, 10, 0, b'R'), (90, 10, 0, b'R'), (100, 20, 0, b'R')]);
        assert_eq!(account(&history, 0, 100), [20, 80, 0, 0, 0]);
    }

    #[test]
    fn totals_stay_right_when_points_are_dropped() {
        let mut history = History::default();
        for step in 0..10_000 {
            let point = Point {
                time: step * 10,
                on_cpu: step * 4,
                queued: step * 3,
                state: b'S',
                ..Point::default()
            };
            history.push(point, 256);
        }
        assert!(history.points.len() <= 256);
        let account = history.account(Span { begin_ns: 0, end_ns: 99_990 }, AccountSource::Samples).unwrap();
        assert_eq!((account.on_cpu, account.queued, account.asleep), (9999 * 4, 9999 * 3, 9999 * 3));
    }

    #[test]
    fn random_histories_account_for_all_of_the_time() {
        let seed = fastrand::u64(..);
        let random = &mut fastrand::Rng::with_seed(seed);
        for _ in 0..200 {
            let mut history = History::default();
            let mut point = Point::default();
            for _ in 0..random.usize(1..100) {
                point.time += random.i64(1..1000);
                point.on_cpu += random.i64(0..800);
                point.queued += random.i64(0..800);
                point.state = *random.choice(b"RSDT").expect("there are four");
                history.push(point, random.usize(2..64));
            }
            let first = history.points[0].time;
            let begin = first + random.i64(0..5000);
            let span = Span { begin_ns: begin, end_ns: begin + random.i64(1..5000) };
            let account = history.account(span, AccountSource::Samples).expect("it is known");
            assert_eq!(account.length(), span.length_ns(), "seed {seed}");
            assert!(account.parts().iter().all(|(_, time)| *time >= 0), "seed {seed}: {account:?}");
        }
    }
}
