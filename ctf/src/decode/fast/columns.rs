//! All values of a field at once: how it is stored is looked up once and not for each event.

use std::ops::Range;

use super::stretch::{FieldForm, Primitive, StoredField, word};
use crate::decode::event_plan::{Constant, ValueSource};
use crate::decode::frozen::Frozen;
use crate::events::{Fields, Selected};
use crate::{Brief, Sample, Value};

/// The times and marks of events of one class.
pub trait Marks {
    /// The number of events.
    fn count(&self) -> usize;

    /// For each event its marks from one on.
    fn from(&self, mark: usize) -> impl Iterator<Item = &[u32]>;

    /// For each event one of its marks.
    #[inline(always)]
    fn each(&self, mark: usize) -> impl Iterator<Item = usize> {
        self.from(mark).map(|marks| marks[0] as usize)
    }

    /// For each event one of its marks, and when it happened.
    fn timed(&self, mark: usize) -> impl Iterator<Item = (usize, i64)>;

    /// The marks of one event.
    fn of(&self, event: usize) -> &[u32];

    /// When one event happened: nanoseconds since 1970.
    fn timestamp(&self, event: usize) -> i64;
}

/// Events of one class whose fields are read in place.
pub struct Columns<'a, M> {
    /// The bytes that the marks point into.
    pub bytes: &'a [u8],
    /// The values of the packet's context.
    pub context: &'a [Frozen],
    /// The fields.
    pub wanted: &'a [ValueSource],
    /// The events.
    pub marks: M,
}

impl<M: Marks> Columns<'_, M> {
    /// Where a field is in each event.
    #[inline(always)]
    fn places(&self, field: &StoredField) -> impl Iterator<Item = usize> {
        let offset = field.offset;
        self.marks.each(field.mark).map(move |mark| mark + offset)
    }

    /// Appends the events that have at least this integer in a field, which is read in a way, or are in the sample.
    #[inline(always)]
    fn select_by(
        &self,
        field: &StoredField,
        read: Primitive,
        (least, sample): (u64, Sample),
        into: &mut Vec<Selected>,
    ) {
        for (number, (mark, timestamp)) in self.marks.timed(field.mark).enumerate() {
            let integer = read.raw(self.bytes, mark + field.offset);
            // One branch, and nearly always the same way.
            if (integer >= least) | sample.has(timestamp) {
                into.push(Selected { number, integer, timestamp });
            }
        }
    }

    /// What is stored in all events; apart, so that the others need not make room for its value.
    #[inline(never)]
    fn stored_constant(&self, constant: &Constant) -> Brief {
        Brief::stored(&constant.value(self.context))
    }

    /// The size in bytes of a field, if it is an integer at this place.
    fn integer_at(&self, field: usize, mark: usize, offset: usize) -> Option<usize> {
        match &self.wanted[field] {
            ValueSource::Field(field) if (field.mark, field.offset) == (mark, offset) => match field.form {
                FieldForm::Integer(read) => Some(read.size()),
                _ => None,
            },
            _ => None,
        }
    }

    /// How many of the first fields are integers side by side in a word, from this one on, as the ids of a process and its thread are; and
    /// their size in bytes.
    fn side_by_side(&self, first: &StoredField, fields: &[usize]) -> (usize, usize) {
        let (mut count, mut size) = (0, 0);
        for &field in fields {
            match self.integer_at(field, first.mark, first.offset + size) {
                Some(more) if size + more <= size_of::<u64>() => (count, size) = (count + 1, size + more),
                _ => break,
            }
        }
        (count, size)
    }

    /// Whether as many bytes as a word has at most are the same in all events, from a field on. Nearly always they are, so it would
    /// take longer to stop where they are not.
    fn is_common_word(&self, field: &StoredField, size: usize) -> bool {
        let mut words = self.places(field).map(|at| word(self.bytes, at));
        let Some(first) = words.next() else { return true };
        let others = words.fold(0, |others, word| others | (word ^ first));
        others << (u64::BITS - 8 * size as u32) == 0
    }

    /// Whether characters are a brief text that is the same in all events: it ends within these bytes.
    fn is_common_text(&self, field: &StoredField) -> bool {
        let mut places = self.places(field);
        let Some(first) = places.next() else { return true };
        let beginning = |at: usize| self.bytes.get(at..).and_then(<[u8]>::first_chunk::<16>);
        let text = beginning(first);
        Brief::characters(&self.bytes[first..], 16) != Brief::OTHER && places.all(|at| beginning(at) == text)
    }
}

