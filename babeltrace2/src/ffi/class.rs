//! Classes, as the metadata of CTF 2 describes them: its model is that of Babeltrace.

use serde_json::{Map, Value, json};

use super::bindings::*;
use super::{bt, text};

/// Whether a type is another one, or a kind of it: what the header's inline function does.
pub fn is(kind: bt_field_class_type, other: bt_field_class_type) -> bool {
    kind.0 & other.0 == other.0
}

/// The size of an integer of this range, in bytes.
pub fn bytes_of(bits: u64) -> usize {
    match bits {
        ..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        _ => 8,
    }
}

/// The path to the field that has the length of an array, or selects what an option or a variant holds; none if there is none, or
/// if more than structures lead to it. Without it, we write one before the field.
///
/// # Safety
///
/// The class is of this type.
pub unsafe fn path(class: *const bt_field_class, kind: bt_field_class_type) -> Option<*const bt_field_path> {
    // SAFETY: each function is called for its type alone; indexes are below the count.
    unsafe {
        let path = if is(kind, BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITH_LENGTH_FIELD) {
            bt().bt_field_class_array_dynamic_with_length_field_borrow_length_field_path_const(class)
        } else if is(kind, BT_FIELD_CLASS_TYPE_OPTION_WITH_SELECTOR_FIELD) {
            bt().bt_field_class_option_with_selector_field_borrow_selector_field_path_const(class)
        } else if is(kind, BT_FIELD_CLASS_TYPE_VARIANT_WITH_SELECTOR_FIELD) {
            bt().bt_field_class_variant_with_selector_field_borrow_selector_field_path_const(class)
        } else {
            return None;
        };
        let is_index = |index| {
            let item = bt().bt_field_path_borrow_item_by_index_const(path, index);
            bt().bt_field_path_item_get_type(item) == BT_FIELD_PATH_ITEM_TYPE_INDEX
        };
        (0..bt().bt_field_path_get_item_count(path)).all(is_index).then_some(path)
    }
}

/// What the fields of an event are within. Null is what there is not.
pub struct Scopes {
    pub packet_context: *const bt_field_class,
    pub common_context: *const bt_field_class,
    pub specific_context: *const bt_field_class,
    pub payload: *const bt_field_class,
}

/// Ranges of one sign: the same functions under two names. The casts are those of the header's inline functions.
macro_rules! ranges {
    ($set:expr, $range:ident, $lower:ident, $upper:ident) => {{
        let set = $set;
        let range = |index| {
            let range = bt().$range(set, index);
            json!([bt().$lower(range), bt().$upper(range)])
        };
        (0..bt().bt_integer_range_set_get_range_count(set.cast())).map(range).collect::<Value>()
    }};
}

macro_rules! unsigned_ranges {
    ($set:expr) => {
        ranges!(
            $set,
            bt_integer_range_set_unsigned_borrow_range_by_index_const,
            bt_integer_range_unsigned_get_lower,
            bt_integer_range_unsigned_get_upper
        )
    };
}

macro_rules! signed_ranges {
    ($set:expr) => {
        ranges!(
            $set,
            bt_integer_range_set_signed_borrow_range_by_index_const,
            bt_integer_range_signed_get_lower,
            bt_integer_range_signed_get_upper
        )
    };
}

impl Scopes {
    /// The description of a class.
    ///
    /// # Safety
    ///
    /// The pointer leads to a class, and so do those of the scopes that are not null. Likewise below.
    pub unsafe fn field_class(&self, class: *const bt_field_class) -> Value {
        // SAFETY: each function is called for its type alone.
        unsafe {
            let kind = bt().bt_field_class_get_type(class);
            match kind {
                BT_FIELD_CLASS_TYPE_BOOL => fixed("boolean", 8),
                BT_FIELD_CLASS_TYPE_BIT_ARRAY => {
                    let bits = bt().bt_field_class_bit_array_get_length(class);
                    let mut class = fixed("unsigned-integer", bytes_of(bits) * 8);
                    class["preferred-display-base"] = json!(16);
                    class
                }
                BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL => fixed("floating-point-number", 32),
                BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL => fixed("floating-point-number", 64),
                BT_FIELD_CLASS_TYPE_STRUCTURE => structure(self.members(class)),
                BT_FIELD_CLASS_TYPE_STATIC_ARRAY => json!({
                    "type": "static-length-array",
                    "length": bt().bt_field_class_array_static_get_length(class),
                    "element-field-class": self.element(class),
                }),
                _ if is(kind, BT_FIELD_CLASS_TYPE_INTEGER) => integer(class, kind),
                _ if is(kind, BT_FIELD_CLASS_TYPE_ARRAY) => json!({
                    "type": "dynamic-length-array",
                    "length-field-location": self.location(path(class, kind)),
                    "element-field-class": self.element(class),
                }),
                _ if is(kind, BT_FIELD_CLASS_TYPE_OPTION) => self.optional(class, kind),
                _ if is(kind, BT_FIELD_CLASS_TYPE_VARIANT) => self.variant(class, kind),
                _ => json!({"type": "null-terminated-string"}),
            }
        }
    }

