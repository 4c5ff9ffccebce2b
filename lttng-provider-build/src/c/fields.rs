//! Fields as LTTng-UST's macros describe them.

use lttng_catalog::{Base, ByteOrder, Field, FieldType, Integer, Provider};

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

/// `array_network_hex`; what is not recorded has neither a base nor an order.
fn variant(kind: &str, integer: Integer, recorded: bool) -> String {
    if !recorded {
        return format!("{kind}_nowrite");
    }
    let network = if integer.order == ByteOrder::Network { "_network" } else { "" };
    let hex = if integer.base == Base::Hexadecimal { "_hex" } else { "" };
    format!("{kind}{network}{hex}")
}
