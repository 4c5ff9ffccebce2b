//! One field of any type, the general way: whatever the metadata can describe is decoded here, bit by bit
//! if need be. [Plans](super::plan) use it for what they have no shortcut for.

use super::bits::{Bits, Fault, sign_extend};
use super::metadata::{Array, Integer, Length, Type};
use crate::source::{Integer as Number, Value};

/// The values that lengths and variants refer to.
pub type Slots = [i128];

/// Decodes a field.
pub fn value<'a>(kind: &'a Type, bits: &mut Bits<'a>, slots: &mut Slots) -> Result<Value<'a>, Fault> {
    bits.align(kind.align())?;
    Ok(match kind {
        Type::Integer(integer) => match number(integer, bits, slots)? {
            Number::Unsigned(value) => Value::Unsigned(value),
            Number::Signed(value) => Value::Signed(value),
        },
        Type::Enum(integer, labels) => Value::Enum(number(integer, bits, slots)?, labels),
        Type::Float(float) => {
            let raw = bits.integer(float.size, float.order)?;
            Value::Float(if float.size == 32 {
                f32::from_bits(raw as u32).into()
            } else {
                f64::from_bits(raw)
            })
        }
        Type::Text => Value::Text(bits.text()?),
        Type::Struct(structure) => {
            let members = structure.members.iter();
            let values = members.map(|member| Ok((member.label(), value(&member.kind, bits, slots)?)));
            Value::Struct(values.collect::<Result<_, Fault>>()?)
        }
        Type::Variant(variant) => {
            let member = variant.choose(slots[variant.tag]).ok_or(Fault::NoChoice)?;
            Value::Struct(vec![(member.label(), value(&member.kind, bits, slots)?)])
        }
        Type::Array(array) => {
            let length = length(array, bits, slots)?;
            if kind.is_text_array() {
                let length = usize::try_from(length).map_err(|_| Fault::Short)?;
                return Ok(Value::Text(until_nul(bits.bytes(length)?)));
            }
            let mut values = Vec::new();
            for _ in 0..length {
                let before = bits.at();
                values.push(value(&array.element, bits, slots)?);
                bits.check_progress(before)?;
            }
            Value::List(values)
        }
    })
}

/// Steps over a field, and keeps what others refer to.
pub fn skip(kind: &Type, bits: &mut Bits<'_>, slots: &mut Slots) -> Result<(), Fault> {
    bits.align(kind.align())?;
    match kind {
        Type::Integer(integer) | Type::Enum(integer, _) => {
            number(integer, bits, slots)?;
        }
        Type::Float(float) => bits.skip(float.size.into())?,
        Type::Text => {
            bits.text()?;
        }
        Type::Struct(structure) => {
            for member in &structure.members {
                skip(&member.kind, bits, slots)?;
            }
        }
        Type::Variant(variant) => {
            let member = variant.choose(slots[variant.tag]).ok_or(Fault::NoChoice)?;
            skip(&member.kind, bits, slots)?;
        }
        Type::Array(array) => {
            let length = length(array, bits, slots)?;
            match packed_size(&array.element) {
                Some(size) => bits.skip(length.checked_mul(size.into()).ok_or(Fault::Short)?)?,
                None => {
                    for _ in 0..length {
                        let before = bits.at();
                        skip(&array.element, bits, slots)?;
                        bits.check_progress(before)?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Decodes an integer, and keeps it if others refer to it.
pub fn number(integer: &Integer, bits: &mut Bits<'_>, slots: &mut Slots) -> Result<Number, Fault> {
    let raw = bits.integer(integer.size, integer.order)?;
    let value =
        if integer.signed { Number::Signed(sign_extend(raw, integer.size)) } else { Number::Unsigned(raw) };
    if let Some(slot) = integer.slot {
        slots[slot] = value.into();
    }
    Ok(value)
}

/// Text up to its first NUL.
pub fn until_nul(text: &[u8]) -> &[u8] {
    &text[..memchr::memchr(0, text).unwrap_or(text.len())]
}

/// The length of an array or a sequence: so many elements that they may fit into what is left.
pub fn length(array: &Array, bits: &Bits<'_>, slots: &Slots) -> Result<u64, Fault> {
    let length = match array.length {
        Length::Fixed(length) => length,
        Length::Slot(slot) => u64::try_from(slots[slot]).map_err(|_| Fault::BadLength)?,
    };
    match (bits.left() as u64).checked_div(smallest_size(&array.element)) {
        Some(room) if length > room => Err(Fault::Short),
        _ => Ok(length),
    }
}

/// The size in bits that elements of this type have one after the other, if none has padding.
pub fn packed_size(kind: &Type) -> Option<u32> {
    let (size, align) = match kind {
        Type::Integer(integer) | Type::Enum(integer, _) => (integer.size, integer.align),
        Type::Float(float) => (float.size, float.align),
        _ => return None,
    };
    size.is_multiple_of(align).then_some(size)
}

/// The least number of bits that a field of this type takes.
fn smallest_size(kind: &Type) -> u64 {
    match kind {
        Type::Integer(integer) | Type::Enum(integer, _) => integer.size.into(),
        Type::Float(float) => float.size.into(),
        Type::Text => 8,
        Type::Struct(structure) => {
            let sizes = structure.members.iter().map(|member| smallest_size(&member.kind));
            sizes.fold(0, u64::saturating_add)
        }
        Type::Variant(variant) => {
            variant.members.iter().map(|member| smallest_size(&member.kind)).min().unwrap_or(0)
        }
        Type::Array(array) => match array.length {
            Length::Fixed(length) => length.saturating_mul(smallest_size(&array.element)),
            Length::Slot(_) => 0,
        },
    }
}
