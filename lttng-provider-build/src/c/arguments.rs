//! Arguments: what LTTng's macros declare, and how a call fills them.

use lttng_catalog::{ByteOrder, Field, FieldType, Integer, Provider, Width};

use super::integer_type;

/// The types and names for `LTTNG_UST_TP_ARGS`, e.g. `["uint64_t, duration"]`.
pub(super) fn declared(provider: &Provider, field: &Field) -> Vec<String> {
    let names = [Some(field.argument.clone()), field.length_argument()];
    let names = names.into_iter().flatten();
    declared_types(provider, field)
        .into_iter()
        .zip(names)
        .map(|(kind, name)| format!("{kind}, {name}"))
        .collect()
}

/// The types of a field's arguments, e.g. `["const char *", "size_t"]`.
pub(super) fn declared_types(provider: &Provider, field: &Field) -> Vec<String> {
    let kind = scalar_type(provider, field).unwrap_or_else(|| match &field.kind {
        FieldType::Array { element, .. } | FieldType::Sequence { element, .. } => {
            format!("const {} *", integer_type(*element))
        }
        _ => "const char *".to_owned(),
    });
    let length = field.length_argument().map(|_| "size_t".to_owned());
    [Some(kind), length].into_iter().flatten().collect()
}

/// The type of what is passed by value.
fn scalar_type(provider: &Provider, field: &Field) -> Option<String> {
    match &field.kind {
        FieldType::Integer(integer) => Some(integer_type(*integer)),
        FieldType::Float => Some("float".to_owned()),
        FieldType::Double => Some("double".to_owned()),
        FieldType::Bool => Some("bool".to_owned()),
        FieldType::Enum(name) => provider.enumeration(name).map(|e| integer_type(e.container)),
        _ => None,
    }
}

/// What a call passes for a field, from the part with this index.
pub(super) fn called(provider: &Provider, field: &Field, index: usize) -> Vec<String> {
    let part = format!("parts[{index}]");
    let value = match &field.kind {
        FieldType::Integer(integer) if field.recorded && is_swapped(*integer) => {
            let bits = integer.width.bits();
            format!("htobe{bits}((uint{bits}_t) {part}.value)")
        }
        FieldType::Float => format!("lttng_provider_float(&{part})"),
        FieldType::Double => format!("lttng_provider_double(&{part})"),
        _ => match scalar_type(provider, field) {
            Some(kind) => format!("({kind}) {part}.value"),
            None => format!("{part}.start"),
        },
    };
    let length = field.length_argument().map(|_| format!("{part}.length"));
    [Some(value), length].into_iter().flatten().collect()
}

/// Whether the bytes of the integer must change places; a single byte has no order.
pub(super) fn is_swapped(integer: Integer) -> bool {
    integer.order == ByteOrder::Network && integer.width != Width::W8
}
