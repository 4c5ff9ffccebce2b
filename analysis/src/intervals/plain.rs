//! Events that end intervals or sum them up and need nothing else than what they were found to say where they were read.
//!
//! Nearly all are such. Mostly many of one thread follow each other, so they are resolved in a loop of their own, which asks once
//! for a thread what it needs to know of it.

use ctf_reader::{ClassIndex, DigestedRun};

use super::digester::Said;
use super::happening::{Happening, Happenings};
use super::interval::{Interval, IntervalName};
use super::resolver::{Resolver, TIMES};
use super::translation::Translation;
use crate::reading::{Passes, grown};

/// A class of such events, which are not filtered.
#[derive(Clone, Copy, Debug)]
pub struct PlainClass {
    pub unit_ns: u64,
    /// This many of it are too many to be an interval.
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
    pub interval: Interval,
    pub role: PlainRole,
}

/// Which threads are known to have an event loop, by their numbers: what ends in these comes in runs.
#[derive(Debug, Default)]
pub struct Loops(Vec<bool>);

impl PlainClass {
    /// The interval that an event says has ended at a time that is one of [`TIMES`], if all that it says is known.
    #[inline(always)]
    fn interval(&self, time: i64, said: Said, known_texts: &Translation) -> Option<Interval> {
        let name = IntervalName { kind: self.kind, key: known_texts.get(said.name)? };
        let client = match self.has_client && !said.is_without_client() {
            true => Some(known_texts.get(said.client)?),
            false => None,
        };
        let length = said.ticks.filter(|ticks| *ticks < self.most)?.wrapping_mul(self.unit_ns) as i64;
        Some(Interval { begin: time - length, end: time, name, client, passes: Passes::ALL })
    }
}

impl Loops {
    #[inline(always)]
    fn has(&self, thread: u32) -> bool {
        self.0.get(thread as usize) == Some(&true)
    }

    /// Adds an interval of a thread that has ended.
    pub fn end(&mut self, thread: u32, interval: Interval, role: PlainRole, happened: &mut Happenings) {
        match self.has(thread) {
            true => happened.end_in_loop(thread, 1, std::iter::once((interval, role))),
            false => self.end_elsewhere(thread, interval, role, happened),
        }
    }

    /// Adds an interval of a thread that is not known to have an event loop.
    #[inline(always)]
    fn end_elsewhere(&mut self, thread: u32, interval: Interval, role: PlainRole, happened: &mut Happenings) {
        happened.add(Happening::Ended { thread, interval });
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
                    self.loops.end_elsewhere(thread, interval, role, happened);
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
