//! From Babeltrace's fields to values.

use ctf_reader::{Integer, Scope, Value};

use crate::classes::{FieldSlot, ValueShape};
use crate::ffi::{BtConstant, BtEvent, BtField, FieldView};

/// Appends the values of an event's fields.
pub fn read<'a>(
    slots: &'a [FieldSlot],
    environment: &'a [(String, BtConstant)],
    event: BtEvent<'a>,
    values: &mut Vec<Value<'a>>,
) {
    values.extend(slots.iter().map(|slot| {
        let structure = match slot.scope {
            Scope::Environment => return constant(environment, slot.member),
            Scope::Packet => event.packet_context(),
            Scope::StreamContext => event.common_context(),
            Scope::EventContext => event.specific_context(),
            Scope::Payload => event.payload(),
        };
        let field = structure.and_then(|structure| structure.member(slot.member));
        field.map_or(absent(), |field| value(field, &slot.shape))
    }));
}

fn constant(environment: &[(String, BtConstant)], member: usize) -> Value<'_> {
    match environment.get(member) {
        Some((_, BtConstant::Integer(value))) => Value::Signed(*value),
        Some((_, BtConstant::Text(text))) => Value::Text(text.as_bytes()),
        None => absent(),
    }
}

/// What stands for a field that its class promised but the event lacks.
fn absent<'a>() -> Value<'a> {
    Value::Struct(Vec::new())
}

fn value<'a>(field: BtField<'a>, shape: &'a ValueShape) -> Value<'a> {
    match (field.view(), shape) {
        (FieldView::Integer(value), ValueShape::Enumeration(labels)) => Value::Enum(value, labels),
        (FieldView::Integer(Integer::Unsigned(value)), _) => Value::Unsigned(value),
        (FieldView::Integer(Integer::Signed(value)), _) => Value::Signed(value),
        (FieldView::Real(value), _) => Value::Float(value),
        (FieldView::Text(text), _) => Value::Text(text),
        (FieldView::Array(length), ValueShape::List(element)) => {
            let elements = (0..length).filter_map(|index| field.element(index));
            Value::List(elements.map(|field| value(field, element)).collect::<Vec<_>>().into())
        }
        (FieldView::Structure, ValueShape::Struct(members)) => {
            let members = members.iter().enumerate();
            let named = members.filter_map(|(index, (name, shape))| {
                Some((name.as_str(), value(field.member(index)?, shape)))
            });
            Value::Struct(named.collect())
        }
        (FieldView::Variant(index, chosen), ValueShape::Variant(options)) => {
            let option = options.get(index);
            Value::Struct(
                option.map(|(name, shape)| (name.as_str(), value(chosen, shape))).into_iter().collect(),
            )
        }
        _ => absent(),
    }
}
