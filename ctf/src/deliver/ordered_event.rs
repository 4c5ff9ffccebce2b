//! One event, handed out in the order of time.

use std::sync::Arc;

use super::digest::Digest;
use crate::decode::event_plan::ValueSource;
use crate::decode::frozen::Frozen;
use crate::decode::stream_plan::ClassPlan;
use crate::events::Fields;
use crate::{Brief, EventClass, Events, Field, FieldClass, FieldType, Value};

/// An event, borrowed until the next one is asked for.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use ctf_reader::{Field, Wanted, Window};
///
/// let reader = example();
/// // One field of each class that has it.
/// let mut wanted: Vec<_> = reader.classes().map(Wanted::of).collect();
/// let durations: Vec<Option<Field<u64>>> = wanted.iter_mut().map(|class| class.field("duration")).collect();
/// let mut events = reader.in_order(Window::default(), |class| Some(wanted[class.index].clone()));
/// let event = events.next_event().event().unwrap();
/// assert_eq!((event.timestamp(), &*event.class().name), (10, "hello:greeted"));
/// assert_eq!(event.value(durations[event.class().index].unwrap()), 12);
/// assert_eq!(event.field("name"), None, "it is not wanted");
/// ```
pub struct OrderedEvent<'a> {
    pub(super) plan: &'a ClassPlan,
    pub(super) timestamp: i64,
    pub(super) stream: usize,
    pub(super) values: Values<'a>,
    pub(super) digest: Option<&'a Digest>,
}

/// The values of an event's wanted fields.
pub(super) enum Values<'a> {
    /// Read in place when asked for.
    InPlace { bytes: &'a [u8], marks: &'a [u32], context: &'a [Frozen] },
    /// Decoded already.
    Decoded(Vec<Value<'a>>),
}

impl<'a> OrderedEvent<'a> {
    /// The event's class.
    #[inline]
    pub fn class(&self) -> &'a Arc<EventClass> {
        &self.plan.class
    }

    /// When it happened: nanoseconds since 1970.
    #[inline]
    pub fn timestamp(&self) -> i64 {
        self.timestamp
    }

    /// The stream that it was recorded in, numbered across all traces from 0.
    #[inline]
    pub fn stream(&self) -> usize {
        self.stream
    }

    /// What the [`Digester`](crate::Digester) made of it; zeros if there is none.
    #[inline(always)]
    pub fn digest(&self) -> Digest {
        self.digest.copied().unwrap_or_default()
    }

    /// The value of a field.
    ///
    /// # Panics
    /// If it is a field of another class.
    #[inline]
    pub fn value<T: FieldType + ?Sized>(&self, field: Field<T>) -> T::Read<'_> {
        self.read::<T>(field.slot(self.plan.class.index))
    }

    #[inline(always)]
    fn read<T: FieldType + ?Sized>(&self, slot: usize) -> T::Read<'_> {
        match &self.values {
            Values::InPlace { bytes, marks, context } => match &self.plan.plan.in_place()[slot] {
                ValueSource::Field(field) => T::read_stored(field, bytes, marks),
                ValueSource::Constant(constant) => T::read(constant.value(context)),
            },
            Values::Decoded(values) => T::read(values[slot].clone()),
        }
    }

    /// The value of a field, as far as it is brief.
    #[doc(hidden)]
    #[inline(always)]
    pub fn brief(&self, field: Field) -> Brief {
        self.brief_at(field.slot(self.plan.class.index))
    }

    #[inline(always)]
    fn brief_at(&self, slot: usize) -> Brief {
        match &self.values {
            Values::InPlace { bytes, marks, context } => match &self.plan.plan.in_place()[slot] {
                ValueSource::Field(field) => field.brief(bytes, marks),
                ValueSource::Constant(constant) => Brief::from(&constant.value(context)),
            },
            Values::Decoded(values) => Brief::from(&values[slot]),
        }
    }

    /// The bytes of all fields of the event before this one, if they are read in place and have the same length in all events
    /// of the class: events in which they are equal have equal values there.
    #[doc(hidden)]
    #[inline(always)]
    pub fn leading(&self, before: Field) -> Option<&[u8]> {
        match &self.values {
            Values::InPlace { bytes, marks, .. } => {
                match &self.plan.plan.in_place()[before.slot(self.plan.class.index)] {
                    ValueSource::Field(field) => field.leading(bytes, marks),
                    ValueSource::Constant(_) => None,
                }
            }
            Values::Decoded(_) => None,
        }
    }

    /// The value of the field with this name, if the class has it and it is wanted.
    pub fn field(&self, name: &str) -> Option<Value<'_>> {
        let index = self.plan.class.field(name)?;
        let wanted = self.plan.fields.iter().position(|&wanted| wanted == index)?;
        Some(self.read::<Value<'static>>(wanted))
    }

    /// The wanted fields with their values, in the order in which they were asked for.
    pub fn fields(&self) -> impl Iterator<Item = (&'a FieldClass, Value<'_>)> {
        let classes = &self.plan.class.fields;
        let wanted = self.plan.fields.iter().enumerate();
        wanted.map(|(slot, &index)| (&classes[index], self.read::<Value<'static>>(slot)))
    }

    /// The event as a batch of one, for code that takes [`Events`].
    pub fn events(&self) -> Events<'_> {
        Events::new(self.plan.class.index, 1, self)
    }
}

impl Fields for OrderedEvent<'_> {
    fn timestamp(&self, _: usize) -> i64 {
        self.timestamp
    }

    fn value(&self, _: usize, field: usize) -> Value<'_> {
        self.read::<Value<'static>>(field)
    }

    fn briefs(&self, field: usize, into: &mut Vec<Brief>) {
        into.push(self.brief_at(field));
    }
}
