//! What events say, resolved: all that is left to do is to follow the order of time.
//!
//! Most of them end intervals, and mostly several of one thread follow each other, up to the end of a turn of its event loop. These
//! are a *run*, so that what needs no look at single ones is done once:
//!
//! ```text
//!  intervals   GET  GET  flush  turn │ GET  flush  turn │ GET …
//!  happenings  a run of thread 1     │ a run            │ a process appeared │ …
//! ```

use super::interval::{BriefInterval, Interval, IntervalName};
use super::nesting::SpanNumbers;
use super::plain::PlainRole;
use super::threads::Thread;
use crate::reading::Passes;
use crate::scheduling::KernelEvent;

/// What happened, in time order. Threads and processes are numbered in the order in which they appear.
///
/// It goes from one processor to another: two are in a line of the cache.
#[derive(Clone, Copy, Debug)]
pub enum Happening {
    /// A process of a machine appeared; its name is that of a number.
    Process { host: u32, pid: Option<i64>, name: u32 },
    /// A thread appeared.
    Thread(Thread),
    /// A thread was active.
    Active { thread: u32, time: i64 },
    /// A thread began an interval.
    Began { thread: u32, time: i64, name: IntervalName, client: Option<u32>, passes: Passes },
    /// A thread ended the interval of a kind that it began last. The key and the client are those that the end says; the client may be
    /// [`BriefInterval::NOBODY`].
    Closed { thread: u32, time: i64, kind: u32, key: Option<u32>, client: u32, passes: Passes },
    /// An interval has ended of a thread that is not known to have an event loop.
    Ended { thread: u32, interval: BriefInterval },
    /// A run of intervals of a thread has ended: those of [`Happenings::intervals`] in these places.
    Run { thread: u32, from: u32, to: u32 },
    /// What ends next is this span.
    Span(SpanNumbers),
    /// What ends next is a command that holds clients back from then on.
    HoldsBack,
    /// An event reports the total of pieces of its thread's work, which is not an interval.
    Summed { thread: u32, sum: BriefInterval },
    /// An interval has ended, or it is such a total, that is not brief: that of [`Happenings::long`] in this place.
    Long { thread: u32, place: u32, is_sum: bool },
    /// The kernel of a machine did something: that of [`Happenings::kernel`] in this place.
    Scheduled { host: u32, time: i64, place: u32 },
}

const _: () = assert!(size_of::<Happening>() <= 32);

/// What happened, with room for more.
#[derive(Debug, Default)]
pub struct Happenings {
    list: Room<Happening>,
    intervals: Room<BriefInterval>,
    /// The run that may go on.
    run: Option<Run>,
    /// What is rare, and larger than the others.
    long: Vec<Interval>,
    kernel: Vec<KernelEvent>,
    /// The names of processes that appeared.
    names: Vec<Option<String>>,
}

/// The intervals from a place on, up to now.
#[derive(Clone, Copy, Debug)]
struct Run {
    thread: u32,
    from: usize,
    /// When the last of them ended.
    end: i64,
}

/// The first values count. Others are overwritten, each where it stays: a processor that copies what it has just written waits for
/// all parts of it.
#[derive(Debug)]
struct Room<T> {
    values: Vec<T>,
    count: usize,
}

impl<T> Default for Room<T> {
    fn default() -> Self {
        Room { values: Vec::new(), count: 0 }
    }
}

impl<T: Copy> Room<T> {
    #[inline(always)]
    fn add(&mut self, value: T) {
        if self.count == self.values.len() {
            self.grow(value);
        }
        self.values[self.count] = value;
        self.count += 1;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, value: T) {
        self.values.resize((2 * self.count).max(16), value);
    }

    /// Room for this many more, or for more than that.
    fn room(&mut self, more: usize) -> &mut [T]
    where
        T: Default,
    {
        if self.values.len() < self.count + more {
            self.values.resize(2 * (self.count + more), T::default());
        }
        &mut self.values[self.count..]
    }

    fn all(&self) -> &[T] {
        &self.values[..self.count]
    }
}

impl Happenings {
    /// Adds what happened.
    #[inline(always)]
    pub fn add(&mut self, happening: Happening) {
        self.end_run();
        self.list.add(happening);
    }

    /// Adds that an interval has ended of a thread that is not known to have an event loop, or one that is not brief.
    pub fn end(&mut self, thread: u32, interval: &Interval) {
        match BriefInterval::new(interval) {
            Some(interval) => self.add(Happening::Ended { thread, interval }),
            None => self.end_long(thread, interval, false),
        }
    }

    /// Adds the total of pieces of a thread's work.
    pub fn sum(&mut self, thread: u32, sum: &Interval) {
        match BriefInterval::new(sum) {
            Some(sum) => self.add(Happening::Summed { thread, sum }),
            None => self.end_long(thread, sum, true),
        }
    }

    fn end_long(&mut self, thread: u32, interval: &Interval, is_sum: bool) {
        self.add(Happening::Long { thread, place: self.long.len() as u32, is_sum });
        self.long.push(*interval);
    }

