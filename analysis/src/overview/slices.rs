//! The figures of groups in slices of time: what narrows a report to a part of the trace.
//!
//! Counts, totals, minima and maxima of a slice are exact. Durations are counted in buckets: exact below 64 ticks of
//! their unit, and 32 for each power of two above, so that a percentile of several slices is within 1/64 of itself.

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use crate::durations::heat::TimeColumns;
use crate::durations::histogram::{IMPLAUSIBLE, bucket_of_octaves};

/// Buckets for each power of two of durations.
pub const PER_OCTAVE: u64 = 32;

/// Groups over time.
#[derive(Clone, Debug, Serialize)]
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
    /// Where a bucket probably is, by the last digits of its number: a search for it would be mispredicted.
    places: Places,
}

/// Places of buckets.
#[derive(Clone, Debug)]
struct Places([u8; 2 * PER_OCTAVE as usize]);

impl Default for Places {
    fn default() -> Self {
        Places([0; 2 * PER_OCTAVE as usize])
    }
}

/// They are not a figure.
impl PartialEq for Places {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Places {}

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

impl SliceFigures {
    #[inline]
    pub(super) fn record(&mut self, duration: Option<u64>) {
        match duration {
            Some(ticks) if ticks < IMPLAUSIBLE => self.record_many(ticks, 1),
            _ => {
                self.count += 1;
                self.implausible += u64::from(duration.is_some());
            }
        }
    }

    /// Adds equal durations, which are plausible.
    #[inline]
    pub(super) fn record_many(&mut self, ticks: u64, count: u64) {
        self.count += count;
        self.total += u128::from(ticks) * u128::from(count);
        let (min, max) = self.range.unwrap_or((ticks, ticks));
        self.range = Some((min.min(ticks), max.max(ticks)));
        self.add(bucket_of_octaves(ticks, PER_OCTAVE), count);
    }

    #[inline]
    fn add(&mut self, bucket: u16, count: u64) {
        let place = &mut self.places.0[usize::from(bucket) % (2 * PER_OCTAVE as usize)];
        match self.buckets.get_mut(usize::from(*place)) {
            Some((known, of_bucket)) if *known == bucket => *of_bucket += count,
            _ => *place = enter(&mut self.buckets, bucket, count) as u8,
        }
    }

    pub(super) fn merge(&mut self, other: &SliceFigures) {
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

/// Adds to a bucket whose place is not known, and returns that.
#[inline(never)]
fn enter(buckets: &mut Vec<(u16, u64)>, bucket: u16, count: u64) -> usize {
    let place = buckets.partition_point(|(known, _)| *known < bucket);
    match buckets.get_mut(place) {
        Some((known, of_bucket)) if *known == bucket => *of_bucket += count,
        _ => buckets.insert(place, (bucket, count)),
    }
    place
}

impl SliceEvents {
    pub(super) const NONE: SliceEvents = SliceEvents { count: 0, first: u64::MAX, last: 0 };

    pub(super) fn add(&mut self, other: SliceEvents) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
