//! Follows groups over time, and finds the slowest events of the trace and of each slice of it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::ControlFlow::{self, Continue};
use std::sync::Arc;

use ctf_reader::{Brief, Collect, EventClass, Events, Wanted};

use super::slices::{SliceEvents, SliceFigures, SlicedGroup, Slices};
use crate::durations::heat::TimeColumns;
use crate::durations::histogram::IMPLAUSIBLE;
use crate::groups::{Groups, Summary};
use crate::reading::{CollectBeside, Kinds, Roster, Selection, grown};
use crate::slow::longest::{Longest, Recorder, SlowEvent};

/// The number of slices at first.
const SLICES: usize = 960;

/// The number of the slowest events that are kept: of the whole trace, and of each slice.
const SLOWEST: usize = 50;
const SLOWEST_OF_SLICE: usize = 2;

/// The figures of all slices of a group.
type Tallies = Vec<Option<Box<SliceFigures>>>;

/// Collects the figures of groups in slices of time, and the slowest events.
pub(super) struct SliceCollector {
    roster: Roster,
    recorder: Recorder,
    columns: TimeColumns,
    events: Vec<SliceEvents>,
    /// The place of each group that is followed, and their units.
    places: Groups<usize>,
    units: Vec<Option<u64>>,
    groups: Vec<Tallies>,
    /// All other groups together, for each unit.
    others: HashMap<Option<u64>, Tallies>,
    longest: Longest,
    of_slices: Vec<Longest>,
    buffers: Buffers,
}

/// Buffers that are reused: for each event its duration, its brief key, its time and its slice.
#[derive(Default)]
struct Buffers {
    durations: Vec<u64>,
    briefs: Vec<Brief>,
    times: Vec<i64>,
    slices: Vec<usize>,
    key: Vec<u8>,
}

impl SliceCollector {
    /// For the first groups of a summary.
    pub fn new(selection: &Arc<Selection>, summary: &Summary, limit: usize) -> Self {
        let columns = TimeColumns::new(summary.report.span.clone(), SLICES);
        let (mut kinds, mut places, mut units) = (Kinds::default(), Groups::default(), Vec::new());
        for (place, group) in summary.groups.iter().take(limit).enumerate() {
            let kind = kinds.enter(Arc::clone(&group.kind));
            places.entry(kind, &group.key_bytes, || place);
            units.push(group.kind.unit.map(|unit| unit.nanoseconds()));
        }
        let roster = Roster::with_kinds(Arc::clone(selection), kinds);
        SliceCollector::empty(roster, Recorder::default(), columns, places, units)
    }

    fn empty(
        roster: Roster,
        recorder: Recorder,
        columns: TimeColumns,
        places: Groups<usize>,
        units: Vec<Option<u64>>,
    ) -> Self {
        SliceCollector {
            roster,
            recorder,
            columns,
            events: vec![SliceEvents::NONE; columns.count],
            places,
            groups: vec![Vec::new(); units.len()],
            units,
            others: HashMap::new(),
            longest: Longest::new(SLOWEST),
            of_slices: vec![Longest::new(SLOWEST_OF_SLICE); columns.count],
            buffers: Buffers::default(),
        }
    }

    /// The slices, and the slowest events of the trace and of each slice, the slowest first.
    pub fn finish(self) -> (Slices, Vec<SlowEvent>) {
        let sliced = |(unit_ns, figures): (Option<u64>, Tallies)| {
            let of_slices = figures.into_iter().enumerate();
            let slices = of_slices.filter_map(|(slice, figures)| Some((slice, *figures?))).collect();
            SlicedGroup { unit_ns, slices }
        };
        let mut others: Vec<_> = self.others.into_iter().collect();
        others.sort_unstable_by_key(|(unit, _)| *unit);
        let mut longest = self.longest;
        longest.grow(SLOWEST + SLOWEST_OF_SLICE * self.columns.count);
        self.of_slices.into_iter().for_each(|of_slice| longest.absorb(of_slice));
        let mut records = longest.into_sorted();
        records.dedup();
        let slices = Slices {
            columns: self.columns,
            events: self.events,
            groups: self.units.into_iter().zip(self.groups).map(sliced).collect(),
            others: others.into_iter().map(sliced).collect(),
            slowest: [SLOWEST, SLOWEST_OF_SLICE],
        };
        (slices, records)
    }
}

