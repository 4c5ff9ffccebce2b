//! Values of fields.

use std::marker::PhantomData;
use std::slice;

use super::bindings::*;
use super::bt;
use super::class::{bytes_of, is, path};

/// A field of an event or a packet.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    field: *const bt_field,
    lifetime: PhantomData<&'a ()>,
}

impl Field<'_> {
    /// # Safety
    ///
    /// The pointer is null, or leads to a field that lives for `'a`.
    pub(super) unsafe fn from_raw(field: *const bt_field) -> Option<Self> {
        (!field.is_null()).then_some(Self { field, lifetime: PhantomData })
    }

    /// Appends its value as its class describes it: little-endian, in whole bytes.
    pub fn encode(self, bytes: &mut Vec<u8>) {
        // SAFETY: the field is alive.
        unsafe { encode(self.field, bytes) }
    }
}

/// Appends a field's value. What its class has before it (a length, a selector) where Babeltrace has no field for that goes first.
///
/// # Safety
///
/// The pointer leads to a field.
unsafe fn encode(field: *const bt_field, bytes: &mut Vec<u8>) {
    // SAFETY: each function is called for its type alone, and indexes are below their counts. A variant in a message has a
    // selected option.
    unsafe {
        let class = bt().bt_field_borrow_class_const(field);
        let kind = bt().bt_field_class_get_type(class);
        let size = || bytes_of(bt().bt_field_class_integer_get_field_value_range(class));
        match kind {
            _ if is(kind, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) => {
                bytes.extend(&bt().bt_field_integer_unsigned_get_value(field).to_le_bytes()[..size()]);
            }
            _ if is(kind, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) => {
                bytes.extend(&bt().bt_field_integer_signed_get_value(field).to_le_bytes()[..size()]);
            }
            BT_FIELD_CLASS_TYPE_STRING => {
                // 2.0.4 returns stale bytes for an empty one, so its length decides.
                let length = usize::try_from(bt().bt_field_string_get_length(field)).unwrap_or(0);
                if length > 0 {
                    let text = bt().bt_field_string_get_value(field).cast::<u8>();
                    bytes.extend(slice::from_raw_parts(text, length));
                }
                bytes.push(0);
            }
            BT_FIELD_CLASS_TYPE_STRUCTURE => {
                for index in 0..bt().bt_field_class_structure_get_member_count(class) {
                    encode(bt().bt_field_structure_borrow_member_field_by_index_const(field, index), bytes);
                }
            }
            BT_FIELD_CLASS_TYPE_BOOL => bytes.push((bt().bt_field_bool_get_value(field) != 0).into()),
            BT_FIELD_CLASS_TYPE_BIT_ARRAY => {
                let size = bytes_of(bt().bt_field_class_bit_array_get_length(class));
                bytes.extend(&bt().bt_field_bit_array_get_value_as_integer(field).to_le_bytes()[..size]);
            }
            BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL => {
                bytes.extend(bt().bt_field_real_single_precision_get_value(field).to_le_bytes());
            }
            BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL => {
                bytes.extend(bt().bt_field_real_double_precision_get_value(field).to_le_bytes());
            }
            _ if is(kind, BT_FIELD_CLASS_TYPE_ARRAY) => {
                let length = bt().bt_field_array_get_length(field);
                if kind != BT_FIELD_CLASS_TYPE_STATIC_ARRAY && path(class, kind).is_none() {
                    bytes.extend(length.to_le_bytes());
                }
                for index in 0..length {
                    encode(bt().bt_field_array_borrow_element_field_by_index_const(field, index), bytes);
                }
            }
            _ if is(kind, BT_FIELD_CLASS_TYPE_OPTION) => {
                let content = bt().bt_field_option_borrow_field_const(field);
                if path(class, kind).is_none() {
                    bytes.push((!content.is_null()).into());
                }
                if !content.is_null() {
                    encode(content, bytes);
                }
            }
            _ if is(kind, BT_FIELD_CLASS_TYPE_VARIANT) => {
                if path(class, kind).is_none() {
                    let index = bt().bt_field_variant_get_selected_option_index(field);
                    bytes.extend(index.to_le_bytes());
                }
                encode(bt().bt_field_variant_borrow_selected_option_field_const(field), bytes);
            }
            _ => {}
        }
    }
}
