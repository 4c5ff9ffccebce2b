//! Classes of fields, as plain data.

use super::bindings::*;
use super::{bt, text};
use crate::shape::{Integer, Location, Member, Ranges, Scope, Shape};

/// The shape of a scope's fields; null has none.
///
/// # Safety
///
/// The pointer is null, or leads to a class.
pub unsafe fn scope(class: *const bt_field_class) -> Option<Shape> {
    // SAFETY: the caller vouches for it.
    (!class.is_null()).then(|| unsafe { shape(class) })
}

/// # Safety
///
/// The pointer leads to a class.
unsafe fn shape(class: *const bt_field_class) -> Shape {
    // SAFETY: each function is called for its type alone.
    unsafe {
        let kind = bt().bt_field_class_get_type(class);
        if is(kind, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) {
            Shape::Unsigned(integer(class, kind))
        } else if is(kind, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) {
            Shape::Signed(integer(class, kind))
        } else if kind == BT_FIELD_CLASS_TYPE_BOOL {
            Shape::Boolean
        } else if kind == BT_FIELD_CLASS_TYPE_BIT_ARRAY {
            let bits = bt().bt_field_class_bit_array_get_length(class);
            Shape::Unsigned(Integer { bits, base: 16, labels: Vec::new() })
        } else if kind == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL {
            Shape::Single
        } else if kind == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL {
            Shape::Double
        } else if kind == BT_FIELD_CLASS_TYPE_STRUCTURE {
            let count = bt().bt_field_class_structure_get_member_count(class);
            Shape::Structure((0..count).map(|index| member(class, index)).collect())
        } else if is(kind, BT_FIELD_CLASS_TYPE_ARRAY) {
            array(class, kind)
        } else if is(kind, BT_FIELD_CLASS_TYPE_OPTION) {
            optional(class, kind)
        } else if is(kind, BT_FIELD_CLASS_TYPE_VARIANT) {
            variant(class, kind)
        } else {
            Shape::Text
        }
    }
}

/// Whether a type is another one, or a kind of it: what the header's inline function does.
fn is(kind: bt_field_class_type, other: bt_field_class_type) -> bool {
    kind.0 & other.0 == other.0
}

/// Ranges of one sign: the same functions under two names. The casts are those of the header's inline functions.
macro_rules! ranges {
    ($set:expr, $range:ident, $lower:ident, $upper:ident) => {{
        let set = $set;
        let range = |index| {
            let range = bt().$range(set, index);
            (bt().$lower(range).into(), bt().$upper(range).into())
        };
        (0..bt().bt_integer_range_set_get_range_count(set.cast())).map(range).collect()
    }};
}

/// # Safety
///
/// The pointer leads to a set.
unsafe fn unsigned_ranges(set: *const bt_integer_range_set_unsigned) -> Ranges {
    // SAFETY: the caller vouches for the set; indexes are below its count.
    unsafe {
        ranges!(
            set,
            bt_integer_range_set_unsigned_borrow_range_by_index_const,
            bt_integer_range_unsigned_get_lower,
            bt_integer_range_unsigned_get_upper
        )
    }
}

/// # Safety
///
/// The pointer leads to a set.
unsafe fn signed_ranges(set: *const bt_integer_range_set_signed) -> Ranges {
    // SAFETY: the caller vouches for the set; indexes are below its count.
    unsafe {
        ranges!(
            set,
            bt_integer_range_set_signed_borrow_range_by_index_const,
            bt_integer_range_signed_get_lower,
            bt_integer_range_signed_get_upper
        )
    }
}

/// # Safety
///
/// The class is an integer's.
unsafe fn integer(class: *const bt_field_class, kind: bt_field_class_type) -> Integer {
    // SAFETY: enumerations are asked only if it is one, by their sign, with indexes below their count.
    unsafe {
        let label = |index| {
            if is(kind, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) {
                let mapping =
                    bt().bt_field_class_enumeration_signed_borrow_mapping_by_index_const(class, index);
                let ranges = bt().bt_field_class_enumeration_signed_mapping_borrow_ranges_const(mapping);
                let label = bt().bt_field_class_enumeration_mapping_get_label(mapping.cast());
                (text(label), signed_ranges(ranges))
            } else {
                let mapping =
                    bt().bt_field_class_enumeration_unsigned_borrow_mapping_by_index_const(class, index);
                let ranges = bt().bt_field_class_enumeration_unsigned_mapping_borrow_ranges_const(mapping);
                let label = bt().bt_field_class_enumeration_mapping_get_label(mapping.cast());
                (text(label), unsigned_ranges(ranges))
            }
        };
        let labels = match is(kind, BT_FIELD_CLASS_TYPE_ENUMERATION) {
            true => (0..bt().bt_field_class_enumeration_get_mapping_count(class)).map(label).collect(),
            false => Vec::new(),
        };
        Integer {
            bits: bt().bt_field_class_integer_get_field_value_range(class),
            base: bt().bt_field_class_integer_get_preferred_display_base(class).0.into(),
            labels,
        }
    }
}

/// # Safety
///
/// The class is a structure's, and the index below its count.
unsafe fn member(class: *const bt_field_class, index: u64) -> Member {
    // SAFETY: the caller vouches for both.
    unsafe {
        let member = bt().bt_field_class_structure_borrow_member_by_index_const(class, index);
        Member {
            name: text(bt().bt_field_class_structure_member_get_name(member)),
            shape: shape(bt().bt_field_class_structure_member_borrow_field_class_const(member)),
        }
    }
}