impl<M: Marks> Fields for Columns<'_, M> {
    #[inline]
    fn timestamp(&self, event: usize) -> i64 {
        self.marks.timestamp(event)
    }

    fn timestamps(&self, into: &mut Vec<i64>) {
        // Every event has a first mark: where it begins.
        into.extend(self.marks.timed(0).map(|(_, timestamp)| timestamp));
    }

    fn value(&self, event: usize, field: usize) -> Value<'_> {
        match &self.wanted[field] {
            ValueSource::Field(field) => field.value(self.bytes, self.marks.of(event)),
            ValueSource::Constant(constant) => constant.value(self.context),
        }
    }

    fn stored(&self, event: usize, field: usize) -> Brief {
        match &self.wanted[field] {
            ValueSource::Field(field) => field.stored(self.bytes, self.marks.of(event)),
            ValueSource::Constant(constant) => self.stored_constant(constant),
        }
    }

    fn place(&self, field: usize) -> Option<Range<usize>> {
        match &self.wanted[field] {
            ValueSource::Field(field) => field.place(),
            ValueSource::Constant(_) => None,
        }
    }

    fn bytes(&self, event: usize, place: &Range<usize>) -> Option<&[u8]> {
        let begin = *self.marks.of(event).first()? as usize;
        self.bytes.get(begin + place.start..begin + place.end)
    }

    fn briefs(&self, field: usize, into: &mut Vec<Brief>) {
        match &self.wanted[field] {
            ValueSource::Field(StoredField { mark, offset, form: FieldForm::Text }) => {
                let (bytes, offset) = (self.bytes, *offset);
                into.extend(self.marks.from(*mark).map(|marks| match *marks {
                    [mark, end, ..] => {
                        let at = mark as usize + offset;
                        Brief::text(&bytes[at..], end as usize - 1 - at)
                    }
                    _ => Brief::OTHER,
                }));
            }
            ValueSource::Field(StoredField { mark, offset, form: FieldForm::Characters(length) }) => {
                let places = self.marks.each(*mark).map(|mark| mark + offset);
                into.extend(places.map(|at| Brief::characters(&self.bytes[at..], *length)));
            }
            ValueSource::Field(StoredField { mark, offset, form: FieldForm::Integer(read) }) => {
                let places = self.marks.each(*mark).map(|mark| mark + offset);
                into.extend(places.map(|at| Brief::integer(read.number(self.bytes, at))));
            }
            _ => into.extend((0..self.marks.count()).map(|event| Brief::from(&self.value(event, field)))),
        }
    }

    fn are_common(&self, fields: &[usize]) -> bool {
        let mut rest = fields;
        while let Some(first) = rest.first() {
            let (count, is_common) = match &self.wanted[*first] {
                ValueSource::Constant(_) => (1, true),
                ValueSource::Field(field) => match field.form {
                    FieldForm::Integer(_) => {
                        let (count, size) = self.side_by_side(field, rest);
                        (count, self.is_common_word(field, size))
                    }
                    FieldForm::Characters(16..) => (1, self.is_common_text(field)),
                    _ => (1, false),
                },
            };
            if !is_common {
                return false;
            }
            rest = &rest[count..];
        }
        true
    }

    fn integers(&self, field: usize, into: &mut Vec<u64>) {
        match &self.wanted[field] {
            ValueSource::Field(StoredField { mark, offset, form: FieldForm::Integer(read) }) => {
                let (bytes, offset) = (self.bytes, *offset);
                let places = self.marks.each(*mark).map(|mark| mark + offset);
                // Most durations and ids are these: nothing is asked for each event.
                match read {
                    Primitive::U64 => into.extend(places.map(|at| Primitive::U64.raw(bytes, at))),
                    Primitive::I32 => into.extend(places.map(|at| Primitive::I32.raw(bytes, at))),
                    _ => into.extend(places.map(|at| read.raw(bytes, at))),
                }
            }
            _ => {
                let values = (0..self.marks.count()).map(|event| self.value(event, field));
                into.extend(values.map(|value| value.integer().unwrap_or_default()));
            }
        }
    }

    fn select(&self, field: usize, least: u64, sample: Sample, into: &mut Vec<Selected>) {
        let which = (least, sample);
        match &self.wanted[field] {
            ValueSource::Field(stored @ StoredField { form: FieldForm::Integer(read), .. }) => match read {
                // Most durations are these: nothing is asked for each event.
                Primitive::U64 => self.select_by(stored, Primitive::U64, which, into),
                read => self.select_by(stored, *read, which, into),
            },
            _ => {
                let selected = (0..self.marks.count()).map(|number| Selected {
                    number,
                    integer: self.value(number, field).integer().unwrap_or_default(),
                    timestamp: self.marks.timestamp(number),
                });
                into.extend(selected.filter(|one| one.integer >= least || sample.has(one.timestamp)));
            }
        }
    }
}
