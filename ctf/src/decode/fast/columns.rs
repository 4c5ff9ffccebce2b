//! All values of a field at once: how it is stored is looked up once and not for each event.

use super::stretch::{FieldForm, Primitive, StoredField};
use crate::decode::event_plan::ValueSource;
use crate::decode::frozen::Frozen;
use crate::events::Fields;
use crate::{Brief, Value};

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

    /// The marks of one event.
    fn of(&self, event: usize) -> &[u32];

    /// When one event happened: nanoseconds since 1970.
    fn timestamp(&self, event: usize) -> i64;

    /// Appends when each event happened.
    fn timestamps(&self, into: &mut Vec<i64>);
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

impl<M: Marks> Fields for Columns<'_, M> {
    #[inline]
    fn timestamp(&self, event: usize) -> i64 {
        self.marks.timestamp(event)
    }

    fn timestamps(&self, into: &mut Vec<i64>) {
        self.marks.timestamps(into);
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
            ValueSource::Constant(constant) => Brief::stored(&constant.value(self.context)),
        }
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

    fn is_common(&self, field: usize) -> bool {
        let ValueSource::Field(StoredField { mark, offset, form }) = &self.wanted[field] else { return true };
        let (bytes, offset) = (self.bytes, *offset);
        let mut places = self.marks.each(*mark).map(|mark| mark + offset);
        let Some(first) = places.next() else { return true };
        match form {
            FieldForm::Integer(Primitive::I32) => {
                let number = Primitive::I32.raw(bytes, first);
                places.all(|at| Primitive::I32.raw(bytes, at) == number)
            }
            FieldForm::Integer(read) => {
                let number = read.raw(bytes, first);
                places.all(|at| read.raw(bytes, at) == number)
            }
            // A brief text ends within these bytes.
            FieldForm::Characters(16..) if Brief::characters(&bytes[first..], 16) != Brief::OTHER => {
                let beginning = |at: usize| bytes.get(at..).and_then(<[u8]>::first_chunk::<16>);
                let text = beginning(first);
                places.all(|at| beginning(at) == text)
            }
            _ => false,
        }
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
}
