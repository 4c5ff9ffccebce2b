//! The totals of one thread at points of time, and what they say of a span of time.
//!
//! The kernel adds to a total late: the time that a thread waited for a CPU when it gets one, the time on a CPU at the
//! next tick. But no total rises faster than time, so what it rose by too fast happened before:
//!
//! ```text
//!  queued, as it is read      ........................╷     all of a wait of 40 ms, at its end
//!  queued, as it was          ..........╱╱╱╱╱╱╱╱╱╱╱╱╱╱
//! ```
//!
//! So each point bounds a total from below, by what was read there and later, and from above, by what may be late there. Where
//! both totals together rose as fast as time, nothing is taken to be late: a thread that also slept there would have slept as
//! long, to the tenth of a millisecond, as the kernel was late.

use std::collections::VecDeque;

use super::account::{Account, AccountSource, Extent};
use super::bounds::{Bounds, ReadyTimes};
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
    /// Whether its state was read earlier.
    is_unread: bool,
    /// By how much the totals were higher than read, at least.
    late: ReadyTimes,
}

impl Point {
    /// What a sample says.
    pub fn of_sample(time: i64, sample: &ThreadSample) -> Point {
        let ns = |total: u64| i64::try_from(total).unwrap_or(i64::MAX / 8).min(i64::MAX / 8);
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
            ..Point::default()
        }
    }

    fn totals(&self) -> ReadyTimes {
        ReadyTimes { on_cpu: self.on_cpu, queued: self.queued, both: self.on_cpu + self.queued }
    }

    fn is_as(&self, other: &Point) -> bool {
        (self.on_cpu, self.queued) == (other.on_cpu, other.queued)
    }

    /// Whether it runs or waits for a CPU, or may: then more has passed than was counted.
    fn may_be_late(&self) -> bool {
        self.is_unread || is_ready(self.state)
    }
}

/// How late the kernel may add to the time on a CPU: a tick, of which most have 250 or more a second; nanoseconds.
const TICK: i64 = 4_000_000;

