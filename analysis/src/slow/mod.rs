//! The slowest single events.

pub(super) mod chains;
pub(super) mod longest;
mod stacks;

use std::convert::Infallible;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use serde::Serialize;

use crate::durations::histogram::IMPLAUSIBLE;
use crate::finding::{EventFinding, Notes, TraceFinding, guessed};
use crate::reading::{ClassPlan, CollectBeside, Failure, KeptFields, Roster, Selection, SourceWindow};
use crate::slow::chains::chains;
use crate::slow::longest::{Longest, Recorder};
use crate::slow::stacks::add_stacks;
use crate::source::Source;
use ctf_reader::{Brief, ClassIndex, Collect, Event, EventClass, Events, Wanted};

/// The slowest events of a trace.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Slow {
    /// What was read.
    pub trace: TraceFinding,
    /// The number of events with a plausible duration.
    pub timed: u64,
    /// The number of events with an implausible duration.
    pub implausible: u64,
    /// The slowest first.
    pub events: Vec<EventFinding>,
    /// The number of events with a plausible duration after those.
    pub hidden_events: u64,
    /// Notes for the reader.
    pub notes: Notes,
}

/// Finds the slowest events, at most `limit`.
pub(crate) fn slow<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    limit: usize,
) -> Result<Slow, Failure> {
    let collector = LongestCollector::new(Roster::new(Arc::clone(selection)), AcceptAll, limit);
    let (collected, report) = input.read(collector)?;
    let LongestCollector { roster, longest, passed, implausible, .. } = collected;
    let trace = TraceFinding::new(&report);
    let records = longest.into_sorted();
    let notes = Notes {
        implausible,
        guessed_units: guessed(records.iter().map(|record| &*record.kind)),
        left_out: roster.finish()?,
        ..Notes::default()
    };
    let mut events: Vec<_> = records.iter().map(|record| EventFinding::new(record, &trace)).collect();
    if let Some(readers) = input.source.in_order() {
        let chains = chains(readers.events, selection, input.window, &records);
        events.iter_mut().zip(chains).for_each(|(event, chain)| event.chain = chain);
    }
    add_stacks(input, &trace, &records, &mut events)?;
    let hidden_events = passed.saturating_sub(events.len() as u64);
    Ok(Slow { trace, timed: passed, implausible, events, hidden_events, notes })
}

/// Decides which events are shown.
pub(crate) trait EventFilter: Clone + Send {
    /// Whether to show an event of this kind and duration, in the kind's unit. The key is lazy, because the duration
    /// is mostly enough to tell.
    fn passes<'k>(&self, kind: usize, ticks: u64, key: impl FnOnce() -> &'k [u8]) -> bool;

    /// The duration of a kind that events to show exceed, in the kind's unit; none if any may be shown.
    fn above(&self, _kind: usize) -> Option<u64> {
        None
    }

    /// Which events of a kind in a time to observe, shown or not.
    fn observed(&self, _kind: usize, _time: &RangeInclusive<i64>) -> Observed {
        Observed::NONE
    }

    /// The sample of the events of a class with each only key, where samples differ by key; none if it is not known.
    fn samples(&self, _class: ClassIndex) -> impl Fn(Brief) -> Option<Sample> {
        |_| None
    }

    /// Observes an event.
    fn observe(&mut self, _: &SeenEvent<'_, '_>) {}

    /// The same without what it observed.
    fn emptied(&self) -> Self {
        self.clone()
    }

    /// Adds what another part observed.
    fn absorb(&mut self, _: Self) {}
}

/// Which events of a kind are observed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observed {
    /// Those with a duration above this, in the kind's unit.
    pub above: u64,
    /// And a sample of all others: the largest, if samples differ by key.
    pub sample: Sample,
    /// Whether it is worth reading the keys of all events, as samples differ by key.
    pub is_by_key: bool,
}

impl Observed {
    pub const NONE: Observed = Observed { above: u64::MAX, sample: Sample::NONE, is_by_key: false };
    pub const ALL: Observed = Observed { above: u64::MAX, sample: Sample::ALL, is_by_key: false };

    #[inline(always)]
    fn has(self, ticks: u64, time: i64) -> bool {
        (ticks > self.above) | self.sample.has(time)
    }
}

/// A part of all events, in 2^32nds. Events are chosen by their times, so it does not matter who reads them, and a larger sample
/// has all events of a smaller one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sample(u64);

impl Sample {
    pub const NONE: Sample = Sample(0);
    pub const ALL: Sample = Sample(1 << 32);

    /// How many of a number of events it has.
    pub fn share_of(self, events: f64) -> f64 {
        events * self.0 as f64 / Sample::ALL.0 as f64
    }

    /// About this number of all events, or all if there are not more.
    pub fn of(number: u32, all: u64) -> Sample {
        Sample((u64::from(number) << 32) / all.max(number.into()).max(1))
    }

