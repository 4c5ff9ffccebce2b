//! How to process the events of a class, resolved once so that nothing is looked up by name per event.

use std::ops::Range;

use crate::durations::histogram::IMPLAUSIBLE;
use crate::filter::{BoundCondition, Mismatch};
use crate::meaning::{ClassMeaning, as_boolean};
use crate::reading::key;
use crate::reading::passes::Passes;
use crate::reading::selection::{EventKind, Processes, Selection};
use crate::unit::TimeUnit;
use ctf_reader::{Brief, Event, EventClass, Events, Field, OrderedEvent, Sample, Selected, Value, Wanted};

/// The number of bytes of keys that identify a group.
const KEY_LENGTH: usize = 4096;

/// How to process the events of one class.
#[derive(Clone, Debug)]
pub(crate) struct ClassPlan {
    /// Which of the roster's kinds.
    pub kind: usize,
    /// The keys.
    keys: Vec<KeyField>,
    /// The most important fields, the keys and the client, as indexes into the class's fields.
    pub leading: Vec<usize>,
    duration: Option<DurationField>,
    /// The unit of integer durations in nanoseconds.
    unit_ns: u64,
    conditions: Vec<BoundCondition>,
    /// The process, where processes are counted.
    pub process: Option<Field<u64>>,
}

/// The field that has the duration.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DurationField {
    /// Its index in the class's fields.
    index: usize,
    any: Field,
    number: DurationNumber,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum DurationNumber {
    /// Used as it is.
    Integer(Field<u64>),
    /// With the factor for it.
    Float(Field<f64>, f64),
}

/// Where the value of a key or of a detail is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyField {
    field: Field,
    /// Whether it is an integer that the catalog says is a boolean.
    is_boolean: bool,
}

impl KeyField {
    pub fn new(index: usize, meaning: &ClassMeaning, wanted: &mut Wanted) -> Self {
        KeyField { field: wanted.value_at(index), is_boolean: meaning.is_boolean(index) }
    }

    /// What is stored, as far as it is brief: events of one class in which it is equal have equal values.
    #[inline(always)]
    pub fn stored(&self, event: &Event<'_>) -> Brief {
        event.stored(self.field)
    }

    /// Where it is from the beginning of each event of a class on, if that is known.
    pub fn place(&self, event: &Event<'_>) -> Option<Range<usize>> {
        event.place(self.field)
    }

    /// The value as it is shown.
    #[inline]
    pub fn value<'e>(&self, event: &Event<'e>) -> Value<'e> {
        let value = event.value(self.field);
        if self.is_boolean { as_boolean(value) } else { value }
    }
}

impl ClassPlan {
    /// A plan for the class and the fields that it needs, besides those that are wanted already. `enter` gives a kind
    /// its number.
    pub fn new(
        selection: &Selection,
        class: &EventClass,
        meaning: &ClassMeaning,
        wanted: &mut Wanted,
        enter: impl FnOnce(EventKind) -> usize,
    ) -> Result<ClassPlan, Unwanted> {
        if selection.wanted_fields().any(|name| meaning.field(class, name).is_none()) {
            return Err(Unwanted::WithoutField);
        }
        if meaning.repeats.is_some() && !selection.with_repeats {
            return Err(Unwanted::Repeats);
        }
        let keys = selection.keys(class, meaning);
        let conditions = selection.bind(class, meaning, wanted).map_err(Unwanted::Mismatch)?;
        let duration = meaning.duration.and_then(|field| {
            let (index, any) = (field.index, wanted.value_at(field.index));
            let (unit, number) = match wanted.field_at(index).map(DurationNumber::Integer) {
                Some(integer) => (field.unit, integer),
                // A float's fraction would be lost in its own unit.
                None => {
                    let scale = field.unit.nanoseconds() as f64;
                    (TimeUnit::Nanoseconds, DurationNumber::Float(wanted.field_at(index)?, scale))
                }
            };
            Some((unit, DurationField { index, any, number }))
        });
        let kind = enter(EventKind {
            event: class.name.clone(),
            keys: keys.iter().map(|key| key.name.clone()).collect(),
            unit: duration.map(|(unit, _)| unit),
            unit_is_guess: meaning.duration.is_some_and(|field| field.is_guess),
            is_sum: meaning.is_sum,
        });
        Ok(ClassPlan {
            kind,
            keys: keys.iter().map(|key| KeyField::new(key.index, meaning, wanted)).collect(),
            leading: keys.iter().map(|key| key.index).chain(meaning.client).collect(),
            duration: duration.map(|(_, field)| field),
            unit_ns: duration.map_or(1, |(unit, _)| unit.nanoseconds()),
            conditions,
            process: match selection.processes {
                Processes::Counted => selection.process(class).and_then(|index| wanted.field_at(index)),
                Processes::Together | Processes::Apart => None,
            },
        })
    }

