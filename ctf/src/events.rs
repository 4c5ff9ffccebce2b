//! Events of one class, handed over together.
//!
//! A collector may take events one by one. One that must be fast takes all values
//! of a field at once, so that how the field is stored is looked up once and not for each event.

use std::ops::Range;

use crate::{Brief, ClassIndex, Field, FieldType, Sample, Value};

/// Events of one class, with the fields that the collector asked for.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use ctf_reader::{Decoded, Field, Value, Wanted};
///
/// let reader = example();
/// let mut wanted = Wanted::of(reader.classes().next().unwrap());
/// let name: Field<[u8]> = wanted.field("name").unwrap();
/// let duration: Field<u64> = wanted.field("duration").unwrap();
///
/// let values = [Value::Text(b"Ada"), Value::Unsigned(12)];
/// let decoded = Decoded { timestamp: 10, values: &values };
/// let events = decoded.events(0);
/// let mut durations = Vec::new();
/// events.integers(duration, &mut durations);
/// assert_eq!((events.count, durations), (1, vec![12]));
/// assert_eq!(events.get(0).value(name), b"Ada");
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Events<'a> {
    /// Their class; equal to the [`index`](super::EventClass::index) that `want` was asked about.
    pub class: ClassIndex,
    /// The number of events.
    pub count: usize,
    fields: &'a dyn Fields,
}

/// What was recorded with events. Fields are numbered in the order in which they were asked for: by their slots.
pub(crate) trait Fields {
    /// When one of the events happened: nanoseconds since 1970.
    fn timestamp(&self, event: usize) -> i64;

    /// Appends when each of the events happened. By default there is one.
    fn timestamps(&self, into: &mut Vec<i64>) {
        into.push(self.timestamp(0));
    }

    /// The first of some events that is later than a time, or where they end.
    fn first_after(&self, mut events: Range<usize>, time: i64) -> usize {
        if !events.is_empty() && self.timestamp(events.end - 1) <= time {
            return events.end;
        }
        while !events.is_empty() {
            let middle = events.start + events.len() / 2;
            match self.timestamp(middle) > time {
                true => events.end = middle,
                false => events.start = middle + 1,
            }
        }
        events.end
    }

    /// One of the values of one of the events.
    fn value(&self, event: usize, field: usize) -> Value<'_>;

    /// What one of the events has in a field, as far as it is brief; of a label its number.
    fn stored(&self, event: usize, field: usize) -> Brief {
        Brief::stored(&self.value(event, field))
    }

    /// Where a field is from the beginning of each event on, if that is known.
    fn place(&self, _field: usize) -> Option<Range<usize>> {
        None
    }

    /// What was recorded in a place of one of the events, if it is at hand.
    fn bytes(&self, _event: usize, _place: &Range<usize>) -> Option<&[u8]> {
        None
    }

    /// Appends the values that a field has, as far as they are brief. By default there is one event.
    fn briefs(&self, field: usize, into: &mut Vec<Brief>) {
        into.push(Brief::from(&self.value(0, field)));
    }

    /// Whether each of some fields has the same value in all events. By default there is one event.
    fn are_common(&self, _fields: &[usize]) -> bool {
        true
    }

    /// Appends the integers that a field has, in two's complement. By default there is one event.
    fn integers(&self, field: usize, into: &mut Vec<u64>) {
        into.push(self.value(0, field).integer().unwrap_or_default());
    }

    /// Appends the events that have at least this integer in a field, or are in the sample. By default there is one event.
    fn select(&self, field: usize, least: u64, sample: Sample, into: &mut Vec<Selected>) {
        let (integer, timestamp) = (self.value(0, field).integer().unwrap_or_default(), self.timestamp(0));
        if integer >= least || sample.has(timestamp) {
            into.push(Selected { number: 0, integer, timestamp });
        }
    }
}

/// What was looked at of a [selected](Events::select) event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selected {
    /// Which of the events it is.
    pub number: usize,
    /// The integer, in two's complement.
    pub integer: u64,
    /// When it happened: nanoseconds since 1970.
    pub timestamp: i64,
}

impl<'a> Events<'a> {
    #[inline]
    pub(crate) fn new(class: ClassIndex, count: usize, fields: &'a dyn Fields) -> Events<'a> {
        Events { class, count, fields }
    }

    /// One of them.
    #[inline]
    pub fn get(&self, number: usize) -> Event<'a> {
        Event { number, class: self.class, fields: self.fields }
    }

