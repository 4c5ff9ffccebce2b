//! Values of fields to bytes: little-endian, whole bytes, in the order of the metadata.

use crate::ffi::Field;
use crate::shape::{Integer, Shape};

/// The size of an integer of this range, in bytes.
pub fn bytes_of(integer: &Integer) -> usize {
    match integer.bits {
        ..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        _ => 8,
    }
}

/// Appends the value of a field of this shape. What the metadata describes before it (a length, a selector) where Babeltrace
/// has no field for that goes first.
pub fn encode(shape: &Shape, field: Field<'_>, bytes: &mut Vec<u8>) {
    match shape {
        Shape::Boolean => bytes.push(field.boolean().into()),
        Shape::Unsigned(integer) => bytes.extend(&field.unsigned().to_le_bytes()[..bytes_of(integer)]),
        Shape::Signed(integer) => bytes.extend(&field.signed().to_le_bytes()[..bytes_of(integer)]),
        Shape::Single => bytes.extend(field.single().to_le_bytes()),
        Shape::Double => bytes.extend(field.double().to_le_bytes()),
        Shape::Text => {
            bytes.extend(field.text());
            bytes.push(0);
        }
        Shape::Structure(members) => {
            for (member, index) in members.iter().zip(0..) {
                encode(&member.shape, field.member(index), bytes);
            }
        }
        Shape::Array { element, .. } => elements(element, field, bytes),
        Shape::Sequence { length, element } => {
            if length.is_none() {
                bytes.extend(field.length().to_le_bytes());
            }
            elements(element, field, bytes);
        }
        Shape::Optional { selector, content } => {
            let value = field.content();
            if selector.is_none() {
                bytes.push(value.is_some().into());
            }
            if let Some(value) = value {
                encode(content, value, bytes);
            }
        }
        Shape::Variant { selector, options } => {
            let (index, value) = field.selected();
            if selector.is_none() {
                bytes.extend(index.to_le_bytes());
            }
            if let Some((option, _)) = usize::try_from(index).ok().and_then(|index| options.get(index)) {
                encode(&option.shape, value, bytes);
            }
        }
    }
}

fn elements(element: &Shape, field: Field<'_>, bytes: &mut Vec<u8>) {
    (0..field.length()).for_each(|index| encode(element, field.element(index), bytes));
}
