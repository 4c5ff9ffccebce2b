//! From Babeltrace's event classes to ours.

use ctf_reader::{Base, ClassIndex, Enumeration, EventClass, FieldClass, FieldKind, Scope};

use crate::ffi::{self, BtConstant, BtFieldType};

/// An event class, and how to read each of its fields.
pub struct ReadableClass {
    pub class: EventClass,
    /// One for each field of the class, in the same order.
    pub slots: Vec<FieldSlot>,
}

/// Where in an event a field stands, and how its values are built.
#[derive(Clone, Debug)]
pub struct FieldSlot {
    pub scope: Scope,
    /// The index within the scope's structure, or in the environment.
    pub member: usize,
    pub shape: ValueShape,
}

/// What must be known in addition to a field's value.
#[derive(Clone, Debug)]
pub enum ValueShape {
    /// Nothing: integers, floating-point numbers, text.
    Plain,
    Enumeration(Enumeration),
    List(Box<ValueShape>),
    Struct(Vec<(String, ValueShape)>),
    Variant(Vec<(String, ValueShape)>),
}

/// Translates an event class.
pub fn describe(
    class: ffi::BtEventClass<'_>,
    environment: &[(String, BtConstant)],
    index: ClassIndex,
    trace: usize,
) -> ReadableClass {
    let mut fields = Vec::new();
    let mut slots = Vec::new();
    for (member, (name, value)) in environment.iter().enumerate() {
        let kind = match value {
            BtConstant::Integer(_) => FieldKind::Integer,
            BtConstant::Text(_) => FieldKind::Text,
        };
        fields.push(FieldClass {
            name: name.as_str().into(),
            scope: Scope::Environment,
            kind,
            base: Base::Decimal,
        });
        slots.push(FieldSlot { scope: Scope::Environment, member, shape: ValueShape::Plain });
    }
    let structures = [
        (Scope::Packet, class.packet_context()),
        (Scope::StreamContext, class.common_context()),
        (Scope::EventContext, class.specific_context()),
        (Scope::Payload, class.payload()),
    ];
    for (scope, structure) in structures {
        let members = structure.map(ffi::BtStructureClass::members).unwrap_or_default();
        for (member, (name, class)) in members.into_iter().enumerate() {
            let (kind, shape) = shape(class);
            fields.push(FieldClass { name: name.into(), scope, kind, base: Base::Decimal });
            slots.push(FieldSlot { scope, member, shape });
        }
    }
    let class = EventClass {
        index,
        name: class.name(),
        log_level: class.log_level(),
        model_uri: class.model_uri(),
        fields: fields.into_iter().collect(),
        trace,
    };
    ReadableClass { class, slots }
}

fn shape(class: ffi::BtFieldClass<'_>) -> (FieldKind, ValueShape) {
    let named = |(name, class)| (name, shape(class).1);
    match class.view() {
        BtFieldType::Integer => (FieldKind::Integer, ValueShape::Plain),
        BtFieldType::Real => (FieldKind::Float, ValueShape::Plain),
        BtFieldType::Text => (FieldKind::Text, ValueShape::Plain),
        BtFieldType::Enumeration(class) => {
            (FieldKind::Enum, ValueShape::Enumeration(Enumeration { labels: class.labels() }))
        }
        BtFieldType::Structure(class) => {
            (FieldKind::Compound, ValueShape::Struct(class.members().into_iter().map(named).collect()))
        }
        BtFieldType::Array(element) => (FieldKind::Compound, ValueShape::List(Box::new(shape(element).1))),
        BtFieldType::Variant(options) => {
            (FieldKind::Compound, ValueShape::Variant(options.into_iter().map(named).collect()))
        }
        BtFieldType::Unknown => (FieldKind::Compound, ValueShape::Struct(Vec::new())),
    }
}
