//! The slowest single events.

use std::sync::Arc;

use super::longest::{Details, Found, Longest, Record};
use super::plan::{Duration, Slots};
use super::reading::{Failure, Reading};
use super::roster::Roster;
use super::selection::{LeftOut, Selection};
use crate::source::{Collect, Event, EventClass, Report, Source};

/// The slowest events of a trace.
#[derive(Debug)]
pub struct Slow {
    /// What was read.
    pub report: Report,
    /// The slowest first.
    pub events: Vec<Record>,
    /// How many events have a plausible duration.
    pub timed: u64,
    /// How many events have an implausible duration.
    pub implausible: u64,
    /// What was left out.
    pub left_out: LeftOut,
}

/// Finds the slowest events, at most so many.
pub fn slow<S: Source>(
    reading: &mut Reading<'_, S>,
    selection: &Arc<Selection>,
    limit: usize,
) -> Result<Slow, Failure> {
    let sift = Sift::new(Roster::new(Arc::clone(selection)), Everything, limit);
    let (sift, report) = reading.read(sift)?;
    let Sift { roster, longest, passed, implausible, .. } = sift;
    Ok(Slow { report, events: longest.into_sorted(), timed: passed, implausible, left_out: roster.finish()? })
}

/// Says which events are worth showing.
pub(super) trait Sieve: Clone + Send {
    /// Whether an event of this kind, key and duration, in the kind's unit, is worth showing.
    fn passes(&self, kind: usize, key: &[u8], ticks: u64) -> bool;
}

/// All events are worth showing.
#[derive(Clone)]
struct Everything;

impl Sieve for Everything {
    #[inline]
    fn passes(&self, _: usize, _: &[u8], _: u64) -> bool {
        true
    }
}

/// Keeps the longest events that pass a sieve.
#[derive(Clone, Debug)]
pub(super) struct Sift<S> {
    pub roster: Roster,
    details: Vec<Option<Details>>,
    sieve: S,
    pub longest: Longest,
    /// How many events passed.
    pub passed: u64,
    pub implausible: u64,
    key: Vec<u8>,
}

impl<S: Sieve> Sift<S> {
    pub fn new(roster: Roster, sieve: S, limit: usize) -> Self {
        Sift {
            roster,
            details: Vec::new(),
            sieve,
            longest: Longest::new(limit),
            passed: 0,
            implausible: 0,
            key: Vec::new(),
        }
    }
}

impl<S: Sieve> Collect for Sift<S> {
    fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>> {
        let mut slots = Slots(self.roster.want(class)?);
        if let Some(plan) = self.roster.plan(class.index) {
            if self.details.len() <= class.index {
                self.details.resize_with(class.index + 1, || None);
            }
            self.details[class.index] = Some(Details::new(class, plan, &mut slots));
        }
        Some(slots.0)
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>) {
        self.roster.count(event.class);
        let Some(plan) = self.roster.plan(event.class) else { return };
        let Some(Some(details)) = self.details.get(event.class) else { return };
        if !plan.admits(event.values) {
            return;
        }
        match plan.duration(event.values) {
            Duration::Plausible(ticks) => {
                plan.encode_key(event.values, &mut self.key);
                if self.sieve.passes(plan.kind, &self.key, ticks) {
                    self.passed += 1;
                    let kind = &self.roster.kinds[plan.kind];
                    let found = Found {
                        duration_ns: kind.ns(ticks),
                        timestamp: event.timestamp,
                        kind,
                        key: &self.key,
                        values: event.values,
                    };
                    self.longest.offer(&found, details);
                }
            }
            Duration::Implausible => self.implausible += 1,
            Duration::Absent => {}
        }
    }

    fn split(&self) -> Self {
        Sift {
            roster: self.roster.emptied(),
            details: self.details.clone(),
            sieve: self.sieve.clone(),
            longest: self.longest.emptied(),
            passed: 0,
            implausible: 0,
            key: Vec::new(),
        }
    }

    fn absorb(&mut self, other: Self) {
        self.roster.absorb(other.roster);
        self.longest.absorb(other.longest);
        self.passed += other.passed;
        self.implausible += other.implausible;
    }
}
