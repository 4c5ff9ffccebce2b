//! Fields: the values of one event.

use std::marker::PhantomData;
use std::slice;

use super::bindings::*;
use super::class::is;
use ctf_reader::Integer;

/// A field of an event.
#[derive(Clone, Copy)]
pub struct BtField<'a> {
    field: *const bt_field,
    lifetime: PhantomData<&'a ()>,
}

/// The value of a field.
pub enum FieldView<'a> {
    /// An integer, an enumeration's value, or a truth value.
    Integer(Integer),
    /// A floating-point number.
    Real(f64),
    /// Text up to its first NUL.
    Text(&'a [u8]),
    /// A structure.
    Structure,
    /// An array with its number of elements.
    Array(usize),
    /// A variant's chosen option, by its index.
    Variant(usize, BtField<'a>),
    /// None that CTF 1.8 has.
    Unknown,
}

impl<'a> BtField<'a> {
    /// # Safety
    ///
    /// The pointer is null, or leads to a field that lives for `'a`.
    pub(super) unsafe fn from_raw(field: *const bt_field) -> Option<Self> {
        (!field.is_null()).then_some(Self { field, lifetime: PhantomData })
    }

    /// Its value.
    pub fn view(self) -> FieldView<'a> {
        // SAFETY: the field is alive, and each function is called for its type alone.
        unsafe {
            let kind = bt_field_get_class_type(self.field);
            if is(kind, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) {
                FieldView::Integer(Integer::Unsigned(bt_field_integer_unsigned_get_value(self.field)))
            } else if is(kind, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) {
                FieldView::Integer(Integer::Signed(bt_field_integer_signed_get_value(self.field)))
            } else if kind == BT_FIELD_CLASS_TYPE_STRING {
                FieldView::Text(self.text())
            } else if kind == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL {
                FieldView::Real(bt_field_real_double_precision_get_value(self.field))
            } else if kind == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL {
                FieldView::Real(bt_field_real_single_precision_get_value(self.field).into())
            } else if kind == BT_FIELD_CLASS_TYPE_BOOL {
                FieldView::Integer(Integer::Unsigned(u64::from(bt_field_bool_get_value(self.field) != 0)))
            } else if kind == BT_FIELD_CLASS_TYPE_STRUCTURE {
                FieldView::Structure
            } else if is(kind, BT_FIELD_CLASS_TYPE_ARRAY) {
                FieldView::Array(usize::try_from(bt_field_array_get_length(self.field)).unwrap_or(0))
            } else if is(kind, BT_FIELD_CLASS_TYPE_VARIANT) {
                let index = bt_field_variant_get_selected_option_index(self.field);
                let chosen =
                    BtField::from_raw(bt_field_variant_borrow_selected_option_field_const(self.field));
                match (usize::try_from(index), chosen) {
                    (Ok(index), Some(chosen)) => FieldView::Variant(index, chosen),
                    _ => FieldView::Unknown,
                }
            } else {
                FieldView::Unknown
            }
        }
    }

    /// A structure's member.
    pub fn member(self, index: usize) -> Option<BtField<'a>> {
        // SAFETY: the field is a structure, and the index is below its number of members.
        unsafe {
            let structure = bt_field_get_class_type(self.field) == BT_FIELD_CLASS_TYPE_STRUCTURE;
            if !structure || index >= self.member_count() {
                return None;
            }
            let index = u64::try_from(index).ok()?;
            BtField::from_raw(bt_field_structure_borrow_member_field_by_index_const(self.field, index))
        }
    }

    /// An array's element.
    pub fn element(self, index: usize) -> Option<BtField<'a>> {
        let index = u64::try_from(index).ok()?;
        // SAFETY: the field is an array, and the index is below its length.
        unsafe {
            let array = is(bt_field_get_class_type(self.field), BT_FIELD_CLASS_TYPE_ARRAY);
            if !array || index >= bt_field_array_get_length(self.field) {
                return None;
            }
            BtField::from_raw(bt_field_array_borrow_element_field_by_index_const(self.field, index))
        }
    }

    /// # Safety
    ///
    /// The field is a structure.
    unsafe fn member_count(self) -> usize {
        // SAFETY: the caller vouches for the type.
        let count =
            unsafe { bt_field_class_structure_get_member_count(bt_field_borrow_class_const(self.field)) };
        usize::try_from(count).unwrap_or(0)
    }

    /// # Safety
    ///
    /// The field is a string.
    unsafe fn text(self) -> &'a [u8] {
        // SAFETY: the caller vouches for the type; the value has `length` bytes and lives as long as the field.
        let bytes = unsafe {
            // In 2.0.4 an empty string's value is the former one, so its length decides.
            let length = usize::try_from(bt_field_string_get_length(self.field)).unwrap_or(0);
            let value = bt_field_string_get_value(self.field);
            if length == 0 || value.is_null() {
                return &[];
            }
            slice::from_raw_parts(value.cast::<u8>(), length)
        };
        bytes.iter().position(|&byte| byte == 0).map_or(bytes, |end| &bytes[..end])
    }
}
