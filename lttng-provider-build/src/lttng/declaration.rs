//! Fields as LTTng-UST's macros declare them.

use lttng_catalog::lowered::{Argument, Number, Shape};
use lttng_catalog::{Base, ByteOrder, FieldType, Integer, Width};

/// `lttng_ust_field_integer(uint64_t, duration, duration)`
pub(super) fn field(provider: &str, argument: &Argument<'_>) -> String {
    let (name, from) = (&argument.field.name, &argument.field.argument);
    let nowrite = if argument.recorded() { "" } else { "_nowrite" };
    match &argument.shape {
        Shape::Number(number) if number.is_float() => {
            format!("lttng_ust_field_float{nowrite}({}, {name}, {from})", number.c_type)
        }
        Shape::Number(Number { c_type: "bool", .. }) => {
            format!("lttng_ust_field_integer{nowrite}(uint8_t, {name}, {from})")
        }
        Shape::Number(number) => {
            format!("lttng_ust_field_{}({}, {name}, {from})", variant("integer", argument), number.c_type)
        }
        Shape::Enumeration { name: enumeration, container, .. } => {
            let container = container.c_type;
            format!("lttng_ust_field_enum{nowrite}({provider}, {enumeration}, {container}, {name}, {from})")
        }
        Shape::String => format!("lttng_ust_field_string{nowrite}({name}, {from})"),
        Shape::Characters { count } => {
            format!("lttng_ust_field_array_text{nowrite}(char, {name}, {from}, {count})")
        }
        Shape::Text { length } => {
            let length = Number::length(*length).c_type;
            format!("lttng_ust_field_sequence_text{nowrite}(char, {name}, {from}, {length}, {from}_length)")
        }
        Shape::Array { element, count } => {
            format!(
                "lttng_ust_field_{}({}, {name}, {from}, {count})",
                variant("array", argument),
                element.c_type
            )
        }
        Shape::Sequence { element, length } => {
            let (kind, length) = (variant("sequence", argument), Number::length(*length).c_type);
            format!("lttng_ust_field_{kind}({}, {name}, {from}, {length}, {from}_length)", element.c_type)
        }
        Shape::Stack => {
            let (frame, length) = (Number::FRAME.c_type, Number::length(Width::W8).c_type);
            format!("lttng_ust_field_sequence_hex({frame}, {name}, {from}, {length}, {from}_length)")
        }
    }
}

/// `array_network_hex`; a value that is not recorded has neither a base nor an order.
fn variant(kind: &str, argument: &Argument<'_>) -> String {
    if !argument.recorded() {
        return format!("{kind}_nowrite");
    }
    let integer = integer(&argument.field.kind);
    let is = |test: fn(Integer) -> bool| integer.is_some_and(test);
    let network = if is(|integer| integer.order == ByteOrder::Network) { "_network" } else { "" };
    let hex = if is(|integer| integer.base == Base::Hexadecimal) { "_hex" } else { "" };
    format!("{kind}{network}{hex}")
}

/// The integer whose base and order a reader sees.
fn integer(kind: &FieldType) -> Option<Integer> {
    match kind {
        FieldType::Integer(integer) => Some(*integer),
        FieldType::Array { element, .. } | FieldType::Sequence { element, .. } => Some(*element),
        _ => None,
    }
}
