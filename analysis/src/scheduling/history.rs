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

use super::account::{Account, AccountSource, Extent};
use crate::finding::Span;
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
    /// The time of the last point.
    pub fn latest(&self) -> i64 {
        self.points.back().map_or(i64::MIN, |point| point.time)
    }

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
        // A clock that was set back, or another thread with the same number.
        let is_other = |last: &Point| {
            last.time > point.time || last.on_cpu > point.on_cpu || last.state == ThreadSample::LEFT
        };
        if self.points.back().is_some_and(is_other) {
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

    /// Drops the points before a time, but for the first and the last of them: what is older is known in all.
    pub fn age(&mut self, time: i64) {
        let old = self.points.partition_point(|point| point.time < time);
        if old > 2 {
            self.points.drain(1..old - 1);
            if self.points.len() < self.points.capacity() / 4 {
                self.points.shrink_to(2 * self.points.len());
            }
        }
    }

    /// The number of points.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// What the thread did in a span of time; none if it was not yet known at its beginning, or no longer at its end.
    ///
    /// The points in the span are the ends of a block for which totals are exact but for what the kernel had not counted yet;
    /// the rests before and after it lie in longer times, of whose totals any part may be in the span.
    pub fn account(&self, span: Span, source: AccountSource) -> Option<Account> {
        self.account_until(span, source, None)
    }

    /// The same, with what is known of the end of the span if that is after the last point.
    pub fn account_until(&self, span: Span, source: AccountSource, end: Option<Point>) -> Option<Account> {
        let first = self.points.partition_point(|point| point.time <= span.begin_ns).checked_sub(1)?;
        let mut account = Account { length: span.length_ns(), ..Account::new(source) };
        if account.length <= 0 {
            return Some(account);
        }
        // After the last point nothing has changed.
        let last = end.or(self.points.back().copied());
        if last.is_some_and(|last| last.state == ThreadSample::LEFT && last.time < span.end_ns) {
            return None;
        }
        let stays = last.map(|last| Point { time: span.end_ns.max(last.time + 1), ..last });
        let after = self.points.partition_point(|point| point.time < span.end_ns);
        let known = self.points.range(first..self.points.len().min(after + 1)).copied();
        let points: Vec<Point> = known.chain(stays.filter(|_| after == self.points.len())).collect();
        let before = first.checked_sub(1).map_or(i64::MAX, |place| points[0].time - self.points[place].time);
        let last = points.len() - 1;
        // From point to point, and all at once: what the kernel counts late matters once for each.
        let mut inner = vec![0, 1.min(last), last.saturating_sub(1), last];
        inner.sort_unstable();
        inner.dedup();
        let rises = |ends: &[usize]| {
            let mut sums = [Extent::default(); 2];
            for pair in ends.windows(2) {
                let previous =
                    pair[0].checked_sub(1).map_or(before, |place| points[pair[0]].time - points[place].time);
                let next = points.get(pair[1] + 1).unwrap_or(&points[pair[1]]);
                let is_one = pair[1] == pair[0] + 1;
                let [from, to] = [0, 1].map(|end| Point {
                    is_queued: points[pair[end]].is_queued && is_one,
                    ..points[pair[end]]
                });
                // What a point was corrected by is counted.
                let previous = if points[pair[0]].is_queued { 0 } else { previous };
                let rises = rises(&from, &to, next, previous, span, source);
                sums.iter_mut().zip(rises).for_each(|(sum, rise)| *sum += rise);
            }
            sums
        };
        let (apart, at_once) = (rises(&inner), rises(&[0, last]));
        (account.on_cpu, account.queued) = (apart[0].and(at_once[0]), apart[1].and(at_once[1]));
        account.count(&points[0], &points[last]);
        let mut longest = 0;
        for pair in points.windows(2) {
            account.add_states(&pair[0], &pair[1], span);
            let queued = pair[1].queued - pair[0].queued;
            if queued > longest {
                (longest, account.cpu) = (queued, pair[1].cpu);
            }
        }
        account.narrow();
        Some(account)
    }
}

/// How late the kernel may add to the time on a CPU: a tick, of which most have 250 or more a second; nanoseconds.
const TICK: i64 = 4_000_000;