    /// The members of a structure.
    pub unsafe fn members(&self, class: *const bt_field_class) -> Vec<Value> {
        // SAFETY: indexes are below the count.
        unsafe {
            let members = (0..bt().bt_field_class_structure_get_member_count(class)).flat_map(|index| {
                let member = bt().bt_field_class_structure_borrow_member_by_index_const(class, index);
                let name = text(bt().bt_field_class_structure_member_get_name(member));
                self.member(&name, bt().bt_field_class_structure_member_borrow_field_class_const(member))
            });
            members.collect()
        }
    }

    /// A member, after the length or the selector that it needs where Babeltrace has no field for that.
    unsafe fn member(&self, name: &str, class: *const bt_field_class) -> Vec<Value> {
        // SAFETY: the caller vouches for the class.
        let (mut described, before) = unsafe { (self.field_class(class), before(class)) };
        let Some((suffix, property, before)) = before else { return vec![member(name, described)] };
        let before_name = format!("{name}_{suffix}");
        described[property] = json!({"path": [before_name]});
        vec![member(&before_name, before), member(name, described)]
    }

    /// The class of what is not a member of a structure: where a field before it is needed, it becomes one.
    unsafe fn inner(&self, class: *const bt_field_class) -> Value {
        // SAFETY: the caller vouches for the class.
        unsafe {
            match before(class) {
                None => self.field_class(class),
                Some(_) => structure(self.member("value", class)),
            }
        }
    }

    unsafe fn element(&self, array: *const bt_field_class) -> Value {
        // SAFETY: the caller has an array.
        unsafe { self.inner(bt().bt_field_class_array_borrow_element_field_class_const(array)) }
    }

    unsafe fn optional(&self, class: *const bt_field_class, kind: bt_field_class_type) -> Value {
        // SAFETY: each function is called for its type alone.
        unsafe {
            let content = self.inner(bt().bt_field_class_option_borrow_field_class_const(class));
            let mut described = json!({"type": "optional", "field-class": content});
            let Some(selector) = path(class, kind) else { return described };
            described["selector-field-location"] = self.location(Some(selector));
            described["selector-field-ranges"] = match kind {
                BT_FIELD_CLASS_TYPE_OPTION_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD => unsigned_ranges!(
                    bt().bt_field_class_option_with_selector_field_integer_unsigned_borrow_selector_ranges_const(
                        class
                    )
                ),
                BT_FIELD_CLASS_TYPE_OPTION_WITH_SIGNED_INTEGER_SELECTOR_FIELD => signed_ranges!(
                    bt().bt_field_class_option_with_selector_field_integer_signed_borrow_selector_ranges_const(
                        class
                    )
                ),
                _ if bt().bt_field_class_option_with_selector_field_bool_selector_is_reversed(class) != 0 => {
                    json!([[0, 0]])
                }
                _ => json!([[1, u64::MAX]]),
            };
            described
        }
    }

    unsafe fn variant(&self, class: *const bt_field_class, kind: bt_field_class_type) -> Value {
        // SAFETY: each function is called for its type alone, with indexes below the count. The options of a variant with a
        // selector are options with ranges, as the header's inline functions have it.
        unsafe {
            let selector = path(class, kind);
            let ranges = |index| {
                match kind {
                _ if selector.is_none() => json!([[index, index]]),
                BT_FIELD_CLASS_TYPE_VARIANT_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD => unsigned_ranges!(
                    bt().bt_field_class_variant_with_selector_field_integer_unsigned_option_borrow_ranges_const(
                        bt().bt_field_class_variant_with_selector_field_integer_unsigned_borrow_option_by_index_const(
                            class, index
                        )
                    )
                ),
                _ => signed_ranges!(
                    bt().bt_field_class_variant_with_selector_field_integer_signed_option_borrow_ranges_const(
                        bt().bt_field_class_variant_with_selector_field_integer_signed_borrow_option_by_index_const(
                            class, index
                        )
                    )
                ),
            }
            };
            let option = |index| {
                let option = bt().bt_field_class_variant_borrow_option_by_index_const(class, index);
                json!({
                    "name": text(bt().bt_field_class_variant_option_get_name(option)),
                    "field-class": self.inner(bt().bt_field_class_variant_option_borrow_field_class_const(option)),
                    "selector-field-ranges": ranges(index),
                })
            };
            let options = (0..bt().bt_field_class_variant_get_option_count(class)).map(option);
            json!({
                "type": "variant",
                "options": options.collect::<Value>(),
                "selector-field-location": self.location(selector),
            })
        }
    }