    #[inline(always)]
    pub fn has(self, time: i64) -> bool {
        // The upper half of the product looks random.
        (time as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 < self.0
    }
}

/// An event with a plausible duration that passes the filters.
pub(crate) struct SeenEvent<'s, 'e> {
    pub class: ClassIndex,
    pub ticks: u64,
    pub time: i64,
    pub plan: &'s ClassPlan,
    /// The trace that it is from, and what is kept of its class.
    pub kept: &'s (usize, KeptFields),
    pub event: &'s Event<'e>,
}

/// Shows all events.
#[derive(Clone)]
pub(crate) struct AcceptAll;

impl EventFilter for AcceptAll {
    #[inline]
    fn passes<'k>(&self, _: usize, _: u64, _: impl FnOnce() -> &'k [u8]) -> bool {
        true
    }
}

/// Collects the longest events that pass a filter.
#[derive(Clone, Debug)]
pub(crate) struct LongestCollector<S> {
    pub roster: Roster,
    recorder: Recorder,
    pub filter: S,
    pub longest: Longest,
    /// How many events passed.
    pub passed: u64,
    pub implausible: u64,
    durations: Vec<u64>,
    times: Vec<i64>,
    keys: Vec<Brief>,
    /// The events that are shown or observed, or have an implausible duration.
    looked_at: Vec<u32>,
    key: Vec<u8>,
}

impl<S: EventFilter> LongestCollector<S> {
    pub fn new(roster: Roster, filter: S, limit: usize) -> Self {
        LongestCollector {
            roster,
            recorder: Recorder::default(),
            filter,
            longest: Longest::new(limit),
            passed: 0,
            implausible: 0,
            durations: Vec::new(),
            times: Vec::new(),
            keys: Vec::new(),
            looked_at: Vec::new(),
            key: Vec::new(),
        }
    }
}

impl<S: EventFilter> CollectBeside for LongestCollector<S> {
    fn want_besides(&mut self, class: &Arc<EventClass>, wanted: &mut Wanted) -> bool {
        let is_wanted = self.roster.want_besides(class, wanted);
        self.recorder.want(class, &self.roster, wanted);
        is_wanted
    }
}

impl<S: EventFilter> Collect for LongestCollector<S> {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        self.want_alone(class)
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        self.roster.count(events);
        let LongestCollector {
            roster,
            recorder,
            filter,
            longest,
            durations,
            times,
            keys,
            looked_at,
            key,
            ..
        } = self;
        let (Some(plan), Some(kept)) = (roster.plan(events.class), recorder.kept(events.class)) else {
            return ControlFlow::Continue(());
        };
        let kind = &roster.kinds()[plan.kind];
        plan.durations(events, durations);
        times.clear();
        events.timestamps(times);
        // Of nearly all events only the duration and the time are looked at.
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
            return ControlFlow::Continue(());
        };
        let observed = filter.observed(plan.kind, &(first..=last));
        let least = match filter.above(plan.kind) {
            Some(above) => above.min(observed.above).min(IMPLAUSIBLE - 1) + 1,
            None => 0,
        };
        let timed = (0..).zip(durations.iter().zip(&*times));
        looked_at.clear();
        match plan.only_key().filter(|_| observed.is_by_key) {
            Some(field) => {
                keys.clear();
                events.briefs(field, keys);
                let samples = filter.samples(events.class);
                let is_looked_at = |&((_, (&ticks, &time)), &key): &((u32, (&u64, &i64)), &Brief)| {
                    (ticks >= least) | samples(key).unwrap_or(observed.sample).has(time)
                };
                looked_at.extend(timed.zip(&*keys).filter(is_looked_at).map(|((number, _), _)| number));
            }
            None => {
                let is_looked_at = |&(_, (&ticks, &time)): &(u32, (&u64, &i64))| {
                    (ticks >= least) | observed.sample.has(time)
                };
                looked_at.extend(timed.filter(is_looked_at).map(|(number, _)| number));
            }
        }
        let (has_conditions, mut least) = (plan.has_conditions(), longest.least(kind));
        for &number in &*looked_at {
            let number = number as usize;
            let (event, ticks, time) = (events.get(number), durations[number], times[number]);
            if has_conditions && !plan.admits(&event) {
                continue;
            }
            if ticks >= IMPLAUSIBLE {
                self.implausible += 1;
                continue;
            }
            if observed.has(ticks, time) {
                filter.observe(&SeenEvent { class: events.class, ticks, time, plan, kept, event: &event });
            }
            let passes = filter.passes(plan.kind, ticks, || {
                plan.encode_key(&event, key);
                key
            });
            if !passes {
                continue;
            }
            self.passed += 1;
            if ticks >= least && longest.has_room_for(kind.ns(ticks), time) {
                let record = recorder.record(events.class, (plan, kind), ticks, &event);
                record.into_iter().for_each(|record| longest.push(record));
                least = longest.least(kind);
            }
        }
        ControlFlow::Continue(())
    }

    fn split(&self) -> Self {
        LongestCollector {
            recorder: self.recorder.clone(),
            ..LongestCollector::new(self.roster.emptied(), self.filter.emptied(), self.longest.limit())
        }
    }

    fn absorb(&mut self, other: Self) {
        self.roster.absorb(other.roster);
        self.filter.absorb(other.filter);
        self.longest.absorb(other.longest);
        self.passed += other.passed;
        self.implausible += other.implausible;
    }
}
