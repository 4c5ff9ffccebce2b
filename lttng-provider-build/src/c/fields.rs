//! Fields as LTTng-UST's macros describe them.

use lttng_catalog::{Base, ByteOrder, Field, FieldType, Integer, Provider, Width};

use super::arguments::is_swapped;
use super::{integer_type, unsigned_type};

/// `lttng_ust_field_integer(uint64_t, duration, duration)`
pub(super) fn field(lttng_name: &str, provider: &Provider, field: &Field) -> String {
    let Field { name, argument, .. } = field;
    let nowrite = if field.recorded { "" } else { "_nowrite" };
    match &field.kind {
        FieldType::Integer(integer) => {
            let kind = variant("integer", *integer, field.recorded);
            format!("lttng_ust_field_{kind}({}, {name}, {argument})", integer_type(*integer))
        }
        FieldType::Float => format!("lttng_ust_field_float{nowrite}(float, {name}, {argument})"),
        FieldType::Double => format!("lttng_ust_field_float{nowrite}(double, {name}, {argument})"),
        FieldType::Bool => format!("lttng_ust_field_integer{nowrite}(uint8_t, {name}, {argument})"),
        FieldType::Enum(enumeration) => {
            let container =
                provider.enumeration(enumeration).map(|e| integer_type(e.container)).unwrap_or_default();
            format!(
                "lttng_ust_field_enum{nowrite}({lttng_name}, {enumeration}, {container}, {name}, {argument})"
            )
        }
        FieldType::String => format!("lttng_ust_field_string{nowrite}({name}, {argument})"),
        FieldType::TextArray(length) => {
            format!("lttng_ust_field_array_text{nowrite}(char, {name}, {argument}, {length})")
        }
        FieldType::Text { length } => {
            let length = unsigned_type(*length);
            format!(
                "lttng_ust_field_sequence_text{nowrite}(char, {name}, {argument}, {length}, {argument}_length)"
            )
        }
        FieldType::Array { element, length } => {
            let kind = variant("array", *element, field.recorded);
            format!("lttng_ust_field_{kind}({}, {name}, {argument}, {length})", integer_type(*element))
        }
        FieldType::Sequence { element, length } => {
            let kind = variant("sequence", *element, field.recorded);
            let (element, length) = (integer_type(*element), unsigned_type(*length));
            format!("lttng_ust_field_{kind}({element}, {name}, {argument}, {length}, {argument}_length)")
        }
    }
}

/// How a field lies in a trace: `{ .kind = LTTNG_PROVIDER_NUMBER, .recorded = true, .size = 8 }`.
pub(super) fn layout(provider: &Provider, field: &Field) -> String {
    let number = |size: u32| ("NUMBER", format!(".size = {size}"));
    let bytes = |width: Width| width.bits() / 8;
    let integer = |integer: &Integer| format!(".size = {}{}", bytes(integer.width), swapped(field, *integer));
    let (kind, more) = match &field.kind {
        FieldType::Integer(kind) => ("NUMBER", integer(kind)),
        FieldType::Float => number(4),
        FieldType::Double => number(8),
        FieldType::Bool => number(1),
        FieldType::Enum(name) => number(provider.enumeration(name).map_or(0, |e| bytes(e.container.width))),
        FieldType::String => ("STRING", ".size = 1".to_owned()),
        FieldType::TextArray(length) => ("CHARACTERS", format!(".size = 1, .count = {length}")),
        FieldType::Text { length } => ("TEXT", format!(".size = 1, .length_size = {}", bytes(*length))),
        FieldType::Array { element, length } => ("ARRAY", format!("{}, .count = {length}", integer(element))),
        FieldType::Sequence { element, length } => {
            ("SEQUENCE", format!("{}, .length_size = {}", integer(element), bytes(*length)))
        }
    };
    format!("{{ .kind = LTTNG_PROVIDER_{kind}, .recorded = {}, {more} }}", field.recorded)
}

/// Whether filters need a copy of a packed value: with a NUL after it, or in network order.
pub(super) fn needs_copy(field: &Field) -> bool {
    match &field.kind {
        FieldType::String => !field.recorded,
        FieldType::Text { .. } | FieldType::TextArray(_) => true,
        FieldType::Array { element, .. } | FieldType::Sequence { element, .. } => {
            !swapped(field, *element).is_empty()
        }
        _ => false,
    }
}

fn swapped(field: &Field, integer: Integer) -> &'static str {
    if field.recorded && is_swapped(integer) { ", .swapped = true" } else { "" }
}

/// `array_network_hex`; what is not recorded has neither a base nor an order.
fn variant(kind: &str, integer: Integer, recorded: bool) -> String {
    if !recorded {
        return format!("{kind}_nowrite");
    }
    let network = if integer.order == ByteOrder::Network { "_network" } else { "" };
    let hex = if integer.base == Base::Hexadecimal { "_hex" } else { "" };
    format!("{kind}{network}{hex}")
}