    /// A path by names; null for none.
    unsafe fn location(&self, path: Option<*const bt_field_path>) -> Value {
        let Some(path) = path else { return Value::Null };
        // SAFETY: only structures lead to the field (see `path`), and indexes are below their counts.
        unsafe {
            let (origin, mut class) = match bt().bt_field_path_get_root_scope(path) {
                BT_FIELD_PATH_SCOPE_PACKET_CONTEXT => ("packet-context", self.packet_context),
                BT_FIELD_PATH_SCOPE_EVENT_COMMON_CONTEXT => {
                    ("event-record-common-context", self.common_context)
                }
                BT_FIELD_PATH_SCOPE_EVENT_SPECIFIC_CONTEXT => {
                    ("event-record-specific-context", self.specific_context)
                }
                _ => ("event-record-payload", self.payload),
            };
            let mut names = Vec::new();
            for index in 0..bt().bt_field_path_get_item_count(path) {
                let item = bt().bt_field_path_borrow_item_by_index_const(path, index);
                let member = bt().bt_field_path_item_index_get_index(item);
                let member = bt().bt_field_class_structure_borrow_member_by_index_const(class, member);
                names.push(text(bt().bt_field_class_structure_member_get_name(member)));
                class = bt().bt_field_class_structure_member_borrow_field_class_const(member);
            }
            json!({"origin": origin, "path": names})
        }
    }
}

/// What must precede a field of this class: the end of its name, the property that refers to it, and its class.
unsafe fn before(class: *const bt_field_class) -> Option<(&'static str, &'static str, Value)> {
    // SAFETY: the caller vouches for the class.
    let (kind, path) = unsafe {
        let kind = bt().bt_field_class_get_type(class);
        (kind, path(class, kind))
    };
    match kind {
        _ if path.is_some() || kind == BT_FIELD_CLASS_TYPE_STATIC_ARRAY => None,
        _ if is(kind, BT_FIELD_CLASS_TYPE_ARRAY) => {
            Some(("length", "length-field-location", fixed("unsigned-integer", 64)))
        }
        _ if is(kind, BT_FIELD_CLASS_TYPE_OPTION) => {
            Some(("present", "selector-field-location", fixed("boolean", 8)))
        }
        _ if is(kind, BT_FIELD_CLASS_TYPE_VARIANT) => {
            Some(("option", "selector-field-location", fixed("unsigned-integer", 64)))
        }
        _ => None,
    }
}

/// # Safety
///
/// The class is an integer's.
unsafe fn integer(class: *const bt_field_class, kind: bt_field_class_type) -> Value {
    // SAFETY: enumerations are asked only if it is one, by their sign, with indexes below their count.
    unsafe {
        let is_signed = is(kind, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
        let bits = bytes_of(bt().bt_field_class_integer_get_field_value_range(class)) * 8;
        let mut described = fixed(if is_signed { "signed-integer" } else { "unsigned-integer" }, bits);
        described["preferred-display-base"] =
            json!(bt().bt_field_class_integer_get_preferred_display_base(class).0);
        if !is(kind, BT_FIELD_CLASS_TYPE_ENUMERATION) {
            return described;
        }
        let label = |index| {
            if is_signed {
                let of = bt().bt_field_class_enumeration_signed_borrow_mapping_by_index_const(class, index);
                let ranges = bt().bt_field_class_enumeration_signed_mapping_borrow_ranges_const(of);
                (text(bt().bt_field_class_enumeration_mapping_get_label(of.cast())), signed_ranges!(ranges))
            } else {
                let of = bt().bt_field_class_enumeration_unsigned_borrow_mapping_by_index_const(class, index);
                let ranges = bt().bt_field_class_enumeration_unsigned_mapping_borrow_ranges_const(of);
                (text(bt().bt_field_class_enumeration_mapping_get_label(of.cast())), unsigned_ranges!(ranges))
            }
        };
        let labels = (0..bt().bt_field_class_enumeration_get_mapping_count(class)).map(label);
        let labels: Map<String, Value> = labels.collect();
        if !labels.is_empty() {
            described["mappings"] = Value::Object(labels);
        }
        described
    }
}

/// A class of this kind and number of bits, of whole bytes.
pub fn fixed(kind: &str, bits: usize) -> Value {
    json!({"type": format!("fixed-length-{kind}"), "length": bits, "byte-order": "little-endian", "alignment": 8})
}

pub fn member(name: &str, class: Value) -> Value {
    json!({"name": name, "field-class": class})
}

pub fn structure(members: Vec<Value>) -> Value {
    json!({"type": "structure", "member-classes": members})
}
