//! The slowest single events.

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::histogram::IMPLAUSIBLE;
use super::longest::{Details, Longest, Record};
use super::plan::Slots;
use super::reading::{Failure, Reading};
use super::roster::Roster;
use super::selection::{LeftOut, Selection};
use crate::source::Source;
use ctf_reader::{Collect, EventClass, Events, Report};

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
    /// Whether an event of this kind and duration, in the kind's unit, is worth showing. To make its key takes longer
    /// than the rest, and mostly the duration tells.
    fn passes<'k>(&self, kind: usize, ticks: u64, key: impl FnOnce() -> &'k [u8]) -> bool;
}

/// All events are worth showing.
#[derive(Clone)]
struct Everything;

impl Sieve for Everything {
    #[inline]
    fn passes<'k>(&self, _: usize, _: u64, _: impl FnOnce() -> &'k [u8]) -> bool {
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
    durations: Vec<u64>,
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
            durations: Vec::new(),
            key: Vec::new(),
        }
    }
}

impl<S: Sieve> Collect for Sift<S> {
    type Stop = Infallible;

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

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        self.roster.count(events);
        let Some(plan) = self.roster.plan(events.class) else { return ControlFlow::Continue(()) };
        let Some(Some(details)) = self.details.get(events.class) else { return ControlFlow::Continue(()) };
        let kind = &self.roster.kinds[plan.kind];
        plan.durations(events, &mut self.durations);
        for (event, &ticks) in events.iter().zip(&self.durations) {
            if !plan.admits(&event) {
                continue;
            }
            if ticks >= IMPLAUSIBLE {
                self.implausible += 1;
                continue;
            }
            let key = &mut self.key;
            let passes = self.sieve.passes(plan.kind, ticks, move || {
                plan.encode_key(&event, key);
                key
            });
            if passes {
                self.passed += 1;
                if self.longest.has_room_for(kind.ns(ticks), event.timestamp()) {
                    plan.encode_key(&event, &mut self.key);
                    self.longest.push(details.record(kind, kind.ns(ticks), &self.key, &event));
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn split(&self) -> Self {
        Sift {
            roster: self.roster.emptied(),
            details: self.details.clone(),
            sieve: self.sieve.clone(),
            longest: self.longest.emptied(),
            passed: 0,
            implausible: 0,
            durations: Vec::new(),
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