    /// The fields that identify the group, as indexes into the class's fields.
    pub fn keys(&self) -> &[usize] {
        &self.leading[..self.keys.len()]
    }

    /// Whether events have the same keys and durations as by another plan for their class.
    pub fn reads_like(&self, other: &ClassPlan) -> bool {
        self.keys == other.keys && self.duration == other.duration
    }

    /// Whether there are conditions at all.
    pub fn has_conditions(&self) -> bool {
        !self.conditions.is_empty()
    }

    /// Whether the event meets all conditions.
    #[inline]
    pub fn admits(&self, event: &Event<'_>) -> bool {
        self.conditions.iter().all(|condition| condition.holds(event))
    }

    /// Which conditions the event meets.
    pub fn passes(&self, event: &Event<'_>) -> Passes {
        let holds = |condition: &BoundCondition| condition.holds(event);
        Passes {
            by_duration: self.of_duration(true).all(holds),
            otherwise: self.of_duration(false).all(holds),
        }
    }

    /// Whether a duration in nanoseconds meets the conditions on it.
    pub fn admits_duration(&self, nanoseconds: i64) -> bool {
        let ticks = nanoseconds.max(0) as u64 / self.unit_ns;
        let value = match self.duration {
            Some(DurationField { number: DurationNumber::Float(_, scale), .. }) => {
                Value::Float(nanoseconds as f64 / scale)
            }
            _ => Value::Unsigned(ticks),
        };
        self.of_duration(true).all(|condition| condition.holds_for(&value))
    }

    /// The conditions on the duration, or the others.
    fn of_duration(&self, is_of: bool) -> impl Iterator<Item = &BoundCondition> {
        let field = self.duration.map(|duration| duration.any);
        self.conditions.iter().filter(move |condition| (Some(condition.field()) == field) == is_of)
    }

    /// The conditions, in the order in which they were given.
    pub fn conditions(&self) -> &[BoundCondition] {
        &self.conditions
    }

    /// Replaces the contents of a vector with the durations of events, in the kind's unit; empty if they have none.
    /// Values from [`IMPLAUSIBLE`] on come from a faulty clock.
    pub fn durations(&self, events: &Events<'_>, into: &mut Vec<u64>) {
        into.clear();
        match self.duration.map(|duration| duration.number) {
            None => {}
            Some(DurationNumber::Integer(field)) => events.integers(field, into),
            Some(DurationNumber::Float(field, scale)) => {
                into.extend(events.iter().map(|event| float_ticks(event.value(field), scale)));
            }
        }
    }

    /// Appends the events that took at least as long, in the kind's unit, or are in the sample; none if they have no durations.
    pub fn select(&self, events: &Events<'_>, least: u64, sample: Sample, into: &mut Vec<Selected>) {
        match self.duration.map(|duration| duration.number) {
            None => {}
            Some(DurationNumber::Integer(field)) => events.select(field, least, sample, into),
            Some(DurationNumber::Float(field, scale)) => {
                let all = events.iter().map(|event| Selected {
                    number: event.number,
                    integer: float_ticks(event.value(field), scale),
                    timestamp: event.timestamp(),
                });
                into.extend(all.filter(|one| one.integer >= least || sample.has(one.timestamp)));
            }
        }
    }

    /// The duration of an event, in the kind's unit; none if it has none.
    #[inline(always)]
    pub fn duration(&self, event: &OrderedEvent<'_>) -> Option<u64> {
        Some(match self.duration?.number {
            DurationNumber::Integer(field) => event.value(field),
            DurationNumber::Float(field, scale) => float_ticks(event.value(field), scale),
        })
    }

    /// The duration, as an index into the class's fields.
    pub fn duration_index(&self) -> Option<usize> {
        self.duration.map(|duration| duration.index)
    }

    /// The key, if there is exactly one.
    #[inline(always)]
    pub fn only_key(&self) -> Option<Field> {
        match *self.keys {
            [KeyField { field, .. }] => Some(field),
            _ => None,
        }
    }

    /// Writes the event's keys into a buffer. Only the beginning of long keys counts, so that long texts do not fill
    /// the memory.
    #[inline]
    pub fn encode_key(&self, event: &Event<'_>, bytes: &mut Vec<u8>) {
        bytes.clear();
        self.keys.iter().for_each(|key| key::encode(&key.value(event), bytes));
        bytes.truncate(KEY_LENGTH);
    }
}

/// A float, scaled, as the nearest whole number, if it is a plausible duration.
fn float_ticks(value: f64, scale: f64) -> u64 {
    let ticks = (value * scale).round();
    if (0.0..IMPLAUSIBLE as f64).contains(&ticks) { ticks as u64 } else { IMPLAUSIBLE }
}

/// Why no event of a class counts.
#[derive(Clone, Debug)]
pub(crate) enum Unwanted {
    Name,
    Repeats,
    WithoutField,
    Mismatch(Mismatch),
}
