//! A stream class with the plans of its events: all that decoding a packet's events needs.

use super::bits::{Bits, Fault};
use super::clock::Timebase;
use super::decode::Slots;
use super::header::EventHeader;
use super::metadata::{EnvironmentValue, Metadata, StreamClass, Type};
use super::plan::Plan;
use crate::source::{ClassIndex, Collect, Event, EventClass, Scope, Value, Window};

/// How to decode the events of a stream.
#[derive(Debug)]
pub struct StreamPlan<'m> {
    header: EventHeader<'m>,
    classes: Vec<ClassPlan<'m>>,
    /// The ids of the classes where they are not the classes' positions.
    ids: Option<Vec<u64>>,
    /// The times of the clock's counts.
    pub timebase: Timebase,
}

/// How to decode the events of a class.
#[derive(Debug)]
struct ClassPlan<'m> {
    index: ClassIndex,
    is_wanted: bool,
    plan: Plan<'m>,
    /// The wanted values, with those that are the same for a whole packet filled in.
    values: Vec<Constant<'m>>,
}

/// A value that does not change from event to event.
#[derive(Clone, Debug)]
enum Constant<'m> {
    /// Not one of these: the plan decodes it.
    None,
    /// The same for the trace.
    Environment(&'m EnvironmentValue),
    /// A member of the packet context.
    Packet(usize),
}

/// Where in a packet decoding is.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    /// In bits from the beginning of the bytes at hand.
    pub at: usize,
    /// The clock's count.
    pub clock: u64,
}

/// The bytes at hand: a part of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// These begin at a multiple of every alignment.
    pub bytes: &'a [u8],
    /// Where the content ends, in bits from the beginning of the bytes.
    pub end: usize,
    /// The values of the packet's context.
    pub context: &'a [Value<'a>],
}

/// Why decoding stopped, with the cursor before the event that it stopped at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// There is no event there: all have been decoded.
    End,
    /// The event ends behind the bytes at hand.
    Short,
    /// The metadata describes no event with this id.
    UnknownClass(u64),
    /// The event takes no room, so there would be no end of them.
    NoRoom,
    /// The event cannot be decoded.
    Fault(Fault),
}

/// How many events there were, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub events: u64,
    /// The time of the earliest.
    pub first: i64,
    /// The time of the latest.
    pub last: i64,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally { events: 0, first: i64::MAX, last: i64::MIN }
    }
}

