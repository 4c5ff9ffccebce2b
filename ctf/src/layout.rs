//! What a trace's metadata means for reading it: its event classes, numbered within the reader.

use std::collections::HashMap;
use std::sync::Arc;

use crate::decode::clock::Timebase;
use crate::decode::stream_plan::StreamPlan;
use crate::metadata::{EnvironmentValue, EventLayout, Member, Metadata, StreamClass, Type};
use crate::packets::header::describes_packet;
use crate::{Base, EventClass, FieldClass, FieldClasses, FieldKind, Scope, Wanted, Window};

/// Says which fields of a class to decode; see [`Collect::want`](crate::Collect::want).
pub type Want<'w> = dyn FnMut(&Arc<EventClass>) -> Option<Wanted> + 'w;

/// The metadata of a trace, and the event classes that it describes.
#[derive(Debug, Default)]
pub struct Layout {
    pub metadata: Metadata,
    /// The event classes of each stream class, in the metadata's order.
    pub classes: Vec<Vec<Arc<EventClass>>>,
    /// The times of each stream class's clock.
    pub timebases: Vec<Timebase>,
}

impl Layout {
    /// The layout of the reader's trace with this index. Classes that an older layout of the trace has keep their
    /// numbers; others are numbered from `next` on.
    pub fn new(metadata: Metadata, trace: usize, older: &Layout, next: &mut usize) -> Layout {
        let known: HashMap<(u64, u64), &Arc<EventClass>> = older.ids().collect();
        let classes = metadata.streams.iter().map(|stream| {
            let shared: Arc<[FieldClass]> = shared_fields(&metadata, stream).collect();
            let class = |event: &EventLayout| {
                let class = event_class(event, &shared, trace, *next);
                match known.get(&(stream.id, event.id)) {
                    Some(known) if known.fields == class.fields => Arc::clone(known),
                    _ => {
                        *next += 1;
                        Arc::new(class)
                    }
                }
            };
            stream.events.iter().map(class).collect()
        });
        let classes = classes.collect();
        let timebases = metadata.streams.iter().map(|stream| Timebase::new(stream.clock.as_ref())).collect();
        Layout { metadata, classes, timebases }
    }

    /// Adds classes for the events that have been added to the metadata, and to plans that no others are to have.
    pub fn extend(
        &mut self,
        trace: usize,
        next: &mut usize,
        plans: &mut [Arc<StreamPlan>],
        want: &mut Want<'_>,
    ) {
        let Layout { metadata, classes, .. } = self;
        for ((stream, classes), plan) in metadata.streams.iter().zip(classes).zip(plans) {
            let first = classes.len();
            if first == stream.events.len() {
                continue;
            }
            let shared: Arc<[FieldClass]> = shared_fields(metadata, stream).collect();
            for event in &stream.events[first..] {
                classes.push(Arc::new(event_class(event, &shared, trace, *next)));
                *next += 1;
            }
            let wanted: Vec<_> = classes[first..].iter().map(&mut *want).collect();
            let context: Vec<usize> = packet_fields(stream).map(|(place, _)| place).collect();
            Arc::make_mut(plan).extend(metadata, stream, &context, &classes[first..], &wanted);
        }
    }

    /// Whether the time between two counts of a stream class's clock reaches into a window.
    pub fn is_in_window(&self, window: Window, stream: usize, from: u64, to: u64) -> bool {
        let timebase = &self.timebases[stream];
        window.since.is_none_or(|since| timebase.time(to) >= since)
            && window.until.is_none_or(|until| timebase.time(from) <= until)
    }

    /// What the tracer recorded of its environment, as text.
    pub fn environment(&self) -> impl Iterator<Item = (String, String)> {
        self.metadata.environment.iter().map(|(name, value)| {
            let value = match value {
                EnvironmentValue::Integer(number) => number.to_string(),
                EnvironmentValue::Text(text) => text.clone(),
            };
            (name.clone(), value)
        })
    }

