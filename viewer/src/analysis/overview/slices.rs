//! The figures of groups in slices of time, and the slowest events of each slice: what narrows a report to a part of
//! the trace.
//!
//! Counts, totals, minima and maxima of a slice are exact. Durations are counted in buckets: exact below 64 ticks of
//! their unit, and 32 for each power of two above, so that a percentile of several slices is within 1/64 of itself.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::ControlFlow::{self, Continue};
use std::sync::Arc;

use ctf_reader::{Brief, Collect, Event, EventClass, Events, Report};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::span_of;
use crate::analysis::durations::heat::TimeColumns;
use crate::analysis::durations::histogram::IMPLAUSIBLE;
use crate::analysis::groups::group::Group;
use crate::analysis::groups::summary::{Summary, SummaryCollector};
use crate::analysis::groups::table::Groups;
use crate::analysis::info::InfoCollector;
use crate::analysis::reading::grown::grown;
use crate::analysis::reading::kinds::Kinds;
use crate::analysis::reading::roster::Roster;
use crate::analysis::reading::selection::Selection;
use crate::analysis::reading::slots::Slots;
use crate::analysis::reading::{Failure, SourceWindow};
use crate::analysis::slow::longest::{Longest, Record, Recorder};
use crate::source::Source;

/// The number of slices at first.
const SLICES: usize = 240;

/// Buckets for each power of two of durations.
pub const PER_OCTAVE: u64 = 32;

/// The number of the slowest events that are kept: of the whole trace, and of each slice.
pub(super) const SLOWEST: usize = 50;
pub(super) const SLOWEST_OF_SLICE: usize = 5;

/// Groups over time.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Slices {
    /// What the slices are.
    #[serde(flatten)]
    pub columns: TimeColumns,
    /// For each slice the number of all events, and the times of the first and the last after the first slice begins.
    pub events: Vec<SliceEvents>,
    /// The first groups, in the order of the whole trace.
    pub groups: Vec<SlicedGroup>,
    /// All other groups together, for each unit of durations.
    pub others: Vec<SlicedGroup>,
    /// The number of the slowest events that are kept of the trace, and of each slice.
    pub slowest: [usize; 2],
}

/// All events of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceEvents {
    /// The number.
    pub count: u64,
    /// The time of the first, in nanoseconds after the first slice begins.
    pub first: u64,
    /// The time of the last.
    pub last: u64,
}

/// A group in slices of time.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SlicedGroup {
    /// The unit of its durations in nanoseconds; none if it has no durations.
    pub unit_ns: Option<u64>,
    /// The slices that have events, in order.
    pub slices: Vec<(usize, SliceFigures)>,
}

/// The figures of a group in a slice; durations are in ticks of the group's unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SliceFigures {
    /// The number of events.
    pub count: u64,
    /// The number of those whose duration is implausible.
    pub implausible: u64,
    /// The sum of the durations.
    pub total: u128,
    /// The shortest and the longest; none without durations.
    pub range: Option<(u64, u64)>,
    /// The buckets that have durations with their counts, in order.
    pub buckets: Vec<(u16, u64)>,
}

impl Serialize for SliceEvents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.count {
            0 => 0.serialize(serializer),
            count => [count, self.first, self.last].serialize(serializer),
        }
    }
}

/// A flat list: count, implausible, total, shortest, longest, and then for each bucket how far it is after the last one,
/// and its count. Neighbours are one apart, which takes few bytes.
impl Serialize for SliceFigures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (min, max) = self.range.unwrap_or((0, 0));
        let mut list = serializer.serialize_seq(None)?;
        list.serialize_element(&self.count)?;
        list.serialize_element(&self.implausible)?;
        match u64::try_from(self.total) {
            Ok(total) => list.serialize_element(&total)?,
            Err(_) => list.serialize_element(&(self.total as f64))?,
        }
        list.serialize_element(&min)?;
        list.serialize_element(&max)?;
        let mut last = 0;
        for (bucket, count) in &self.buckets {
            list.serialize_element(&(bucket - last))?;
            list.serialize_element(count)?;
            last = *bucket;
        }
        list.end()
    }
}

/// The bucket of a duration.
#[inline]
fn bucket_of(ticks: u64) -> u16 {
    if ticks < 2 * PER_OCTAVE {
        return ticks as u16;
    }
    let shift = ticks.ilog2() - PER_OCTAVE.ilog2();
    (u64::from(shift) * PER_OCTAVE + (ticks >> shift)) as u16
}

