//! Fields with roles: what a packet's header and context and an event's header tell.
//!
//! They may be anywhere in structures, variants and optional fields, so the scope is stepped over field by field,
//! and each that has a role is handed on.

use super::bits::{Bits, Fault};
use super::general::{self, Slots};
use crate::metadata::{Role, Type};

/// A field with a role.
pub enum RoleField<'t> {
    /// A number.
    Number {
        /// What it tells.
        roles: &'t [Role],
        /// Its value.
        value: u64,
        /// How many bits it was given.
        size: u32,
        /// Whether all of its kind are given as many.
        is_fixed: bool,
    },
    /// The trace's UUID.
    Uuid(Vec<u8>),
}

/// Steps over a field, and hands on what has a role.
pub fn visit<'t>(
    kind: &'t Type,
    bits: &mut Bits<'_>,
    slots: &mut Slots,
    field: &mut impl FnMut(RoleField<'t>),
) -> Result<(), Fault> {
    bits.align(kind.align())?;
    match kind {
        Type::Integer(integer) | Type::Enum(integer, _) => {
            let value = i128::from(general::number(integer, bits, slots)?) as u64;
            if !integer.roles.is_empty() {
                field(RoleField::Number { roles: &integer.roles, value, size: integer.size, is_fixed: true });
            }
        }
        Type::Variable(integer) => {
            let (value, size) = general::variable(integer, bits, slots)?;
            if !integer.roles.is_empty() {
                let value = i128::from(value) as u64;
                field(RoleField::Number { roles: &integer.roles, value, size, is_fixed: false });
            }
        }
        Type::Struct(structure) => {
            structure.members.iter().try_for_each(|member| visit(&member.kind, bits, slots, field))?;
        }
        Type::Variant(variant) => {
            let member = variant.choose(slots[variant.tag]).ok_or(Fault::NoChoice)?;
            visit(&member.kind, bits, slots, field)?;
        }
        Type::Optional(optional) => {
            if optional.is_there(slots[optional.selector]) {
                visit(&optional.content, bits, slots, field)?;
            }
        }
        Type::Array(array) if array.is_uuid => match &*array.element {
            Type::Integer(byte) => {
                let bytes = (0..general::length(array, bits, slots)?).map(|_| {
                    bits.align(byte.align)?;
                    Ok(i128::from(general::number(byte, bits, slots)?) as u8)
                });
                field(RoleField::Uuid(bytes.collect::<Result<_, Fault>>()?));
            }
            _ => general::skip(kind, bits, slots)?,
        },
        other => general::skip(other, bits, slots)?,
    }
    Ok(())
}