impl Account {
    /// Counts what happened from one point to another.
    fn count(&mut self, from: &Point, to: &Point) {
        let rise = |from: u32, to: u32| u64::from(to.wrapping_sub(from));
        self.minor_faults = rise(from.minor_faults, to.minor_faults);
        self.major_faults = rise(from.major_faults, to.major_faults);
        self.voluntary_switches = rise(from.voluntary, to.voluntary);
        self.involuntary_switches = rise(from.involuntary, to.involuntary);
    }

    /// Adds the time from one point to the next, as far as it lies in a span, to what may have blocked the thread. It is
    /// sure if nothing changed from one look to the next, or if the kernel says each change.
    fn add_states(&mut self, from: &Point, to: &Point, span: Span) {
        let between = Span { begin_ns: from.time, end_ns: to.time };
        let (length, inside) = (between.length_ns(), between.overlap_ns(span));
        if inside <= 0 {
            return;
        }
        let ran = (to.on_cpu - from.on_cpu + to.queued - from.queued).clamp(0, length);
        let is_sampled = self.source == AccountSource::Samples;
        let is_sure = match is_sampled {
            true => from.state == to.state && ran == 0,
            false => true,
        };
        if is_sampled {
            self.pace = self.pace.max(length);
        }
        let states = if is_sampled { [from.state, to.state] } else { [from.state; 2] };
        let blocked = Extent { least: if is_sure { length - ran } else { 0 }, most: length };
        let blocked = blocked.cut(length - inside, inside);
        let mut add = |is_of: fn(u8) -> bool, sum: fn(&mut Account) -> &mut Extent| {
            if states.into_iter().any(is_of) {
                *sum(self) += blocked;
            }
        };
        add(|state| matches!(state, b'T' | b't'), |account| &mut account.stopped);
        add(|state| state == b'D', |account| &mut account.device);
        add(|state| !matches!(state, b'T' | b't' | b'D' | b'R' | 0), |account| &mut account.asleep);
        // Between two looks at which it ran it may have slept.
        if states.into_iter().all(is_ready) && is_sampled {
            self.asleep.most += inside;
        }
    }
}

/// The rises of the time on a CPU and the time ready for one from one point to another, as far as they lie in a span. `next` is
/// the point after, and `previous` the time since the one before.
fn rises(
    from: &Point,
    to: &Point,
    next: &Point,
    previous: i64,
    span: Span,
    source: AccountSource,
) -> [Extent; 2] {
    let between = Span { begin_ns: from.time, end_ns: to.time };
    let (length, inside) = (between.length_ns(), between.overlap_ns(span));
    let is_sampled = source == AccountSource::Samples;
    // A thread that runs or waits has more than was counted so far.
    let [began, ended] = [from, to].map(|point| is_sampled && is_ready(point.state));
    let rises = [to.on_cpu - from.on_cpu, to.queued - from.queued].map(|rise| rise.clamp(0, length));
    let later = [next.on_cpu - to.on_cpu, next.queued - to.queued].map(|rise| rise.max(0));
    let extent = |rise: i64, earlier: i64, later: i64| Extent {
        least: if began { (rise - earlier).max(0) } else { rise },
        most: if ended { rise.saturating_add(later).min(length) } else { rise },
    };
    let on_cpu = extent(rises[0], TICK, later[0].min(TICK)).cut(length - inside, inside);
    let in_queue = |begin_ns, end_ns| Extent::exactly(Span { begin_ns, end_ns }.overlap_ns(span));
    let queued = match (from.is_queued, to.is_queued) {
        (true, false) => in_queue(from.time, from.time + rises[1]),
        (false, true) => in_queue(to.time - rises[1], to.time),
        // A control group that has used up its time: the kernel counts no wait.
        _ if (from.state, to.state, rises) == (b'R', b'R', [0, 0]) && length > TICK && is_sampled => {
            Extent { least: length - TICK, most: length }.cut(length - inside, inside)
        }
        _ => extent(rises[1], previous, later[1]).cut(length - inside, inside),
    };
    [on_cpu, queued]
}

