//! The general path: a field of any type that metadata can describe, decoded bit by bit if necessary.
//! [Plans](super::event_plan) use it for what they have no shortcut for.

use super::bits::{Bits, Fault, sign_extend};
use crate::metadata::{ArrayType, IntegerType, Length, Type};
use crate::{Integer, List, Value};

/// The values that lengths and variants refer to.
pub type Slots = [i128];

/// Decodes a field.
pub fn value<'a>(kind: &'a Type, bits: &mut Bits<'a>, slots: &mut Slots) -> Result<Value<'a>, Fault> {
    bits.align(kind.align())?;
    Ok(match kind {
        Type::Integer(integer) => match (number(integer, bits, slots)?.0, &integer.labels) {
            (value, Some(labels)) => Value::Enum(value, labels),
            (value, None) if integer.is_boolean => Value::Bool(i128::from(value) != 0),
            (Integer::Unsigned(value), None) => Value::Unsigned(value),
            (Integer::Signed(value), None) => Value::Signed(value),
        },
        Type::Float(float) => {
            let raw = bits.integer(float.size, float.order)?;
            Value::Float(match float.size {
                16 => half(raw as u16),
                32 => f32::from_bits(raw as u32).into(),
                _ => f64::from_bits(raw),
            })
        }
        Type::Text => Value::Text(bits.text()?),
        Type::Struct(structure) => {
            let members = structure.members.iter();
            let values = members.map(|member| Ok((&*member.label, value(&member.kind, bits, slots)?)));
            Value::Struct(values.collect::<Result<_, Fault>>()?)
        }
        Type::Variant(variant) => {
            let member = variant.choose(slots[variant.tag]).ok_or(Fault::NoChoice)?;
            Value::Struct(vec![(&*member.label, value(&member.kind, bits, slots)?)])
        }
        Type::Optional(optional) => {
            let is_present = optional.is_present(slots[optional.selector]);
            let content = is_present.then(|| value(&optional.content, bits, slots)).transpose()?;
            Value::List(Vec::from_iter(content).into())
        }
        Type::Array(array) => {
            let length = length(array, bits, slots)?;
            if kind.is_text_array() {
                let length = usize::try_from(length).map_err(|_| Fault::Short)?;
                return Ok(Value::Text(until_nul(bits.bytes(length)?)));
            }
            let mut elements = Vec::new();
            for passed in 0..length {
                let before = bits.at();
                if !bits.take_element() {
                    skip_elements(array, length - passed, bits, slots)?;
                    break;
                }
                elements.push(value(&array.element, bits, slots)?);
                bits.check_progress(before)?;
            }
            Value::List(List { elements, length })
        }
    })
}

/// Steps over a field, and keeps what others refer to.
pub fn skip(kind: &Type, bits: &mut Bits<'_>, slots: &mut Slots) -> Result<(), Fault> {
    bits.align(kind.align())?;
    match kind {
        Type::Integer(integer) => {
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
        Type::Optional(optional) => {
            if optional.is_present(slots[optional.selector]) {
                skip(&optional.content, bits, slots)?;
            }
        }
        Type::Array(array) => {
            let length = length(array, bits, slots)?;
            skip_elements(array, length, bits, slots)?;
        }
    }
    Ok(())
}

/// Steps over elements of an array.
fn skip_elements(array: &ArrayType, count: u64, bits: &mut Bits<'_>, slots: &mut Slots) -> Result<(), Fault> {
    if let Some(size) = packed_size(&array.element) {
        return bits.skip(count.checked_mul(size.into()).ok_or(Fault::Short)?);
    }
    for _ in 0..count {
        let before = bits.at();
        skip(&array.element, bits, slots)?;
        bits.check_progress(before)?;
    }
    Ok(())
}

/// Decodes an integer, and keeps it if others refer to it. Returns its size in bits too.
pub fn number(
    integer: &IntegerType,
    bits: &mut Bits<'_>,
    slots: &mut Slots,
) -> Result<(Integer, u32), Fault> {
    let (raw, size) = match integer.size {
        Some(size) => (bits.integer(size, integer.order)?, size),
        None => bits.leb128(integer.signed)?,
    };
    let value = if integer.signed { Integer::Signed(sign_extend(raw, size)) } else { Integer::Unsigned(raw) };
    if let Some(slot) = integer.slot {
        slots[slot] = value.into();
    }
    Ok((value, size))
}

/// A floating-point number in 16 bits: a sign, 5 bits of exponent, 10 of fraction.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1F), f64::from(bits & 0x3FF));
    let size = match exponent {
        0 => fraction * 2_f64.powi(-24),
        0x1F if fraction == 0.0 => f64::INFINITY,
        0x1F => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 0 { size } else { -size }
}

/// Text up to its first NUL.
#[inline]
pub fn until_nul(text: &[u8]) -> &[u8] {
    &text[..memchr::memchr(0, text).unwrap_or(text.len())]
}

/// The length of an array or a sequence, if the elements can fit into the bits that are left.
pub fn length(array: &ArrayType, bits: &Bits<'_>, slots: &Slots) -> Result<u64, Fault> {
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
        Type::Integer(integer) => (integer.size?, integer.align),
        Type::Float(float) => (float.size, float.align),
        _ => return None,
    };
    (size % align == 0).then_some(size)
}

/// The least number of bits that a field of this type takes.
fn smallest_size(kind: &Type) -> u64 {
    match kind {
        Type::Integer(integer) => integer.size.unwrap_or(8).into(),
        Type::Float(float) => float.size.into(),
        Type::Text => 8,
        Type::Optional(_) => 0,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floating_point_numbers_of_16_bits_are_ieees() {
        let numbers = [0x3C00, 0xC000, 0x0001, 0x7BFF, 0x3555, 0x8000].map(half);
        assert_eq!(numbers, [1.0, -2.0, 5.960464477539063e-8, 65504.0, 0.333251953125, 0.0]);
        assert_eq!([0x7C00, 0xFC00].map(half), [f64::INFINITY, f64::NEG_INFINITY]);
        assert!(half(0x7E00).is_nan() && half(0x8000).is_sign_negative());
    }
}
