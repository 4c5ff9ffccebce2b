//! One event, handed out in the order of time.

use std::sync::Arc;

use crate::decode::event_plan::ValueSource;
use crate::decode::frozen::Frozen;
use crate::decode::stream_plan::ClassPlan;
use crate::events::Fields;
use crate::{Brief, EventClass, Events, Value};

/// An event, borrowed until the next one is asked for.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use ctf_reader::{Value, Window};
///
/// let reader = example();
/// // One field of each class that has it.
/// let mut events = reader.in_order(Window::default(), |class| Some(vec![class.field("duration")?]));
/// let event = events.next_event().event().unwrap();
/// assert_eq!((event.timestamp(), &*event.class().name), (10, "hello:greeted"));
/// assert_eq!((event.value(0), event.field("name")), (Value::Unsigned(12), None));
/// ```
pub struct OrderedEvent<'a> {
    pub(super) plan: &'a ClassPlan,
    pub(super) timestamp: i64,
    pub(super) stream: usize,
    pub(super) values: Values<'a>,
}

/// The values of an event's wanted fields.
pub(super) enum Values<'a> {
    /// Read in place when asked for.
    InPlace { wanted: &'a [ValueSource], bytes: &'a [u8], marks: &'a [u32], context: &'a [Frozen] },
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

    /// The value of a field, numbered as it was wanted.
    #[inline]
    pub fn value(&self, field: usize) -> Value<'_> {
        match &self.values {
            Values::InPlace { wanted, bytes, marks, context } => match &wanted[field] {
                ValueSource::Field(field) => field.value(bytes, marks),
                ValueSource::Constant(constant) => constant.value(context),
            },
            Values::Decoded(values) => values[field].clone(),
        }
    }

    /// The value of a field, if it is an integer, in two's complement.
    #[inline(always)]
    pub fn integer(&self, field: usize) -> Option<u64> {
        match &self.values {
            Values::InPlace { wanted, bytes, marks, .. } => match &wanted[field] {
                ValueSource::Field(field) => field.integer(bytes, marks),
                ValueSource::Constant(_) => self.value(field).integer(),
            },
            Values::Decoded(values) => values[field].integer(),
        }
    }

    /// The value of a field, as far as it is brief.
    #[doc(hidden)]
    #[inline]
    pub fn brief(&self, field: usize) -> Brief {
        match &self.values {
            Values::InPlace { wanted, bytes, marks, .. } => match &wanted[field] {
                ValueSource::Field(field) => field.brief(bytes, marks),
                ValueSource::Constant(_) => Brief::from(&self.value(field)),
            },
            Values::Decoded(values) => Brief::from(&values[field]),
        }
    }

    /// The value of the field with this name, if the class has it and it is wanted.
    pub fn field(&self, name: &str) -> Option<Value<'_>> {
        let index = self.plan.class.field(name)?;
        let wanted = self.plan.fields.iter().position(|&wanted| wanted == index)?;
        Some(self.value(wanted))
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
        OrderedEvent::value(self, field)
    }

    fn briefs(&self, field: usize, into: &mut Vec<Brief>) {
        into.push(self.brief(field));
    }
}
