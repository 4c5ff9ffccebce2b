//! A stream class with the plans for its events: all that is needed to decode a packet's events.

use std::sync::Arc;

use super::clock::Timebase;
use super::event_header::EventHeader;
use super::event_plan::{Constant, EventPlan};
use crate::metadata::{Metadata, StreamClass, Type};
use crate::{ClassIndex, EventClass, Scope, Wanted};

/// How to decode the events of a stream.
#[derive(Clone, Debug)]
pub struct StreamPlan {
    /// How to decode the header of an event.
    pub header: EventHeader,
    /// How to decode the events of each class. Where metadata grows, plans of before and after share them.
    pub classes: Vec<Arc<ClassPlan>>,
    /// The numbers of the classes, in the same order.
    pub indexes: Vec<ClassIndex>,
    /// The ids of the classes where they are not the classes' positions.
    ids: Option<Vec<u64>>,
    /// The times of the clock's counts.
    pub timebase: Timebase,
    /// Whether packet contexts must be decoded for the values that are wanted.
    pub needs_context: bool,
}

/// How to decode the events of a class.
#[derive(Debug)]
pub struct ClassPlan {
    pub class: Arc<EventClass>,
    /// Whether its events are handed to the consumer.
    pub is_wanted: bool,
    /// The fields that are wanted, as indexes into those of the class.
    pub fields: Box<[usize]>,
    /// How to decode them.
    pub plan: EventPlan,
}

impl StreamPlan {
    /// Plans for the events of a stream class. `context` are the members of its packet context that are fields of its
    /// events, `classes` its events' classes, in the same order, and `wanted` the fields that are wanted of them.
    pub fn new(
        metadata: &Metadata,
        stream: &StreamClass,
        context: &[usize],
        classes: &[Arc<EventClass>],
        wanted: &[Option<Wanted>],
    ) -> StreamPlan {
        let header = EventHeader::new(stream);
        let timebase = Timebase::new(stream.clock.as_ref());
        let mut plan = StreamPlan {
            header,
            classes: Vec::new(),
            indexes: Vec::new(),
            ids: None,
            timebase,
            needs_context: false,
        };
        plan.extend(metadata, stream, context, classes, wanted);
        plan
    }

    /// Adds plans for the last events of the stream class.
    pub fn extend(
        &mut self,
        metadata: &Metadata,
        stream: &StreamClass,
        context: &[usize],
        classes: &[Arc<EventClass>],
        wanted: &[Option<Wanted>],
    ) {
        let first = self.classes.len();
        let plans =
            stream.events[first..].iter().zip(classes).zip(wanted).map(|((layout, class), wanted)| {
                let fields = wanted.as_ref().map_or(&[][..], Wanted::indexes);
                let places = places(fields, class.fields.len());
                let scopes = [
                    (Scope::StreamContext, &stream.event_context),
                    (Scope::EventContext, &layout.context),
                    (Scope::Payload, &layout.payload),
                ];
                let scopes = scopes.into_iter().filter_map(|(scope, kind)| {
                    let kind = kind.as_ref()?;
                    Some((kind, targets(class, scope, kind, &places)))
                });
                let scopes: Vec<_> = scopes.collect();
                let constants = fields.iter().map(|&field| constant(metadata, context, class, field));
                let constants: Vec<_> = constants.collect();
                Arc::new(ClassPlan {
                    class: Arc::clone(class),
                    is_wanted: wanted.is_some(),
                    fields: fields.into(),
                    plan: EventPlan::new(&scopes, self.header.ends_at_a_byte(), constants),
                })
            });
        self.classes.extend(plans);
        self.indexes.extend(self.classes[first..].iter().map(|class| class.class.index));
        self.needs_context |= self.classes[first..].iter().any(|class| class.plan.needs_context());
        let is_dense = stream.events.iter().zip(0..).skip(first).all(|(event, id)| event.id == id);
        let ids = stream.events.iter().map(|event| event.id);
        match &mut self.ids {
            Some(known) => known.extend(ids.skip(first)),
            None if is_dense => {}
            none => *none = Some(ids.collect()),
        }
    }

    /// The position of the class with this id; for an unknown id, it may be past the last class.
    #[inline(always)]
    pub fn position(&self, id: u64) -> Option<usize> {
        match &self.ids {
            None => usize::try_from(id).ok(),
            Some(ids) => ids.binary_search(&id).ok(),
        }
    }
}

/// For each field of a class, where among the wanted fields it is.
fn places(wanted: &[usize], fields: usize) -> Vec<Option<usize>> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut places = vec![None; fields];
    for (place, &field) in wanted.iter().enumerate() {
        if let Some(of_field) = places.get_mut(field) {
            *of_field = Some(place);
        }
    }
    places
}

/// For each member of a scope, where among the wanted fields it is.
fn targets(class: &EventClass, scope: Scope, kind: &Type, places: &[Option<usize>]) -> Vec<Option<usize>> {
    let begin = class.fields.iter().position(|field| field.scope == scope).unwrap_or(usize::MAX);
    let places = places.get(begin..).unwrap_or_default();
    (0..kind.members().len()).map(|member| places.get(member).copied().flatten()).collect()
}

/// The value of a wanted field, if it does not change from event to event.
fn constant(metadata: &Metadata, context: &[usize], class: &EventClass, field: usize) -> Option<Constant> {
    match class.fields.get(field)?.scope {
        Scope::Environment => {
            metadata.environment.get(field).map(|(_, value)| Constant::Environment(value.clone()))
        }
        // These fields follow the environment's.
        Scope::Packet => context.get(field - metadata.environment.len()).copied().map(Constant::Packet),
        Scope::StreamContext | Scope::EventContext | Scope::Payload => None,
    }
}