impl SliceFigures {
    #[inline]
    fn record(&mut self, duration: Option<u64>) {
        self.count += 1;
        let Some(ticks) = duration else { return };
        if ticks >= IMPLAUSIBLE {
            self.implausible += 1;
            return;
        }
        self.total += u128::from(ticks);
        let (min, max) = self.range.unwrap_or((ticks, ticks));
        self.range = Some((min.min(ticks), max.max(ticks)));
        self.add(bucket_of(ticks), 1);
    }

    #[inline]
    fn add(&mut self, bucket: u16, count: u64) {
        match self.buckets.binary_search_by_key(&bucket, |(known, _)| *known) {
            Ok(place) => self.buckets[place].1 += count,
            Err(place) => self.buckets.insert(place, (bucket, count)),
        }
    }

    fn merge(&mut self, other: &SliceFigures) {
        self.count += other.count;
        self.implausible += other.implausible;
        self.total += other.total;
        self.range = match (self.range, other.range) {
            (Some((low, high)), Some((min, max))) => Some((low.min(min), high.max(max))),
            (mine, theirs) => mine.or(theirs),
        };
        other.buckets.iter().for_each(|&(bucket, count)| self.add(bucket, count));
    }
}

impl SliceEvents {
    const NONE: SliceEvents = SliceEvents { count: 0, first: u64::MAX, last: 0 };

    fn add(&mut self, other: SliceEvents) {
        self.count += other.count;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

impl Slices {
    /// The same with half the number of slices, each twice as long.
    pub fn halved(&self) -> Slices {
        let mut events = vec![SliceEvents::NONE; self.columns.count.div_ceil(2)];
        self.events.iter().enumerate().for_each(|(slice, of_slice)| events[slice / 2].add(*of_slice));
        let halved = |group: &SlicedGroup| {
            let mut slices: Vec<(usize, SliceFigures)> = Vec::new();
            for (slice, figures) in &group.slices {
                match slices.last_mut() {
                    Some((last, known)) if *last == slice / 2 => known.merge(figures),
                    _ => slices.push((slice / 2, figures.clone())),
                }
            }
            SlicedGroup { slices, ..*group }
        };
        Slices {
            columns: self.columns.halved(),
            events,
            groups: self.groups.iter().map(halved).collect(),
            others: self.others.iter().map(halved).collect(),
            slowest: self.slowest,
        }
    }
}

/// What one reading finds.
pub(super) struct Sliced {
    pub slices: Slices,
    /// The slowest events of the trace and of each slice, the slowest first.
    pub records: Vec<Record>,
    /// Groups by client.
    pub clients: SummaryCollector<()>,
    /// What the trace contains.
    pub info: InfoCollector,
    pub report: Report,
}

/// Follows the first groups of a summary over time, and finds the slowest events of the trace and of each slice. Clients
/// and processes are counted on the way: reading takes more time than anything that is done with it.
pub(super) fn slices<S: Source>(
    input: &mut SourceWindow<'_, S>,
    selection: &Arc<Selection>,
    summary: &Summary,
    limit: usize,
) -> Result<Sliced, Failure> {
    let columns = TimeColumns::new(span_of(summary), SLICES);
    let mut kinds = Kinds::default();
    let mut places = Groups::default();
    let mut units = Vec::new();
    for (place, group) in summary.groups.iter().take(limit).enumerate() {
        let kind = kinds.enter(Arc::clone(&group.kind));
        places.entry(kind, &group.key_bytes, || place);
        units.push(unit_of(group));
    }
    let by_client = Selection { by: Some(vec!["client".into()]), ..Selection::clone(selection) };
    let with_repeats = Selection { with_repeats: true, ..Selection::clone(selection) };
    let collector = SliceCollector {
        clients: SummaryCollector::beside(Arc::new(by_client)),
        info: InfoCollector::of(&Arc::new(with_repeats)),
        roster: Roster::with_kinds(Arc::clone(selection), kinds),
        recorder: Recorder::default(),
        events: vec![SliceEvents::NONE; columns.count],
        tallies: GroupTallies { places, groups: vec![Vec::new(); units.len()], others: HashMap::new() },
        longest: Longest::new(SLOWEST),
        of_slices: vec![Longest::new(SLOWEST_OF_SLICE); columns.count],
        columns,
        durations: Vec::new(),
        briefs: Vec::new(),
        key: Vec::new(),
    };
    let (collected, report) = input.read(collector)?;
    let SliceCollector { events, tallies, mut longest, of_slices, clients, info, .. } = collected;
    let sliced = |unit_ns, figures: Vec<Option<Box<SliceFigures>>>| SlicedGroup {
        unit_ns,
        slices: figures
            .into_iter()
            .enumerate()
            .filter_map(|(slice, figures)| Some((slice, *figures?)))
            .collect(),
    };
    let mut others: Vec<_> = tallies.others.into_iter().collect();
    others.sort_unstable_by_key(|(unit, _)| *unit);
    let groups = units.into_iter().zip(tallies.groups);
    let slices = Slices {
        columns,
        events,
        groups: groups.map(|(unit, figures)| sliced(unit, figures)).collect(),
        others: others.into_iter().map(|(unit, figures)| sliced(unit, figures)).collect(),
        slowest: [SLOWEST, SLOWEST_OF_SLICE],
    };
    longest.grow(SLOWEST + SLOWEST_OF_SLICE * columns.count);
    of_slices.into_iter().for_each(|of_slice| longest.absorb(of_slice));
    let mut records = longest.into_sorted();
    records.dedup();
    Ok(Sliced { slices, records, clients, info, report })
}

fn unit_of(group: &Group) -> Option<u64> {
    group.kind.unit.map(|unit| unit.nanoseconds())
}

/// The figures of all slices of a group.
type Tallies = Vec<Option<Box<SliceFigures>>>;

#[derive(Clone)]
struct GroupTallies {
    /// The place of each group that is followed.
    places: Groups<usize>,
    groups: Vec<Tallies>,
    others: HashMap<Option<u64>, Tallies>,
}

struct SliceCollector {
    clients: SummaryCollector<()>,
    info: InfoCollector,
    roster: Roster,
    recorder: Recorder,
    columns: TimeColumns,
    events: Vec<SliceEvents>,
    tallies: GroupTallies,
    longest: Longest,
    of_slices: Vec<Longest>,
    durations: Vec<u64>,
    briefs: Vec<Brief>,
    key: Vec<u8>,
}

fn record(tallies: &mut Tallies, slice: usize, duration: Option<u64>) {
    grown(tallies, slice).get_or_insert_default().record(duration);
}

fn absorb(mine: &mut Tallies, theirs: Tallies) {
    if mine.len() < theirs.len() {
        mine.resize_with(theirs.len(), || None);
    }
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        match (mine, theirs) {
            (Some(mine), Some(theirs)) => mine.merge(&theirs),
            (mine @ None, theirs) => *mine = theirs,
            (Some(_), None) => {}
        }
    }
}

impl Collect for SliceCollector {
    type Stop = Infallible;