impl Tally {
    /// Takes in another.
    pub fn add(&mut self, other: Tally) {
        self.events += other.events;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

impl<'m> StreamPlan<'m> {
    /// Plans for the events of a stream class. `classes` are its events' classes, in the same order, and
    /// `wanted` the fields that are wanted of them.
    pub fn new(
        metadata: &'m Metadata,
        stream: &'m StreamClass,
        classes: &[std::sync::Arc<EventClass>],
        wanted: &[Option<Vec<usize>>],
    ) -> StreamPlan<'m> {
        let header = EventHeader::new(stream);
        let plans = stream.events.iter().zip(classes).zip(wanted).map(|((layout, class), wanted)| {
            let fields = wanted.as_deref().unwrap_or_default();
            let scopes: Vec<_> = [
                (Scope::StreamContext, &stream.event_context),
                (Scope::EventContext, &layout.context),
                (Scope::Payload, &layout.payload),
            ]
            .into_iter()
            .filter_map(|(scope, kind)| {
                let kind = kind.as_ref()?;
                Some((kind, targets(class, scope, kind, fields)))
            })
            .collect();
            let repeats = fields.iter().enumerate().filter_map(|(into, field)| {
                let from = fields.iter().position(|first| first == field)?;
                (from < into).then_some((from, into))
            });
            let repeats: Vec<_> = repeats.collect();
            ClassPlan {
                index: class.index,
                is_wanted: wanted.is_some(),
                plan: Plan::new(&scopes, header.ends_at_a_byte(), &repeats),
                values: fields.iter().map(|&field| constant(metadata, stream, class, field)).collect(),
            }
        });
        let classes = plans.collect();
        let dense = stream.events.iter().zip(0..).all(|(event, id)| event.id == id);
        let ids = (!dense).then(|| stream.events.iter().map(|event| event.id).collect());
        StreamPlan { header, classes, ids, timebase: Timebase::new(stream.clock.as_ref()) }
    }

    /// Whether packet contexts must be decoded for the values that are wanted.
    pub fn wants_context(&self) -> bool {
        let mut values = self.classes.iter().flat_map(|class| &class.values);
        values.any(|value| matches!(value, Constant::Packet(_)))
    }

    #[inline]
    fn class(&self, id: u64) -> Option<usize> {
        match &self.ids {
            None => usize::try_from(id).ok().filter(|&class| class < self.classes.len()),
            Some(ids) => ids.binary_search(&id).ok(),
        }
    }

    /// Decodes all events in the bytes at hand, and hands those in the window to the collector.
    pub fn events<'a, C: Collect>(
        &'a self,
        part: Part<'a>,
        cursor: &mut Cursor,
        window: Window,
        slots: &mut Slots,
        collector: &mut C,
    ) -> (Tally, Stop) {
        let limits = window.since.unwrap_or(i64::MIN)..=window.until.unwrap_or(i64::MAX);
        let is_limited = limits != (i64::MIN..=i64::MAX);
        let mut tally = Tally::default();
        let mut values: Vec<Vec<Value<'a>>> = vec![Vec::new(); self.classes.len()];
        let mut bits = Bits::new(part.bytes, cursor.at, part.end);
        let mut clock = cursor.clock;
        let mut decoded = *cursor;
        let stop = loop {
            if bits.left() == 0 {
                break if bits.at() >= part.end { Stop::End } else { Stop::Short };
            }
            let id = match self.header.decode(&mut bits, slots, &mut clock) {
                Ok(id) => id,
                Err(fault) => break fault.into(),
            };
            let Some(position) = self.class(id) else { break Stop::UnknownClass(id) };
            let class = &self.classes[position];
            let values = &mut values[position];
            if values.len() < class.values.len() {
                values.extend(class.values.iter().map(|value| value.resolve(part.context)));
            }
            if let Err(fault) = class.plan.run(&mut bits, slots, values).and_then(|()| bits.check_end()) {
                break fault.into();
            }
            let before = std::mem::replace(&mut decoded, Cursor { at: bits.at(), clock });
            if decoded.at == before.at {
                break Stop::NoRoom;
            }
            let timestamp = self.timebase.time(clock);
            if is_limited && !limits.contains(&timestamp) {
                continue;
            }
            tally.events += 1;
            tally.first = tally.first.min(timestamp);
            tally.last = tally.last.max(timestamp);
            if class.is_wanted {
                collector.event(&Event { timestamp, class: class.index, values });
            }
        };
        *cursor = decoded;
        (tally, stop)
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        match fault {
            Fault::Short => Stop::Short,
            other => Stop::Fault(other),
        }
    }
}

impl<'m> Constant<'m> {
    fn resolve<'a>(&self, context: &[Value<'a>]) -> Value<'a>
    where
        'm: 'a,
    {
        match self {
            Constant::None => Value::Unsigned(0),
            Constant::Environment(EnvironmentValue::Text(text)) => Value::Text(text.as_bytes()),
            Constant::Environment(EnvironmentValue::Integer(number)) => match i64::try_from(*number) {
                Ok(number) => Value::Signed(number),
                Err(_) => Value::Unsigned(*number as u64),
            },
            Constant::Packet(member) => context.get(*member).cloned().unwrap_or(Value::Unsigned(0)),
        }
    }
}

/// For each member of a scope, where among the wanted fields it is.
fn targets(class: &EventClass, scope: Scope, kind: &Type, wanted: &[usize]) -> Vec<Option<usize>> {
    let first = class.fields.iter().position(|field| field.scope == scope);
    let members = 0..kind.members().len();
    members
        .map(|member| wanted.iter().position(|&field| Some(field) == first.map(|first| first + member)))
        .collect()
}

/// The value of a wanted field, if it does not change from event to event.
fn constant<'m>(
    metadata: &'m Metadata,
    stream: &StreamClass,
    class: &EventClass,
    field: usize,
) -> Constant<'m> {
    let Some(wanted) = class.fields.get(field) else { return Constant::None };
    match wanted.scope {
        Scope::Environment => match metadata.environment.get(field) {
            Some((_, value)) => Constant::Environment(value),
            None => Constant::None,
        },
        Scope::Packet => {
            let members = stream.packet_context.as_ref().map_or(&[][..], Type::members);
            match members.iter().position(|member| member.label() == wanted.name) {
                Some(member) => Constant::Packet(member),
                None => Constant::None,
            }
        }
        _ => Constant::None,
    }
}
