//! Fields as LTTng-UST's macros declare them.

use lttng_catalog::lowered::Argument;
use lttng_catalog::{Base, ByteOrder, Content, Extent, Number, NumberKind, Shape};

/// `lttng_ust_field_integer(uint64_t, duration, duration)`
pub(super) fn field(provider: &str, argument: &Argument<'_>) -> String {
    let parameters = argument.c_parameters();
    let (name, from) = (&argument.field.name, &parameters[0].name);
    let Shape { content, element, extent } = argument.shape;
    let kind = match (content, extent) {
        (Content::Enumeration, _) => "enum",
        (_, Extent::One) if element.kind == NumberKind::Float => "float",
        (_, Extent::One) => "integer",
        (_, Extent::Terminated) => "string",
        (Content::Text, Extent::Fixed(_)) => "array_text",
        (Content::Text, Extent::Counted(_)) => "sequence_text",
        (_, Extent::Fixed(_)) => "array",
        (_, Extent::Counted(_)) => "sequence",
    };
    let before = match argument.enumeration {
        Some(enumeration) => format!("{provider}, {}, ", enumeration.name),
        None => String::new(),
    };
    let element_type = match (element.kind, extent) {
        (_, Extent::Terminated) => String::new(),
        (NumberKind::Bool, _) => "uint8_t, ".to_owned(),
        _ => format!("{}, ", element.c_type()),
    };
    let after = match extent {
        Extent::One | Extent::Terminated => String::new(),
        Extent::Fixed(count) => format!(", {count}"),
        Extent::Counted(length) => {
            format!(", {}, {}", Number::length(length).c_type(), parameters[1].name)
        }
    };
    format!("lttng_ust_field_{kind}{}({before}{element_type}{name}, {from}{after})", variant(argument))
}

/// `_network_hex`; a value that is not recorded has neither a base nor an order.
fn variant(argument: &Argument<'_>) -> &'static str {
    let element = argument.shape.element;
    match (argument.recorded(), element.order, element.base) {
        (false, ..) => "_nowrite",
        (_, ByteOrder::Native, Base::Decimal) => "",
        (_, ByteOrder::Native, Base::Hexadecimal) => "_hex",
        (_, ByteOrder::Network, Base::Decimal) => "_network",
        (_, ByteOrder::Network, Base::Hexadecimal) => "_network_hex",
    }
}