/// Whether a thread in this state runs or waits for a CPU, or may.
fn is_ready(state: u8) -> bool {
    matches!(state, b'R' | 0)
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

    /// The bounds of what a thread did, in milliseconds: on a CPU, queued, stopped, blocked by a device, asleep.
    fn account(history: &History, begin: i64, end: i64) -> [(i64, i64); 5] {
        let span = Span { begin_ns: begin * MS, end_ns: end * MS };
        let account = history.account(span, AccountSource::Samples).expect("it is known");
        let parts = [account.on_cpu, account.queued, account.stopped, account.device, account.asleep];
        parts.map(|part| (part.least / MS, part.most / MS))
    }

    #[test]
    fn a_wait_that_is_told_at_its_end_lies_before_it() {
        // It waits from 10 to 50, and runs from there; the kernel says so at 55.
        let history = history(&[
            (0, 0, 0, b'S'),
            (10, 10, 0, b'S'),
            (20, 10, 0, b'R'),
            (55, 15, 40, b'S'),
            (60, 20, 40, b'S'),
        ]);
        let queued = account(&history, 10, 50)[1];
        assert!(queued.0 >= 30 && queued.1 == 40, "{queued:?}");
        assert_eq!(account(&history, 0, 60)[..2], [(20, 20), (40, 40)]);
    }

    #[test]
    fn a_state_is_sure_where_nothing_changed_between_two_looks() {
        let mut history = history(&[(0, 0, 0, b'R'), (10, 10, 0, b'T')]);
        history.stay(40 * MS);
        let after = Point { time: 45 * MS, on_cpu: 11 * MS, state: b'S', ..Point::default() };
        history.push(after, 1000);
        // Until the next look it may have gone on for 4 ms, and asleep as long.
        assert_eq!(account(&history, 10, 45)[2], (30, 34));
        assert_eq!(account(&history, 15, 35)[2], (20, 20));
        assert_eq!(account(&history, 10, 45)[4], (0, 4));
        assert_eq!(account(&history, 45, 90)[4], (45, 45), "after the last sample nothing changed");
        let span = Span { begin_ns: -1, end_ns: 5 };
        assert_eq!(history.account(span, AccountSource::Samples), None);
        let left = Point { time: 50 * MS, on_cpu: 11 * MS, state: ThreadSample::LEFT, ..Point::default() };
        history.push(left, 1000);
        assert_eq!(account(&history, 15, 35)[2], (20, 20), "what is known stays");
        let span = Span { begin_ns: 45 * MS, end_ns: 90 * MS };
        assert_eq!(history.account(span, AccountSource::Samples), None, "it is not sampled any more");
    }

    #[test]
    fn what_is_shorter_than_the_pace_of_samples_is_not_sure() {
        // 6 of 20 ms without a CPU, somewhere.
        let history = history(&[(0, 0, 0, b'S'), (20, 14, 6, b'S')]);
        assert_eq!(account(&history, 5, 10)[..2], [(0, 5), (0, 5)]);
        assert_eq!(account(&history, 0, 20)[..2], [(14, 14), (6, 6)]);
        let span = Span { begin_ns: 5 * MS, end_ns: 10 * MS };
        assert_eq!(history.account(span, AccountSource::Samples).map(|account| account.pace), Some(20 * MS));
        let exact = history.account(span, AccountSource::Kernel).expect("it is known");
        assert_eq!(exact.pace, 0, "the kernel says each change");
    }

    #[test]
    fn a_thread_that_is_ready_and_does_not_run_has_no_cpu() {
        // A control group that has used up its time: the kernel counts no wait.
        let history = history(&[(0, 0, 0, b'R'), (10, 10, 0, b'R'), (90, 10, 0, b'R'), (100, 20, 0, b'S')]);
        let queued = account(&history, 10, 90)[1];
        assert!(queued.0 >= 70 && queued.1 == 80, "{queued:?}");
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
        let exactly = |time: i64| Extent::exactly(9999 * time);
        assert_eq!((account.on_cpu, account.queued, account.asleep), (exactly(4), exactly(3), exactly(3)));
    }

    #[test]
    fn the_bounds_of_random_histories_hold_what_happened() {
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
            let parts = [account.on_cpu, account.queued, account.stopped, account.device, account.asleep];
            let is_bound =
                |part: &Extent| 0 <= part.least && part.least <= part.most && part.most <= account.length;
            assert!(parts.iter().all(is_bound), "seed {seed}: {account:?}");
            let [sure, possible] = [|part: &Extent| part.least, |part: &Extent| part.most]
                .map(|bound| parts.iter().map(bound).sum::<i64>());
            assert!(sure <= account.length && account.length <= possible, "seed {seed}: {account:?}");
        }
    }
}
