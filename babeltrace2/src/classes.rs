//! From Babeltrace's event classes to ours.

use ctf_reader::{Base, ClassIndex, Enumeration, EventClass, FieldClass, FieldKind, Scope};

use crate::ffi::{self, Constant, FieldType};

/// An event class, and how to read each of its fields.
pub struct Described {
    pub class: EventClass,
    /// As many as the class has fields, in the same order.
    pub slots: Vec<Slot>,
}

/// Where in an event a field stands, and how its values are built.
#[derive(Clone, Debug)]
pub struct Slot {
    pub scope: Scope,
    /// The index within the scope's structure, or in the environment.
    pub member: usize,
    pub shape: Shape,
}

/// What must be known beside a field's value.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Nothing: integers, floating-point numbers, text.
    Plain,
    Enumeration(Enumeration),
    List(Box<Shape>),
    Struct(Vec<(String, Shape)>),
    Variant(Vec<(String, Shape)>),
}

/// Translates an event class.
pub fn describe(
    class: ffi::EventClass<'_>,
    environment: &[(String, Constant)],
    index: ClassIndex,
    trace: usize,
) -> Described {
    let mut fields = Vec::new();
    let mut slots = Vec::new();
    for (member, (name, value)) in environment.iter().enumerate() {
        let kind = match value {
            Constant::Integer(_) => FieldKind::Integer,
            Constant::Text(_) => FieldKind::Text,
        };
        fields.push(FieldClass {
            name: name.as_str().into(),
            scope: Scope::Environment,
            kind,
            base: Base::Decimal,
        });
        slots.push(Slot { scope: Scope::Environment, member, shape: Shape::Plain });
    }
    let structures = [
        (Scope::Packet, class.packet_context()),
        (Scope::StreamContext, class.common_context()),
        (Scope::EventContext, class.specific_context()),
        (Scope::Payload, class.payload()),
    ];
    for (scope, structure) in structures {
        let members = structure.map(ffi::StructureClass::members).unwrap_or_default();
        for (member, (name, class)) in members.into_iter().enumerate() {
            let (kind, shape) = shape(class);
            fields.push(FieldClass { name: name.into(), scope, kind, base: Base::Decimal });
            slots.push(Slot { scope, member, shape });
        }
    }
    let class = EventClass {
        index,
        name: class.name(),
        log_level: class.log_level(),
        fields: fields.into_iter().collect(),
        trace,
    };
    Described { class, slots }
}

fn shape(class: ffi::FieldClass<'_>) -> (FieldKind, Shape) {
    let named = |(name, class)| (name, shape(class).1);
    match class.view() {
        FieldType::Integer => (FieldKind::Integer, Shape::Plain),
        FieldType::Real => (FieldKind::Float, Shape::Plain),
        FieldType::Text => (FieldKind::Text, Shape::Plain),
        FieldType::Enumeration(class) => {
            (FieldKind::Enum, Shape::Enumeration(Enumeration { labels: class.labels() }))
        }
        FieldType::Structure(class) => {
            (FieldKind::Compound, Shape::Struct(class.members().into_iter().map(named).collect()))
        }
        FieldType::Array(element) => (FieldKind::Compound, Shape::List(Box::new(shape(element).1))),
        FieldType::Variant(options) => {
            (FieldKind::Compound, Shape::Variant(options.into_iter().map(named).collect()))
        }
        FieldType::Unknown => (FieldKind::Compound, Shape::Struct(Vec::new())),
    }
}
