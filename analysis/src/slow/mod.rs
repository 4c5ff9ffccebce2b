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
use ctf_reader::{Brief, ClassIndex, Collect, Event, EventClass, Events, Sample, Selected, Wanted};

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
    /// Which events of a kind in a time to look at: those that may be shown, and others.
    fn looked_at(&self, kind: usize, time: &RangeInclusive<i64>) -> LookedAt;

    /// The sample of the events of a class and its kind with each only key, where samples differ by key; none if it is not known.
    fn samples(&self, _class: ClassIndex, _kind: usize) -> impl Fn(Brief) -> Option<Sample> {
        |_| None
    }

    /// Looks at an event, and says whether to show it.
    fn shows(&mut self, seen: &SeenEvent<'_, '_>) -> bool;

    /// The same without what it has seen.
    fn emptied(&self) -> Self;

    /// Adds what another part has seen.
    fn absorb(&mut self, other: Self);
}

/// Which events of a kind are looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LookedAt {
    /// Those that took as long or longer, in the kind's unit.
    least: u64,
    /// And a sample of all others: the largest, if samples differ by key.
    sample: Sample,
    /// Whether it is worth reading the keys of all events, as samples differ by key.
    is_by_key: bool,
}

impl LookedAt {
    pub const ALL: LookedAt = LookedAt { least: 0, sample: Sample::NONE, is_by_key: false };

    /// Those that took longer, and a sample. Implausible durations are always looked at, to be counted.
    pub fn above(above: u64, sample: Sample, is_by_key: bool) -> LookedAt {
        LookedAt { least: above.min(IMPLAUSIBLE - 1) + 1, sample, is_by_key }
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
    fn looked_at(&self, _: usize, _: &RangeInclusive<i64>) -> LookedAt {
        LookedAt::ALL
    }

    #[inline]
    fn shows(&mut self, _: &SeenEvent<'_, '_>) -> bool {
        true
    }

    fn emptied(&self) -> Self {
        AcceptAll
    }

    fn absorb(&mut self, _: Self) {}
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
    /// The events that are looked at.
    selected: Vec<Selected>,
    keys: Vec<Brief>,
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
            selected: Vec::new(),
            keys: Vec::new(),
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
        let LongestCollector { roster, recorder, filter, longest, selected, keys, .. } = self;
        let (Some(plan), Some(kept)) = (roster.plan(events.class), recorder.kept(events.class)) else {
            return ControlFlow::Continue(());
        };
        let kind = &roster.kinds()[plan.kind];
        let Some(last) = events.count.checked_sub(1) else { return ControlFlow::Continue(()) };
        let [first, last] = [0, last].map(|event| events.get(event).timestamp());
        let LookedAt { least, sample, is_by_key } = filter.looked_at(plan.kind, &(first..=last));
        // Of nearly all events only the duration and the time are looked at.
        selected.clear();
        plan.select(events, least, sample, selected);
        if let Some(key) = plan.only_key().filter(|_| is_by_key) {
            keys.clear();
            events.briefs(key, keys);
            let samples = filter.samples(events.class, plan.kind);
            selected.retain(|event| {
                event.integer >= least
                    || samples(keys[event.number]).is_none_or(|sample| sample.has(event.timestamp))
            });
        }
        let (has_conditions, mut least) = (plan.has_conditions(), longest.least(kind));
        for &Selected { number, integer: ticks, timestamp: time } in &*selected {
            let event = events.get(number);
            if has_conditions && !plan.admits(&event) {
                continue;
            }
            if ticks >= IMPLAUSIBLE {
                self.implausible += 1;
                continue;
            }
            if !filter.shows(&SeenEvent { class: events.class, ticks, time, plan, kept, event: &event }) {
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