    fn want(&mut self, class: &Arc<EventClass>) -> Option<Vec<usize>> {
        // All events are counted, also those that no filter lets through.
        let mut slots = Slots(self.roster.want(class).unwrap_or_default());
        self.recorder.want(class, &self.roster, &mut slots);
        // Who wants none of them returns another list.
        let mut add = |wanted: Option<Vec<usize>>| {
            if let Some(wanted) = wanted.filter(|wanted| wanted.starts_with(&slots.0)) {
                slots.0 = wanted;
            }
            Slots(slots.0.clone())
        };
        let known = add(None);
        let known = add(self.clients.want_besides(class, known));
        Some(add(self.info.want_besides(class, known)).0)
    }

    fn events(&mut self, events: &Events<'_>) -> ControlFlow<Infallible> {
        let (Continue(()), Continue(())) = (self.clients.events(events), self.info.events(events));
        let SliceCollector { columns, tallies, durations, briefs, key, .. } = self;
        for event in 0..events.count {
            let time = events.fields.timestamp(event);
            let at = time.abs_diff(columns.begin_ns);
            self.events[columns.of(time)].add(SliceEvents { count: 1, first: at, last: at });
        }
        let Some(plan) = self.roster.plan(events.class) else { return ControlFlow::Continue(()) };
        let kind = &self.roster.kinds()[plan.kind];
        plan.durations(events, durations);
        briefs.clear();
        if let Some(slot) = plan.only_key() {
            events.fields.briefs(slot, briefs);
        }
        for number in 0..events.count {
            let event: Event<'_> = events.get(number);
            if plan.has_conditions() && !plan.admits(&event) {
                continue;
            }
            let (duration, slice) = (durations.get(number).copied(), columns.of(event.timestamp()));
            let brief = briefs.get(number).copied().unwrap_or(Brief::OTHER);
            let recalled = tallies.places.of_kind(plan.kind).recall(brief).copied();
            let place = recalled.or_else(|| {
                plan.encode_key(&event, key);
                let place = tallies.places.get(plan.kind, key).copied()?;
                if brief != Brief::OTHER {
                    tallies.places.recallable(plan.kind, brief, key, || place);
                }
                Some(place)
            });
            let of_group = match place {
                Some(place) => &mut tallies.groups[place],
                None => tallies.others.entry(kind.unit.map(|unit| unit.nanoseconds())).or_default(),
            };
            record(of_group, slice, duration);
            let Some(ticks) = duration.filter(|&ticks| ticks < IMPLAUSIBLE) else { continue };
            let duration_ns = kind.ns(ticks);
            let is_slow = |longest: &Longest| longest.has_room_for(duration_ns, event.timestamp());
            let (of_trace, of_slice) = (is_slow(&self.longest), is_slow(&self.of_slices[slice]));
            if (of_trace || of_slice)
                && let Some(record) = self.recorder.record(events.class, (plan, kind), ticks, &event)
            {
                if of_trace {
                    self.longest.push(record.clone());
                }
                if of_slice {
                    self.of_slices[slice].push(record);
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn split(&self) -> Self {
        SliceCollector {
            clients: self.clients.split(),
            info: self.info.split(),
            roster: self.roster.emptied(),
            recorder: self.recorder.clone(),
            columns: self.columns,
            events: vec![SliceEvents::NONE; self.columns.count],
            tallies: GroupTallies {
                places: self.tallies.places.clone(),
                groups: vec![Vec::new(); self.tallies.groups.len()],
                others: HashMap::new(),
            },
            longest: Longest::new(SLOWEST),
            of_slices: vec![Longest::new(SLOWEST_OF_SLICE); self.columns.count],
            durations: Vec::new(),
            briefs: Vec::new(),
            key: Vec::new(),
        }
    }

    fn absorb(&mut self, other: Self) {
        self.clients.absorb(other.clients);
        self.info.absorb(other.info);
        self.roster.absorb(other.roster);
        self.events.iter_mut().zip(other.events).for_each(|(mine, theirs)| mine.add(theirs));
        let GroupTallies { groups, others, .. } = other.tallies;
        self.tallies.groups.iter_mut().zip(groups).for_each(|(mine, theirs)| absorb(mine, theirs));
        for (unit, theirs) in others {
            absorb(self.tallies.others.entry(unit).or_default(), theirs);
        }
        self.longest.absorb(other.longest);
        self.of_slices.iter_mut().zip(other.of_slices).for_each(|(mine, theirs)| mine.absorb(theirs));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_within_a_sixty_fourth_of_its_durations() {
        let low = |bucket: u64| match bucket {
            0..64 => bucket,
            _ => (bucket % PER_OCTAVE + PER_OCTAVE) << (bucket / PER_OCTAVE - 1),
        };
        for ticks in
            (0..20_000).chain((14..63).flat_map(|bits| [(1 << bits) - 1, 1 << bits, (1 << bits) + 1]))
        {
            let bucket = u64::from(bucket_of(ticks));
            let (from, to) = (low(bucket), low(bucket + 1) - 1);
            assert!((from..=to).contains(&ticks), "{ticks} in {from}..={to}");
            assert!((to - from) / 2 <= ticks / 64, "{ticks} in {from}..={to}");
        }
    }

    #[test]
    fn halved_slices_have_the_same_figures() {
        let mut figures = vec![SliceFigures::default(); 5];
        for (slice, ticks) in [(0, 5), (1, 7), (1, 900), (4, 5)] {
            figures[slice].record(Some(ticks));
        }
        let columns = TimeColumns::new(Some(0..=49), 5);
        let events = vec![SliceEvents { count: 1, first: 3, last: 9 }; 5];
        let group = SlicedGroup { unit_ns: Some(1), slices: figures.into_iter().enumerate().collect() };
        let slices = Slices { columns, events, groups: vec![group], others: Vec::new(), slowest: [1, 1] };
        let halved = slices.halved();
        assert_eq!((halved.columns.count, halved.columns.width_ns), (3, 20));
        assert_eq!(halved.events.iter().map(|slice| slice.count).collect::<Vec<_>>(), [2, 2, 1]);
        let (slice, first) = &halved.groups[0].slices[0];
        assert_eq!((*slice, first.count, first.total, first.range), (0, 3, 912, Some((5, 900))));
        assert_eq!(halved.groups[0].slices.len(), 3);
    }
}
