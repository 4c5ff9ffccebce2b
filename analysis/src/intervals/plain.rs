//! Events that end intervals or sum them up and need nothing else than what they were found to say where they were read.
//!
//! Nearly all are such. Mostly many of one thread follow each other, so they are resolved in a loop of their own, which asks once
//! for a thread what it needs to know of it.

use ctf_reader::{ClassIndex, DigestedRun};

use super::digester::Said;
use super::happening::{Happening, Happenings};
use super::interval::{BriefInterval, Interval, IntervalName};
use super::resolver::{Resolver, TIMES};
use super::translation::Translation;
use crate::reading::grown;

/// A class of such events, which are not filtered.
#[derive(Clone, Copy, Debug)]
pub struct PlainClass {
    pub unit_ns: u64,
    /// This many of it are too many to be a brief interval.
    pub most: u64,
    pub kind: u32,
    pub has_client: bool,
    pub role: PlainRole,
}

/// What its events do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainRole {
    /// They end intervals.
    Interval,
    /// They end intervals that are turns of an event loop.
    Turn,
    /// They sum up pieces, which are not intervals.
    Sum,
}

/// What such an event says.
pub struct PlainEvent {
    pub thread: u32,
    pub interval: BriefInterval,
    pub role: PlainRole,
}

/// Which threads are known to have an event loop, by their numbers: what ends in these comes in runs.
#[derive(Debug, Default)]
pub struct Loops(Vec<bool>);

impl PlainClass {
    /// The interval that an event says has ended at a time that is one of [`TIMES`], if all that it says is known.
    #[inline(always)]
    fn interval(&self, time: i64, said: Said, known_texts: &Translation) -> Option<BriefInterval> {
        let name = IntervalName { kind: self.kind, key: known_texts.get(said.name)? };
        let client = match self.has_client && !said.is_without_client() {
            true => known_texts.get(said.client)?,
            false => BriefInterval::NOBODY,
        };
        let length = said.ticks.filter(|ticks| *ticks < self.most)?.wrapping_mul(self.unit_ns) as u32;
        Some(BriefInterval { end: time, length, client, name })
    }
}

impl Loops {
    #[inline(always)]
    fn has(&self, thread: u32) -> bool {
        self.0.get(thread as usize) == Some(&true)
    }

    /// Adds an interval of a thread that has ended.
    pub fn end(&mut self, thread: u32, interval: &Interval, role: PlainRole, happened: &mut Happenings) {
        match BriefInterval::new(interval).filter(|_| self.has(thread)) {
            Some(brief) => happened.end_in_loop(thread, 1, std::iter::once((brief, role))),
            None => {
                happened.end(thread, interval);
                self.ended_elsewhere(thread, role);
            }
        }
    }

    /// Takes note that an interval has ended of a thread that is not known to have an event loop, or one that is not brief.
    #[inline(always)]
    fn ended_elsewhere(&mut self, thread: u32, role: PlainRole) {
        if role == PlainRole::Turn {
            *grown(&mut self.0, thread as usize) = true;
        }
    }
}

impl Resolver {
    /// Resolves events that follow each other, and adds what happened with them.
    #[inline(always)]
    pub fn run(&mut self, run: DigestedRun<'_>, happened: &mut Happenings) {
        let mut rest = run;
        while let Some(event) = rest.iter().next() {
            let said = Said::from(event.digest());
            let in_loop = self.known_threads.get(said.thread).filter(|thread| self.loops.has(*thread));
            if let Some(thread) = in_loop {
                let taken = self.in_loop(rest, (said.thread, thread), happened);
                rest = rest.after(taken);
                if taken > 0 {
                    continue;
                }
            }
            rest = rest.after(1);
            match self.plain(event.timestamp(), event.class(), said) {
                Some(PlainEvent { thread, interval, role: PlainRole::Sum }) => {
                    happened.add(Happening::Summed { thread, sum: interval });
                }
                Some(PlainEvent { thread, interval, role }) => {
                    happened.add(Happening::Ended { thread, interval });
                    self.loops.ended_elsewhere(thread, role);
                }
                None => self.any(&event.event(), happened),
            }
        }
    }

    /// Resolves the first events, up to one of which more is needed or that is of another thread than this one, which has an event
    /// loop; `said` is the number that it has where it was read. Returns how many they are.
    #[inline(never)]
    fn in_loop(&mut self, run: DigestedRun<'_>, thread: (u32, u32), happened: &mut Happenings) -> usize {
        let Resolver { plain, known_texts, roster, .. } = self;
        let (said_thread, thread) = thread;
        if !run.times().is_some_and(|times| times.iter().all(|time| TIMES.contains(time))) {
            return 0;
        }
        let mut count = 0;
        let plain_events = run.digests().map_while(|(time, class, digest)| {
            let said = Said::from(digest);
            let plain = plain.get(class)?.as_ref().filter(|_| said.thread == said_thread)?;
            let interval = plain.interval(time, said, known_texts)?;
            roster.count_of(class, 1);
            count += 1;
            Some((interval, plain.role))
        });
        happened.end_in_loop(thread, run.len(), plain_events);
        count
    }

    /// Resolves an event, if all that it says is known.
    #[inline(always)]
    pub fn plain(&mut self, time: i64, class: ClassIndex, said: Said) -> Option<PlainEvent> {
        let plain = self.plain.get(class)?.as_ref()?;
        let thread = self.known_threads.get(said.thread)?;
        let interval = plain.interval(time, said, &self.known_texts).filter(|_| TIMES.contains(&time))?;
        self.roster.count_of(class, 1);
        Some(PlainEvent { thread, interval, role: plain.role })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_of_a_loop_that_is_not_brief_ends_a_run() {
        let (mut loops, mut happened) = (Loops(vec![true]), Happenings::default());
        let ended = |begin: i64, end: i64| Interval { begin, end, ..BriefInterval::default().interval() };
        let long = ended(0, 5_000_000_000);
        for interval in [ended(10, 20), long, ended(long.end, long.end + 7)] {
            loops.end(0, &interval, PlainRole::Interval, &mut happened);
        }
        happened.end_run();
        let [
            Happening::Run { from: 0, to: 1, .. },
            Happening::Long { place, is_sum: false, .. },
            Happening::Run { from, to, .. },
        ] = *happened.list()
        else {
            panic!("{:?}", happened.list())
        };
        assert_eq!((*happened.long(place), happened.intervals(from, to)[0].length), (long, 7));
    }
}
