//! Follows groups over time, and finds the slowest events of the trace and of each slice of it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::ControlFlow::{self, Continue};
use std::ops::Range;
use std::sync::Arc;

use ctf_reader::{Brief, Collect, Event, EventClass, Events, Wanted};

use super::slices::{SliceEvents, SliceFigures, SlicedGroup, Slices};
use crate::durations::heat::TimeColumns;
use crate::durations::histogram::IMPLAUSIBLE;
use crate::groups::{BriefCounts, Groups, MANY, Summary};
use crate::reading::{ClassPlan, CollectBeside, Kinds, Roster, Selection, grown};
use crate::slow::longest::{Longest, Recorder, SlowEvent};

/// The number of slices at first.
const SLICES: usize = 960;

/// The number of the slowest events that are kept: of the whole trace, and of each slice.
const SLOWEST: usize = 50;
const SLOWEST_OF_SLICE: usize = 2;

/// The figures of all groups in a slice, or of all slices of a group.
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
    /// For each slice the figures of those groups.
    groups: Vec<Tallies>,
    /// All other groups together, for each unit.
    others: HashMap<Option<u64>, Tallies>,
    longest: Longest,
    of_slices: Vec<Longest>,
    buffers: Buffers,
}

/// Buffers that are reused: for each event its duration and its brief key, and for one its key.
#[derive(Default)]
struct Buffers {
    durations: Vec<u64>,
    briefs: Vec<Brief>,
    key: Vec<u8>,
    counts: BriefCounts,
    /// The events that were not counted.
    others: Vec<usize>,
}

impl Buffers {
    /// Counts the events that took less than this, of groups with a place, and lists the others.
    #[inline]
    fn count(&mut self, events: Range<usize>, least: u64, place: impl Fn(Brief) -> Option<usize>) {
        let Buffers { durations, briefs, counts, others, .. } = self;
        for event in events {
            let place = place(briefs.get(event).copied().unwrap_or(Brief::OTHER));
            let ticks = durations[event];
            let count = place.filter(|_| ticks < least).and_then(|place| counts.of(place as u32, ticks));
            match count {
                Some(count) => *count += 1,
                None => others.push(event),
            }
        }
    }
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
            groups: vec![Vec::new(); columns.count],
            units,
            others: HashMap::new(),
            longest: Longest::new(SLOWEST),
            of_slices: vec![Longest::new(SLOWEST_OF_SLICE); columns.count],
            buffers: Buffers::default(),
        }
    }

    /// The slices, and the slowest events of the trace and of each slice, the slowest first.
    pub fn finish(self) -> (Slices, Vec<SlowEvent>) {
        let sliced = |&unit_ns: &Option<u64>| SlicedGroup { unit_ns, slices: Vec::new() };
        let mut groups: Vec<SlicedGroup> = self.units.iter().map(sliced).collect();
        for (slice, of_slice) in self.groups.into_iter().enumerate() {
            for (group, figures) in groups.iter_mut().zip(of_slice) {
                group.slices.extend(figures.map(|figures| (slice, *figures)));
            }
        }
        let other = |(unit_ns, figures): (Option<u64>, Tallies)| {
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
            groups,
            others: others.into_iter().map(other).collect(),
            slowest: [SLOWEST, SLOWEST_OF_SLICE],
        };
        (slices, records)
    }
}

/// The place of an event's group, which can be recalled from now on; none if the group is not followed.
#[cold]
fn look_up(
    places: &mut Groups<usize>,
    plan: &ClassPlan,
    event: &Event<'_>,
    brief: Brief,
    key: &mut Vec<u8>,
) -> Option<usize> {
    plan.encode_key(event, key);
    let place = places.get(plan.kind, key).copied()?;
    if brief != Brief::OTHER {
        places.recallable(plan.kind, brief, key, || place);
    }
    Some(place)
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
        let SliceCollector { roster, recorder, columns, places, longest, .. } = self;
        let buffers = &mut self.buffers;
        let counted = roster.plan(events.class).map(|plan| {
            plan.durations(events, &mut buffers.durations);
            buffers.briefs.clear();
            plan.only_key().into_iter().for_each(|slot| events.briefs(slot, &mut buffers.briefs));
            // The place of all events, if they have no keys.
            let common = plan.keys().is_empty().then(|| places.get(plan.kind, &[]).copied());
            (plan, &roster.kinds()[plan.kind], common)
        });
        // Those of a batch are nearly always in one slice.
        for (range, time) in events.ranges(|time| columns.span(columns.of(time)).end - 1) {
            let slice = columns.of(time);
            let at = |number: usize| events.get(number).timestamp().abs_diff(columns.begin_ns);
            self.events[slice].add(SliceEvents {
                count: range.len() as u64,
                first: at(range.start),
                last: at(range.end - 1),
            });
            let Some((plan, kind, common)) = counted else { continue };
            let unit = kind.unit.map(|unit| unit.nanoseconds());
            let (has_conditions, of_slice) = (plan.has_conditions(), &mut self.of_slices[slice]);
            let groups = &mut self.groups[slice];
            groups.resize(self.units.len(), None);
            let mut least = longest.least(kind).min(of_slice.least(kind));
            buffers.others.clear();
            match common {
                _ if has_conditions || range.len() < MANY || buffers.durations.is_empty() => {
                    buffers.others.extend(range);
                }
                Some(common) => buffers.count(range, least, |_| common),
                None => {
                    let of_kind = places.of_kind(plan.kind);
                    buffers.count(range, least, |brief| of_kind.recalled(brief));
                }
            }
            buffers.counts.take(|place, ticks, count| {
                groups[place as usize].get_or_insert_default().record_many(ticks, count);
            });
            let Buffers { durations, briefs, key, others, .. } = &mut *buffers;
            for &number in &*others {
                let event = events.get(number);
                if has_conditions && !plan.admits(&event) {
                    continue;
                }
                let place = common.unwrap_or_else(|| {
                    let brief = briefs.get(number).copied().unwrap_or(Brief::OTHER);
                    let recalled = places.of_kind(plan.kind).recall(brief).copied();
                    recalled.or_else(|| look_up(places, plan, &event, brief, key))
                });
                let of_group = match place {
                    Some(place) => &mut groups[place],
                    None => grown(self.others.entry(unit).or_default(), slice),
                };
                let duration = durations.get(number).copied();
                of_group.get_or_insert_default().record(duration);
                let Some(ticks) = duration.filter(|&ticks| (least..IMPLAUSIBLE).contains(&ticks)) else {
                    continue;
                };
                let is_slow = |longest: &Longest| longest.has_room_for(kind.ns(ticks), event.timestamp());
                let lists = [&mut *longest, &mut *of_slice].into_iter().filter(|longest| is_slow(longest));
                for longest in lists {
                    let record = recorder.record(events.class, (plan, kind), ticks, &event);
                    record.into_iter().for_each(|record| longest.push(record));
                }
                least = longest.least(kind).min(of_slice.least(kind));
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