/// ReadyTimes that rise as fast as time do so within this time, in nanoseconds.
pub const NEARLY: i64 = 100_000;

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
            self.points.push_back(Point { time, is_unread: true, ..last });
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
        self.count_wait(&point);
        for earlier in self.points.iter_mut().rev() {
            let (apart, read) = (point.time - earlier.time, earlier.totals());
            let late = point.totals().map2(read, |later, read| later - apart - read);
            let mut late = late.map2(earlier.late, i64::max);
            // The time on a CPU is not as late as that, unless it says so itself: it waits.
            if late.both > TICK && late.on_cpu == 0 {
                late.queued = late.queued.max(late.both);
            }
            if late == earlier.late {
                break;
            }
            earlier.late = late;
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

    /// A thread that was ready for longer than a tick, and of which nothing was counted, waited: if the wait is counted now, it
    /// is known where it was.
    fn count_wait(&mut self, point: &Point) {
        let Some(last) = self.points.back().copied().filter(|last| !last.is_as(point)) else { return };
        let waits = |earlier: &&Point| earlier.state == b'R' && earlier.is_as(&last);
        let Some(first) = self.points.iter().rev().take_while(waits).last().copied() else { return };
        let waited = last.time - first.time;
        if waited > TICK && point.queued - last.queued >= waited {
            for earlier in self.points.iter_mut().rev().take_while(|earlier| earlier.time > first.time) {
                let waited = earlier.time - first.time;
                earlier.late =
                    earlier.late.map2(ReadyTimes { on_cpu: 0, queued: waited, both: waited }, i64::max);
            }
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
        let last = points.len() - 1;
        let at_point = |place: usize| {
            let (point, read) = (&points[place], points[place].totals());
            let late = match source {
                AccountSource::Samples => self.latest_counted(first + place, point),
                AccountSource::Kernel => ReadyTimes::default(),
            };
            let late = late.map2(point.late, i64::max);
            Bounds { place: Some(place), time: point.time, read, sure: point.late, late }
        };
        let begins = [at_point(0), at_point(1.min(last))];
        let ends = [at_point(last.saturating_sub(1)), at_point(last)];
        let begins = [&begins[0], &begins[1], &Bounds::between(&begins, span.begin_ns)];
        let ends = [&ends[0], &ends[1], &Bounds::between(&ends, span.end_ns)];
        let was_ready = |from: usize, to: usize| from < to && points[from..=to].windows(2).all(is_full);
        let pairs = begins.into_iter().flat_map(|begin| ends.map(|end| (begin, end)));
        let pairs: Vec<_> = pairs
            .map(|(begin, end)| {
                (begin, end, begin.place.zip(end.place).is_some_and(|(from, to)| was_ready(from, to)))
            })
            .collect();
        let rise = |of: fn(&ReadyTimes) -> i64| {
            let all = Extent { least: 0, most: account.length };
            let rise = pairs.iter().fold(all, |rise, (begin, end, was_ready)| {
                rise.and(Bounds::rise(begin, end, *was_ready, span, of))
            });
            rise.up_to(Extent::exactly(account.length))
        };
        let rises =
            [|of: &ReadyTimes| of.on_cpu, |of: &ReadyTimes| of.queued, |of: &ReadyTimes| of.both].map(rise);
        let mut both = rises[2];
        (account.on_cpu, account.queued) = (rises[0], rises[1]);
        account.count(&points[0], &points[last]);
        let mut longest = 0;
        for pair in points.windows(2) {
            account.add_states(&pair[0], &pair[1], span);
            if source == AccountSource::Samples
                && let Some(uncounted) = uncounted(&pair[0], &pair[1], span)
            {
                account.queued += uncounted;
                both += uncounted;
            }
            let queued = pair[1].queued - pair[0].queued;
            if queued > longest {
                (longest, account.cpu) = (queued, pair[1].cpu);
            }
        }
        let ready = Extent { least: both.least.min(account.length), most: both.most.min(account.length) };
        account.narrow(ready);
        Some(account)
    }

    /// By how much totals may have been higher than read at a point, which has this place if it is one of these.
    fn latest_counted(&self, place: usize, point: &Point) -> ReadyTimes {
        if place >= self.points.len() || !point.may_be_late() {
            return ReadyTimes::default();
        }
        // It has been late since it was last seen to run or to be blocked, and what is late is counted next: before it is blocked.
        let is_since = |earlier: &&Point| earlier.is_as(point) && earlier.may_be_late();
        let before = self.points.range(..place).rev().find(|earlier| !is_since(earlier));
        let since = before.map_or(i64::MAX / 8, |before| point.time - before.time);
        let next = self.points.range(place + 1..).find(|later| !is_since(later));
        let (runs, waits) = next.map_or((TICK, since), |next| {
            ((next.on_cpu - point.on_cpu).min(TICK), (next.queued - point.queued).clamp(0, since))
        });
        ReadyTimes { on_cpu: runs, queued: waits, both: runs.max(waits) }
    }
}

/// Whether a thread was ready from one point to the next, running or not.
fn is_full(pair: &[Point]) -> bool {
    let rise = pair[1].totals().both - pair[0].totals().both;
    (rise - (pair[1].time - pair[0].time)).abs() < NEARLY && pair.iter().all(Point::may_be_late)
}

/// The part of a span in which a thread was ready and nothing was ever counted: its control group had used up its time.
fn uncounted(from: &Point, to: &Point, span: Span) -> Option<Extent> {
    let between = Span { begin_ns: from.time, end_ns: to.time };
    let (length, inside) = (between.length_ns(), between.overlap_ns(span));
    let is_ready = (from.state, to.state) == (b'R', b'R') && from.is_as(to) && from.late == to.late;
    (is_ready && length > TICK)
        .then(|| Extent { least: length - TICK, most: length }.cut(length - inside, inside))
}

impl Account {
    /// Counts what happened from one point to another.
    fn count(&mut self, from: &Point, to: &Point) {
        let rise = |from: u32, to: u32| u64::from(to.wrapping_sub(from));
        self.minor_faults = rise(from.minor_faults, to.minor_faults);
        self.major_faults = rise(from.major_faults, to.major_faults);
        self.voluntary_switches = rise(from.voluntary, to.voluntary);
        self.involuntary_switches = rise(from.involuntary, to.involuntary);
    }

    /// Adds the time from one point to the next, as far as it lies in a span, to what may have blocked the thread.
    fn add_states(&mut self, from: &Point, to: &Point, span: Span) {
        let between = Span { begin_ns: from.time, end_ns: to.time };
        let inside = between.overlap_ns(span);
        if inside <= 0 {
            return;
        }
        let is_sampled = self.source == AccountSource::Samples;
        let states = if is_sampled { [from.state, to.state] } else { [from.state; 2] };
        if is_sampled {
            self.pace = self.pace.max(between.length_ns());
            let is_stopped =
                |look: &&Point| is_stopped(look.state) && (span.begin_ns..span.end_ns).contains(&look.time);
            self.stopped_at =
                self.stopped_at.or([from, to].into_iter().find(is_stopped).map(|look| look.time));
        }
        let mut add = |is_of: fn(u8) -> bool, sum: fn(&mut Account) -> &mut Extent| {
            if states.into_iter().any(is_of) {
                sum(self).most += inside;
            }
        };
        add(is_stopped, |account| &mut account.stopped);
        add(|state| state == b'D', |account| &mut account.device);
        let is_asleep = |state| !matches!(state, b'T' | b't' | b'D' | b'R' | 0);
        // Between two looks it may have slept unless nothing happened there.
        if states.into_iter().any(is_asleep) || is_sampled && !(from.is_as(to) && from.state == to.state) {
            self.asleep.most += inside;
        }
    }
}

/// Whether a signal or a debugger has stopped a thread in this state.
fn is_stopped(state: u8) -> bool {
    matches!(state, b'T' | b't')
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
        // Until the next look it may have gone on for 4 ms, and asleep as long. The time on a CPU may have begun before it.
        assert_eq!(account(&history, 10, 45)[2], (29, 34));
        assert_eq!(account(&history, 15, 35)[2], (20, 20));
        assert_eq!(account(&history, 10, 45)[4], (0, 5));
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
}