fn absorb(mine: &mut Tallies, theirs: Tallies) {
    for (slice, theirs) in theirs.into_iter().enumerate() {
        match (grown(mine, slice), theirs) {
            (Some(mine), Some(theirs)) => mine.merge(&theirs),
            (mine @ None, theirs) => *mine = theirs,
            (Some(_), None) => {}
        }
    }
}

impl CollectBeside for SliceCollector {
    fn want_besides(&mut self, class: &Arc<EventClass>, wanted: &mut Wanted) -> bool {
        self.roster.want_besides(class, wanted);
        self.recorder.want(class, &self.roster, wanted);
        // All events are counted, also those that no filter lets through.
        true
    }
}

impl Collect for SliceCollector {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Wanted> {
        self.want_alone(class)
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        let Buffers { durations, briefs, times, slices, key } = &mut self.buffers;
        times.clear();
        events.timestamps(times);
        slices.clear();
        // Those of a batch are nearly always in one slice, which is found by a division.
        let (mut slice, mut span) = (0, 0..0);
        for &time in times.iter() {
            if !span.contains(&time) {
                slice = self.columns.of(time);
                span = self.columns.span(slice);
            }
            let at = time.abs_diff(self.columns.begin_ns);
            self.events[slice].add(SliceEvents { count: 1, first: at, last: at });
            slices.push(slice);
        }
        let Some(plan) = self.roster.plan(events.class) else { return Continue(()) };
        let kind = &self.roster.kinds()[plan.kind];
        plan.durations(events, durations);
        briefs.clear();
        plan.only_key().into_iter().for_each(|slot| events.briefs(slot, briefs));
        let (has_conditions, mut least) = (plan.has_conditions(), self.longest.least(kind));
        for (number, (&time, &slice)) in times.iter().zip(slices.iter()).enumerate() {
            let event = events.get(number);
            if has_conditions && !plan.admits(&event) {
                continue;
            }
            let duration = durations.get(number).copied();
            let brief = briefs.get(number).copied().unwrap_or(Brief::OTHER);
            let recalled = self.places.of_kind(plan.kind).recall(brief).copied();
            let place = recalled.or_else(|| {
                plan.encode_key(&event, key);
                let place = self.places.get(plan.kind, key).copied()?;
                if brief != Brief::OTHER {
                    self.places.recallable(plan.kind, brief, key, || place);
                }
                Some(place)
            });
            let of_group = match place {
                Some(place) => &mut self.groups[place],
                None => self.others.entry(kind.unit.map(|unit| unit.nanoseconds())).or_default(),
            };
            grown(of_group, slice).get_or_insert_default().record(duration);
            let Some(ticks) = duration.filter(|&ticks| ticks < IMPLAUSIBLE) else { continue };
            let is_slow = |longest: &Longest| longest.has_room_for(kind.ns(ticks), time);
            let of_trace = ticks >= least && is_slow(&self.longest);
            let of_slice = is_slow(&self.of_slices[slice]);
            if (of_trace || of_slice)
                && let Some(record) = self.recorder.record(events.class, (plan, kind), ticks, &event)
            {
                if of_trace {
                    self.longest.push(record.clone());
                    least = self.longest.least(kind);
                }
                if of_slice {
                    self.of_slices[slice].push(record);
                }
            }
        }
        Continue(())
    }

    fn split(&self) -> Self {
        let (roster, recorder) = (self.roster.emptied(), self.recorder.clone());
        SliceCollector::empty(roster, recorder, self.columns, self.places.clone(), self.units.clone())
    }

    fn absorb(&mut self, other: Self) {
        self.roster.absorb(other.roster);
        self.events.iter_mut().zip(other.events).for_each(|(mine, theirs)| mine.add(theirs));
        self.groups.iter_mut().zip(other.groups).for_each(|(mine, theirs)| absorb(mine, theirs));
        for (unit, theirs) in other.others {
            absorb(self.others.entry(unit).or_default(), theirs);
        }
        self.longest.absorb(other.longest);
        self.of_slices.iter_mut().zip(other.of_slices).for_each(|(mine, theirs)| mine.absorb(theirs));
    }
}