/// # Safety
///
/// The class is an array's.
unsafe fn array(class: *const bt_field_class, kind: bt_field_class_type) -> Shape {
    // SAFETY: each function is called for its type alone.
    unsafe {
        let element = Box::new(shape(bt().bt_field_class_array_borrow_element_field_class_const(class)));
        if kind == BT_FIELD_CLASS_TYPE_STATIC_ARRAY {
            return Shape::Array { length: bt().bt_field_class_array_static_get_length(class), element };
        }
        let length = is(kind, BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITH_LENGTH_FIELD).then(|| {
            bt().bt_field_class_array_dynamic_with_length_field_borrow_length_field_path_const(class)
        });
        Shape::Sequence { length: length.and_then(|path| location(path)), element }
    }
}

/// # Safety
///
/// The class is an option's.
unsafe fn optional(class: *const bt_field_class, kind: bt_field_class_type) -> Shape {
    // SAFETY: each function is called for its type alone.
    unsafe {
        let content = Box::new(shape(bt().bt_field_class_option_borrow_field_class_const(class)));
        let values = if kind == BT_FIELD_CLASS_TYPE_OPTION_WITH_BOOL_SELECTOR_FIELD {
            let is_reversed =
                bt().bt_field_class_option_with_selector_field_bool_selector_is_reversed(class) != 0;
            Some(if is_reversed { vec![(0, 0)] } else { vec![(1, u64::MAX.into())] })
        } else if kind == BT_FIELD_CLASS_TYPE_OPTION_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD {
            let set = bt()
                .bt_field_class_option_with_selector_field_integer_unsigned_borrow_selector_ranges_const(
                    class,
                );
            Some(unsigned_ranges(set))
        } else if kind == BT_FIELD_CLASS_TYPE_OPTION_WITH_SIGNED_INTEGER_SELECTOR_FIELD {
            let set = bt()
                .bt_field_class_option_with_selector_field_integer_signed_borrow_selector_ranges_const(class);
            Some(signed_ranges(set))
        } else {
            None
        };
        let selector = values.and_then(|values| {
            let path = bt().bt_field_class_option_with_selector_field_borrow_selector_field_path_const(class);
            Some((location(path)?, values))
        });
        Shape::Optional { selector, content }
    }
}

/// # Safety
///
/// The class is a variant's.
unsafe fn variant(class: *const bt_field_class, kind: bt_field_class_type) -> Shape {
    // SAFETY: each function is called for its type alone, with indexes below the count. The options of a variant with a selector
    // are options with ranges, as the header's inline functions have it.
    unsafe {
        let is_unsigned = kind == BT_FIELD_CLASS_TYPE_VARIANT_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD;
        let is_signed = kind == BT_FIELD_CLASS_TYPE_VARIANT_WITH_SIGNED_INTEGER_SELECTOR_FIELD;
        let option = |index| {
            let option = bt().bt_field_class_variant_borrow_option_by_index_const(class, index);
            let member = Member {
                name: text(bt().bt_field_class_variant_option_get_name(option)),
                shape: shape(bt().bt_field_class_variant_option_borrow_field_class_const(option)),
            };
            let ranges = if is_unsigned {
                let option = bt()
                    .bt_field_class_variant_with_selector_field_integer_unsigned_borrow_option_by_index_const(
                        class, index,
                    );
                unsigned_ranges(
                    bt().bt_field_class_variant_with_selector_field_integer_unsigned_option_borrow_ranges_const(option),
                )
            } else if is_signed {
                let option = bt()
                    .bt_field_class_variant_with_selector_field_integer_signed_borrow_option_by_index_const(
                        class, index,
                    );
                signed_ranges(
                    bt().bt_field_class_variant_with_selector_field_integer_signed_option_borrow_ranges_const(option),
                )
            } else {
                vec![(index.into(), index.into())]
            };
            (member, ranges)
        };
        let options = (0..bt().bt_field_class_variant_get_option_count(class)).map(option).collect();
        let selector = (is_unsigned || is_signed)
            .then(|| bt().bt_field_class_variant_with_selector_field_borrow_selector_field_path_const(class));
        Shape::Variant { selector: selector.and_then(|path| location(path)), options }
    }
}

/// Where a field is, if only structures lead to it.
///
/// # Safety
///
/// The pointer is null, or leads to a path.
unsafe fn location(path: *const bt_field_path) -> Option<Location> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the path is not null, indexes are below its count, and only items with an index are asked for it.
    unsafe {
        let scope = match bt().bt_field_path_get_root_scope(path) {
            BT_FIELD_PATH_SCOPE_PACKET_CONTEXT => Scope::PacketContext,
            BT_FIELD_PATH_SCOPE_EVENT_COMMON_CONTEXT => Scope::CommonContext,
            BT_FIELD_PATH_SCOPE_EVENT_SPECIFIC_CONTEXT => Scope::SpecificContext,
            BT_FIELD_PATH_SCOPE_EVENT_PAYLOAD => Scope::Payload,
            _ => return None,
        };
        let item = |index| {
            let item = bt().bt_field_path_borrow_item_by_index_const(path, index);
            let is_index = bt().bt_field_path_item_get_type(item) == BT_FIELD_PATH_ITEM_TYPE_INDEX;
            is_index.then(|| bt().bt_field_path_item_index_get_index(item))
        };
        let path = (0..bt().bt_field_path_get_item_count(path)).map(item).collect::<Option<_>>()?;
        Some(Location { scope, path })
    }
}