    /// All classes, with the ids of their stream class and their own.
    fn ids(&self) -> impl Iterator<Item = ((u64, u64), &Arc<EventClass>)> {
        let streams = self.metadata.streams.iter().zip(&self.classes);
        streams.flat_map(|(stream, classes)| {
            let ids = stream.events.iter().map(|event| (stream.id, event.id));
            ids.zip(classes)
        })
    }

    /// Plans for all stream classes.
    pub fn plans(&self, want: &mut Want<'_>) -> Vec<Arc<StreamPlan>> {
        let streams = self.metadata.streams.iter().zip(&self.classes);
        let plan = |(stream, classes): (&StreamClass, &Vec<Arc<EventClass>>)| {
            let wanted: Vec<_> = classes.iter().map(&mut *want).collect();
            let context: Vec<usize> = packet_fields(stream).map(|(place, _)| place).collect();
            Arc::new(StreamPlan::new(&self.metadata, stream, &context, classes, &wanted))
        };
        streams.map(plan).collect()
    }
}

/// The class of an event, with the fields that it shares with the others of its stream.
fn event_class(event: &EventLayout, shared: &Arc<[FieldClass]>, trace: usize, index: usize) -> EventClass {
    let fields = FieldClasses::new(shared.clone(), own_fields(event).collect::<Vec<_>>());
    let (name, log_level, model_uri) = (event.name.clone(), event.log_level, event.model_uri.clone());
    EventClass { index, name, log_level, model_uri, fields, trace }
}

/// The fields that all classes of a stream have.
fn shared_fields(metadata: &Metadata, stream: &StreamClass) -> impl Iterator<Item = FieldClass> {
    let environment = metadata.environment.iter().map(|(name, value)| FieldClass {
        name: name.as_str().into(),
        scope: Scope::Environment,
        kind: match value {
            EnvironmentValue::Integer(_) => FieldKind::Integer,
            EnvironmentValue::Text(_) => FieldKind::Text,
        },
        base: Base::Decimal,
    });
    let packet = packet_fields(stream).map(|(_, member)| field_class(Scope::Packet, member));
    environment.chain(packet).chain(fields(Scope::StreamContext, stream.event_context.as_ref()))
}

/// The members of a stream's packet context that say something of its events, and not of the packet, with their places.
fn packet_fields(stream: &StreamClass) -> impl Iterator<Item = (usize, &Member)> {
    let members = stream.packet_context.as_ref().map_or(&[][..], Type::members);
    members.iter().enumerate().filter(|(_, member)| !describes_packet(&member.kind))
}

/// The fields that an event class has for itself.
fn own_fields(event: &EventLayout) -> impl Iterator<Item = FieldClass> {
    let scopes = [(Scope::EventContext, &event.context), (Scope::Payload, &event.payload)];
    scopes.into_iter().flat_map(|(scope, kind)| fields(scope, kind.as_ref()))
}

fn fields(scope: Scope, kind: Option<&Type>) -> impl Iterator<Item = FieldClass> {
    kind.into_iter().flat_map(Type::members).map(move |member| field_class(scope, member))
}

fn field_class(scope: Scope, member: &Member) -> FieldClass {
    let (name, kind, base) = (member.label.clone(), field_kind(&member.kind), base(&member.kind));
    FieldClass { name, scope, kind, base }
}

fn field_kind(kind: &Type) -> FieldKind {
    match kind {
        Type::Integer(integer) if integer.labels.is_some() => FieldKind::Enum,
        Type::Integer(integer) if integer.is_boolean => FieldKind::Bool,
        Type::Integer(_) => FieldKind::Integer,
        Type::Float(_) => FieldKind::Float,
        Type::Text => FieldKind::Text,
        Type::Array(_) if kind.is_text_array() => FieldKind::Text,
        Type::Array(_) | Type::Struct(_) | Type::Variant(_) | Type::Optional(_) => FieldKind::Compound,
    }
}

/// The base of an integer, or of the integers in a list.
fn base(kind: &Type) -> Base {
    match kind {
        Type::Integer(integer) => integer.base,
        Type::Array(array) => base(&array.element),
        Type::Optional(optional) => base(&optional.content),
        _ => Base::Decimal,
    }
}