    /// One by one.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Event<'a>> {
        (0..self.count).map(|number| self.get(number))
    }

    /// Appends when each event happened: nanoseconds since 1970. That is faster than one event after the other.
    #[inline]
    pub fn timestamps(&self, into: &mut Vec<i64>) {
        self.fields.timestamps(into);
    }

    /// Appends the integers that a field has in each event, in two's complement. That is faster than one event after the
    /// other: how the field is stored is looked up once.
    #[inline]
    pub fn integers(&self, field: Field<u64>, into: &mut Vec<u64>) {
        self.fields.integers(field.slot(self.class), into);
    }

    /// Appends the events that have at least this integer in a field, or are in the sample. Of all others nothing is kept.
    #[inline]
    pub fn select(&self, field: Field<u64>, least: u64, sample: Sample, into: &mut Vec<Selected>) {
        self.fields.select(field.slot(self.class), least, sample, into);
    }

    /// Whether each of some fields has the same value in all events; false also if that would take long to find out.
    #[doc(hidden)]
    #[inline]
    pub fn are_common<T: FieldType + ?Sized, const N: usize>(&self, fields: [Field<T>; N]) -> bool {
        self.fields.are_common(&fields.map(|field| field.slot(self.class)))
    }

    /// The events as ranges, each with the time of its first event and up to the last that is not after what a function makes
    /// of that time. The times of events that are handed over together never go back.
    #[doc(hidden)]
    pub fn ranges(&self, until: impl Fn(i64) -> i64) -> impl Iterator<Item = (Range<usize>, i64)> {
        let mut from = 0;
        std::iter::from_fn(move || {
            let begin = from;
            let time = (begin < self.count).then(|| self.fields.timestamp(begin))?;
            from = self.fields.first_after(begin + 1..self.count, until(time));
            Some((begin..from, time))
        })
    }

    /// Appends the values that a field has in each event, as far as they are brief.
    #[doc(hidden)]
    #[inline]
    pub fn briefs(&self, field: Field, into: &mut Vec<Brief>) {
        self.fields.briefs(field.slot(self.class), into);
    }
}

/// One of several [`Events`].
#[derive(Clone, Copy)]
pub struct Event<'a> {
    /// Which of the events it is.
    pub number: usize,
    class: ClassIndex,
    fields: &'a dyn Fields,
}

impl<'a> Event<'a> {
    /// When it happened: nanoseconds since 1970.
    #[inline]
    pub fn timestamp(&self) -> i64 {
        self.fields.timestamp(self.number)
    }

    /// What is stored in a field, as far as it is brief; of a label its number. Events of one class in which it is equal have
    /// equal values.
    #[doc(hidden)]
    #[inline]
    pub fn stored(&self, field: Field) -> Brief {
        self.fields.stored(self.number, field.slot(self.class))
    }

    /// Where a field is from the beginning of the event on, if it is there in all events of the class: those that have the
    /// same [bytes](Event::bytes) there have equal values.
    #[doc(hidden)]
    pub fn place(&self, field: Field) -> Option<Range<usize>> {
        self.fields.place(field.slot(self.class))
    }

    /// What was recorded in a place, if it is at hand.
    #[doc(hidden)]
    #[inline]
    pub fn bytes(&self, place: &Range<usize>) -> Option<&'a [u8]> {
        self.fields.bytes(self.number, place)
    }

    /// The value of a field.
    #[inline]
    pub fn value<T: FieldType + ?Sized>(&self, field: Field<T>) -> T::Read<'a> {
        T::read(self.fields.value(self.number, field.slot(self.class)))
    }
}

/// A single event that has been decoded.
pub struct Decoded<'a> {
    /// When it happened.
    pub timestamp: i64,
    /// Its values.
    pub values: &'a [Value<'a>],
}

impl<'a> Decoded<'a> {
    /// As events of a class.
    pub fn events(&'a self, class: ClassIndex) -> Events<'a> {
        Events::new(class, 1, self)
    }
}

impl Fields for Decoded<'_> {
    fn timestamp(&self, _: usize) -> i64 {
        self.timestamp
    }

    fn value(&self, _: usize, field: usize) -> Value<'_> {
        self.values[field].clone()
    }
}