    /// Adds what the kernel of a machine did.
    pub fn schedule(&mut self, host: u32, time: i64, event: KernelEvent) {
        self.add(Happening::Scheduled { host, time, place: self.kernel.len() as u32 });
        self.kernel.push(event);
    }

    /// Adds what ends intervals of a thread with an event loop, or sums them up; at most this many.
    #[inline(always)]
    pub fn end_in_loop(
        &mut self,
        thread: u32,
        most: usize,
        ended: impl Iterator<Item = (BriefInterval, PlainRole)>,
    ) {
        let (mut from, mut end) = match self.run {
            Some(run) if run.thread == thread => (run.from, run.end),
            _ => {
                self.end_run();
                (self.intervals.count, i64::MIN)
            }
        };
        let Happenings { list, intervals, .. } = self;
        let (first, room) = (intervals.count, intervals.room(most));
        let mut to = first;
        for (interval, role) in ended {
            if (role == PlainRole::Sum || interval.end < end) && from < to {
                list.add(Happening::Run { thread, from: from as u32, to: to as u32 });
                from = to;
            }
            if role == PlainRole::Sum {
                list.add(Happening::Summed { thread, sum: interval });
                continue;
            }
            room[to - first] = interval;
            (to, end) = (to + 1, interval.end);
            if role == PlainRole::Turn {
                list.add(Happening::Run { thread, from: from as u32, to: to as u32 });
                from = to;
            }
        }
        intervals.count = to;
        self.run = (from < to).then_some(Run { thread, from, end });
    }

    /// Adds the run that may go on, if there is one.
    #[inline(always)]
    pub fn end_run(&mut self) {
        if let Some(Run { thread, from, .. }) = self.run.take() {
            self.list.add(Happening::Run { thread, from: from as u32, to: self.intervals.count as u32 });
        }
    }

    /// Adds that a process appeared.
    pub fn add_process(&mut self, host: u32, pid: Option<i64>, name: Option<String>) {
        self.add(Happening::Process { host, pid, name: self.names.len() as u32 });
        self.names.push(name);
    }

    /// Whether it is not enough to be handed over: about this much, besides a run that may go on, unless that is very long.
    #[inline(always)]
    pub fn has_room_before(&self, enough: usize) -> bool {
        let ended = self.run.map_or(self.intervals.count, |run| run.from);
        self.list.count + ended < enough && self.intervals.count < 4 * enough
    }

    /// Leaves a run that may go on to what comes next, unless it is all there is: a turn that is cut is not
    /// [handled at once](crate::intervals::Listener::run_ended).
    pub fn leave_run(&mut self, next: &mut Happenings) {
        let is_all = self.list.count == 0;
        let Some(run) = self.run.take_if(|run| !is_all || run.from > 0) else { return self.end_run() };
        let left = &self.intervals.all()[run.from..];
        next.intervals.room(left.len())[..left.len()].copy_from_slice(left);
        next.intervals.count = left.len();
        next.run = Some(Run { from: 0, ..run });
        self.intervals.count = run.from;
    }

    /// All of it, in time order, but for a run that has not [ended](Happenings::end_run).
    pub fn list(&self) -> &[Happening] {
        self.list.all()
    }

    /// The intervals of a run, each of which ended no earlier than the one before it.
    pub fn intervals(&self, from: u32, to: u32) -> &[BriefInterval] {
        &self.intervals.all()[from as usize..to as usize]
    }

    /// An interval that is not brief, or a total of pieces.
    pub fn long(&self, place: u32) -> &Interval {
        &self.long[place as usize]
    }

    /// What a kernel did.
    pub fn kernel(&self, place: u32) -> KernelEvent {
        self.kernel[place as usize]
    }

    /// When something happened, the last of it if it is a run; processes, threads and spans are those of what comes next.
    #[inline]
    pub fn time(&self, happening: &Happening) -> Option<i64> {
        match happening {
            Happening::Process { .. } | Happening::Thread(_) | Happening::Span(_) | Happening::HoldsBack => {
                None
            }
            Happening::Active { time, .. }
            | Happening::Began { time, .. }
            | Happening::Closed { time, .. }
            | Happening::Scheduled { time, .. } => Some(*time),
            Happening::Run { from, to, .. } => self.intervals(*from, *to).last().map(|last| last.end),
            Happening::Ended { interval, .. } | Happening::Summed { sum: interval, .. } => Some(interval.end),
            Happening::Long { place, .. } => Some(self.long(*place).end),
        }
    }

    /// The name of a process that appeared.
    pub fn name(&self, number: u32) -> Option<String> {
        self.names[number as usize].clone()
    }

