//! The slowest single events.

pub(super) mod chains;
pub(super) mod longest;
mod stacks;

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde::Serialize;

use crate::analysis::durations::histogram::IMPLAUSIBLE;
use crate::analysis::finding::{EventFinding, Notes, TraceFinding, guessed};
use crate::analysis::reading::fields::KeptFields;
use crate::analysis::reading::roster::Roster;
use crate::analysis::reading::selection::Selection;
use crate::analysis::reading::slots::Slots;
use crate::analysis::reading::{Failure, SourceWindow};
use crate::analysis::slow::chains::chains;
use crate::analysis::slow::longest::{Longest, Record};
use crate::analysis::slow::stacks::add_stacks;
use crate::source::Source;
use ctf_reader::{Collect, Event, EventClass, Events};

/// The slowest events of a trace.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
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
pub(in crate::analysis) fn slow<S: Source>(
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
        let chains = chains(readers.events, selection, &records);
        events.iter_mut().zip(chains).for_each(|(event, chain)| event.chain = chain);
    }
    add_stacks(input, &trace, &records, &mut events)?;
    let hidden_events = passed.saturating_sub(events.len() as u64);
    Ok(Slow { trace, timed: passed, implausible, events, hidden_events, notes })
}

/// Decides which events are shown.
pub(in crate::analysis) trait EventFilter: Clone + Send {
    /// Whether to show an event of this kind and duration, in the kind's unit. The key is lazy, because the duration
    /// is mostly enough to tell.
    fn passes<'k>(&self, kind: usize, ticks: u64, key: impl FnOnce() -> &'k [u8]) -> bool;

    /// Whether to observe an event, shown or not.
    #[inline]
    fn observes(&self, _kind: usize, _ticks: u64, _time: i64) -> bool {
        false
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

/// An event with a plausible duration that passes the filters.
pub(in crate::analysis) struct SeenEvent<'s, 'e> {
    pub kind: usize,
    pub ticks: u64,
    /// The key of its group.
    pub key: &'s [u8],
    /// The trace that it is from.
    pub trace: usize,
    pub event: &'s Event<'e>,
    pub fields: &'s KeptFields,
}

/// Shows all events.
#[derive(Clone)]
pub(in crate::analysis) struct AcceptAll;

impl EventFilter for AcceptAll {
    #[inline]
    fn passes<'k>(&self, _: usize, _: u64, _: impl FnOnce() -> &'k [u8]) -> bool {
        true
    }
}

/// Collects the longest events that pass a filter.
#[derive(Clone, Debug)]
pub(in crate::analysis) struct LongestCollector<S> {
    pub roster: Roster,
    /// What is kept of the events of each class; the parts of a split collector share it.
    details: Arc<Vec<Option<ClassFields>>>,
    pub filter: S,
    pub longest: Longest,
    /// How many events passed.
    pub passed: u64,
    pub implausible: u64,
    durations: Vec<u64>,
    key: Vec<u8>,
}

#[derive(Clone, Debug)]
struct ClassFields {
    trace: usize,
    details: KeptFields,
}

impl<S: EventFilter> LongestCollector<S> {
    pub fn new(roster: Roster, filter: S, limit: usize) -> Self {
        LongestCollector {
            roster,
            details: Arc::default(),
            filter,
            longest: Longest::new(limit),
            passed: 0,
            implausible: 0,
            durations: Vec::new(),
            key: Vec::new(),
        }
    }
}

impl<S: EventFilter> Collect for LongestCollector<S> {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>> {
        let mut slots = Slots(self.roster.want(class)?);
        if let Some(plan) = self.roster.plan(class.index) {
            let all = Arc::make_mut(&mut self.details);
            if all.len() <= class.index {
                all.resize_with(class.index + 1, || None);
            }
            let meaning = self.roster.selection().dictionary.look_up(class);
            let details = KeptFields::new(class, &meaning, plan, &mut slots);
            all[class.index] = Some(ClassFields { trace: class.trace, details });
        }
        Some(slots.0)
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        self.roster.count(events);
        let Some(plan) = self.roster.plan(events.class) else { return ControlFlow::Continue(()) };
        let Some(Some(ClassFields { trace, details })) = self.details.get(events.class) else {
            return ControlFlow::Continue(());
        };
        let kind = &self.roster.kinds()[plan.kind];
        plan.durations(events, &mut self.durations);
        for (event, &ticks) in events.iter().zip(&self.durations) {
            if !plan.admits(&event) {
                continue;
            }
            if ticks >= IMPLAUSIBLE {
                self.implausible += 1;
                continue;
            }
            if self.filter.observes(plan.kind, ticks, event.timestamp()) {
                plan.encode_key(&event, &mut self.key);
                let (kind, trace) = (plan.kind, *trace);
                let (key, event) = (&self.key, &event);
                self.filter.observe(&SeenEvent { kind, ticks, key, trace, event, fields: details });
            }
            let key = &mut self.key;
            let passes = self.filter.passes(plan.kind, ticks, move || {
                plan.encode_key(&event, key);
                key
            });
            if passes {
                self.passed += 1;
                if self.longest.has_room_for(kind.ns(ticks), event.timestamp()) {
                    plan.encode_key(&event, &mut self.key);
                    self.longest.push(Record {
                        duration_ns: kind.ns(ticks),
                        timestamp: event.timestamp(),
                        kind: Arc::clone(kind),
                        key: self.key.as_slice().into(),
                        trace: *trace,
                        fields: details.of(&event),
                    });
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn split(&self) -> Self {
        LongestCollector {
            roster: self.roster.emptied(),
            details: Arc::clone(&self.details),
            filter: self.filter.emptied(),
            longest: self.longest.emptied(),
            passed: 0,
            implausible: 0,
            durations: Vec::new(),
            key: Vec::new(),
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
