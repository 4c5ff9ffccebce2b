//! Fields with roles, in packet headers, packet contexts and event headers.
//!
//! They may be anywhere in structures, variants and optional fields, so a scope is visited field by field.

use super::bits::{Bits, Fault};
use super::general::{self, Slots};
use crate::metadata::{Role, Type};

pub enum RoleField<'t> {
    Number {
        /// What it says about its packet or its event.
        roles: &'t [Role],
        value: u64,
        /// Its size in bits.
        size: u32,
        /// Whether all fields of its type have this size.
        is_fixed: bool,
    },
    /// The trace's UUID.
    Uuid(Vec<u8>),
}

/// Visits a field and what it contains, and hands each field that has a role to `field`.
pub fn visit<'t>(
    kind: &'t Type,
    bits: &mut Bits<'_>,
    slots: &mut Slots,
    field: &mut impl FnMut(RoleField<'t>),
) -> Result<(), Fault> {
    bits.align(kind.align())?;
    match kind {
        Type::Integer(integer) => {
            let (value, size) = general::number(integer, bits, slots)?;
            if !integer.roles.is_empty() {
                let (value, is_fixed) = (i128::from(value) as u64, integer.size.is_some());
                field(RoleField::Number { roles: &integer.roles, value, size, is_fixed });
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
            if optional.is_present(slots[optional.selector]) {
                visit(&optional.content, bits, slots, field)?;
            }
        }
        Type::Array(array) if array.is_uuid => match &*array.element {
            Type::Integer(byte) => {
                let bytes = (0..general::length(array, bits, slots)?).map(|_| {
                    bits.align(byte.align)?;
                    Ok(i128::from(general::number(byte, bits, slots)?.0) as u8)
                });
                field(RoleField::Uuid(bytes.collect::<Result<_, Fault>>()?));
            }
            _ => general::skip(kind, bits, slots)?,
        },
        other => general::skip(other, bits, slots)?,
    }
    Ok(())
}