    /// Forgets all of it.
    pub fn clear(&mut self) {
        (self.list.count, self.intervals.count, self.run) = (0, 0, None);
        self.long.clear();
        self.kernel.clear();
        self.names.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(random: &mut fastrand::Rng, time: &mut i64) -> (BriefInterval, PlainRole) {
        // Now and then the clock steps back.
        *time += if random.u32(..20) == 0 { random.i64(-50..0) } else { random.i64(0..9) };
        let name = IntervalName { kind: random.u32(..3), key: random.u32(..3) };
        let client = [BriefInterval::NOBODY, 0, 1][random.usize(..3)];
        let interval = BriefInterval { end: *time, length: random.u32(0..9), client, name };
        let roles = [PlainRole::Interval, PlainRole::Interval, PlainRole::Turn, PlainRole::Sum];
        (interval, roles[random.usize(..roles.len())])
    }

    /// What happened: of a sum or a run its thread and its intervals.
    fn known(happenings: &Happenings) -> Vec<Option<(u32, Vec<BriefInterval>)>> {
        let known = |happening: &Happening| match *happening {
            Happening::Run { thread, from, to } => Some((thread, happenings.intervals(from, to).to_vec())),
            Happening::Summed { thread, sum } => Some((thread, vec![sum])),
            _ => None,
        };
        happenings.list().iter().map(known).collect()
    }

    #[test]
    fn a_run_that_may_go_on_does_so_in_the_next_batch() {
        let interval = |end: i64| BriefInterval { end, ..BriefInterval::default() };
        let end = |happenings: &mut Happenings, times: std::ops::Range<i64>, role| {
            happenings.end_in_loop(3, times.clone().count(), times.map(|time| (interval(time), role)));
        };
        let (mut first, mut next, mut last) =
            (Happenings::default(), Happenings::default(), Happenings::default());
        end(&mut first, 0..1, PlainRole::Turn);
        end(&mut first, 1..9, PlainRole::Interval);
        assert!(first.has_room_before(3) && !first.has_room_before(2), "what may go on does not count");
        first.leave_run(&mut next);
        end(&mut next, 9..12, PlainRole::Interval);
        assert!(next.has_room_before(3) && !next.has_room_before(2), "unless it is very long");
        next.leave_run(&mut last);
        end(&mut last, 12..13, PlainRole::Turn);
        let runs = [first, next, last].map(|happenings| known(&happenings));
        let run = |times: std::ops::Range<i64>| vec![Some((3, times.map(interval).collect()))];
        assert_eq!(runs, [run(0..1), run(1..12), run(12..13)]);
    }

    #[test]
    fn what_is_not_brief_is_kept_as_it_is() {
        let mut happenings = Happenings::default();
        let name = IntervalName { kind: 1, key: 2 };
        let brief = Interval { begin: 3, end: 4, name, client: Some(5), passes: Passes::ALL };
        let long = [
            Interval { end: 5_000_000_000, ..brief },
            Interval { passes: Passes { by_duration: false, ..Passes::ALL }, ..brief },
        ];
        for _ in 0..2 {
            happenings.end(7, &brief);
            happenings.sum(7, &brief);
            long.iter().for_each(|long| happenings.end(8, long));
            happenings.sum(8, &long[1]);
            let found = happenings.list().iter().map(|happening| match *happening {
                Happening::Ended { thread, interval } => (thread, interval.interval(), false),
                Happening::Summed { thread, sum } => (thread, sum.interval(), true),
                Happening::Long { thread, place, is_sum } => (thread, *happenings.long(place), is_sum),
                _ => panic!("{happening:?}"),
            });
            let expected = [
                (7, brief, false),
                (7, brief, true),
                (8, long[0], false),
                (8, long[1], false),
                (8, long[1], true),
            ];
            assert_eq!(found.collect::<Vec<_>>(), expected);
            let times = happenings.list().iter().map(|happening| happenings.time(happening));
            assert!(times.eq(expected.map(|(_, interval, _)| Some(interval.end))));
            happenings.clear();
        }
    }

    #[test]
    fn what_ends_in_loops_comes_in_runs() {
        let seed = fastrand::u64(..);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut happenings = Happenings::default();
        let (mut time, mut expected, mut goes_on) = (0, Vec::new(), false);
        for round in 0..3000 {
            let thread = random.u32(..3);
            let ended: Vec<_> = (0..random.usize(1..9)).map(|_| added(&mut random, &mut time)).collect();
            happenings.end_in_loop(thread, ended.len() + random.usize(..3), ended.iter().copied());
            for (interval, role) in ended {
                match expected.last_mut() {
                    Some(Some((of, run))) if goes_on && role != PlainRole::Sum && *of == thread => {
                        let run: &mut Vec<BriefInterval> = run;
                        match run.last().is_some_and(|last| last.end <= interval.end) {
                            true => run.push(interval),
                            false => expected.push(Some((thread, vec![interval]))),
                        }
                    }
                    _ => expected.push(Some((thread, vec![interval]))),
                }
                goes_on = role == PlainRole::Interval;
            }
            if random.u32(..5) == 0 {
                happenings.add(Happening::HoldsBack);
                expected.push(None);
                goes_on = false;
            }
            if random.u32(..30) == 0 {
                happenings.end_run();
                assert!(known(&happenings) == expected, "seed {seed}, round {round}");
                happenings.clear();
                expected.clear();
                goes_on = false;
            }
        }
    }
}
