//! Values of fields.

use std::marker::PhantomData;
use std::slice;

use super::bindings::*;
use super::bt;

/// A field of an event or a packet.
///
/// Its methods are for fields of the shape that they are named after: whoever calls them has the shape of the field's class. The
/// library aborts the process otherwise.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    field: *const bt_field,
    lifetime: PhantomData<&'a ()>,
}

impl<'a> Field<'a> {
    /// # Safety
    ///
    /// The pointer is null, or leads to a field that lives for `'a`.
    pub(super) unsafe fn from_raw(field: *const bt_field) -> Option<Self> {
        (!field.is_null()).then_some(Self { field, lifetime: PhantomData })
    }

    /// The same for one that the library never leaves out.
    ///
    /// # Safety
    ///
    /// The pointer leads to a field that lives for `'a`.
    unsafe fn within(field: *const bt_field) -> Self {
        Self { field, lifetime: PhantomData }
    }

    /// Of a boolean.
    pub fn boolean(self) -> bool {
        // SAFETY: the field is alive; see the type for the rest, here and below.
        unsafe { bt().bt_field_bool_get_value(self.field) != 0 }
    }

    /// Of an unsigned integer, or of an array of bits.
    pub fn unsigned(self) -> u64 {
        // SAFETY: the field is alive, and the function is the one for its type.
        unsafe {
            match bt().bt_field_get_class_type(self.field) {
                BT_FIELD_CLASS_TYPE_BIT_ARRAY => bt().bt_field_bit_array_get_value_as_integer(self.field),
                _ => bt().bt_field_integer_unsigned_get_value(self.field),
            }
        }
    }

    /// Of a signed integer.
    pub fn signed(self) -> i64 {
        // SAFETY: the field is alive.
        unsafe { bt().bt_field_integer_signed_get_value(self.field) }
    }

    /// Of a number of 32 bits.
    pub fn single(self) -> f32 {
        // SAFETY: the field is alive.
        unsafe { bt().bt_field_real_single_precision_get_value(self.field) }
    }

    /// Of a number of 64 bits.
    pub fn double(self) -> f64 {
        // SAFETY: the field is alive.
        unsafe { bt().bt_field_real_double_precision_get_value(self.field) }
    }

    /// Of text. 2.0.4 returns stale bytes for an empty one, so its length decides.
    pub fn text(self) -> &'a [u8] {
        // SAFETY: the field is alive, and has this number of bytes until its message goes.
        unsafe {
            let length = usize::try_from(bt().bt_field_string_get_length(self.field)).unwrap_or(0);
            if length == 0 {
                return &[];
            }
            slice::from_raw_parts(bt().bt_field_string_get_value(self.field).cast(), length)
        }
    }

    /// A member of a structure, below the number that its class has.
    pub fn member(self, index: u64) -> Field<'a> {
        // SAFETY: the field is alive.
        unsafe {
            Field::within(bt().bt_field_structure_borrow_member_field_by_index_const(self.field, index))
        }
    }

    /// The number of elements of an array.
    pub fn length(self) -> u64 {
        // SAFETY: the field is alive.
        unsafe { bt().bt_field_array_get_length(self.field) }
    }

    /// An element of an array, below its length.
    pub fn element(self, index: u64) -> Field<'a> {
        // SAFETY: the field is alive.
        unsafe { Field::within(bt().bt_field_array_borrow_element_field_by_index_const(self.field, index)) }
    }

    /// The content of an option, if it has one.
    pub fn content(self) -> Option<Field<'a>> {
        // SAFETY: the field is alive.
        unsafe { Field::from_raw(bt().bt_field_option_borrow_field_const(self.field)) }
    }

    /// The selected option of a variant, and its position.
    pub fn selected(self) -> (u64, Field<'a>) {
        // SAFETY: the field is alive, and a variant in a message has a selected option.
        unsafe {
            let index = bt().bt_field_variant_get_selected_option_index(self.field);
            (index, Field::within(bt().bt_field_variant_borrow_selected_option_field_const(self.field)))
        }
    }
}
