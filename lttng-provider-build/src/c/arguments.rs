//! Arguments: what Rust passes, and what the macros want.

use lttng_catalog::{ByteOrder, Field, FieldType, Integer, Provider, Width};

use super::{integer_type, unsigned_type};

/// The types and names for `LTTNG_UST_TP_ARGS`, e.g. `["uint64_t, duration"]`.
pub(super) fn declared(provider: &Provider, field: &Field) -> Vec<String> {
    let name = &field.argument;
    let argument = format!("{}, {name}", declared_type(provider, field));
    let length = field.length_argument().map(|length| format!("size_t, {length}"));
    [Some(argument), length].into_iter().flatten().collect()
}

fn declared_type(provider: &Provider, field: &Field) -> String {
    scalar_type(provider, field).unwrap_or_else(|| match &field.kind {
        FieldType::Array { element, .. } | FieldType::Sequence { element, .. } => {
            format!("const {} *", integer_type(*element))
        }
        _ => "const char *".to_owned(),
    })
}

/// The parameter that Rust fills, e.g. `uint64_t duration`.
pub(super) fn parameter(provider: &Provider, field: &Field) -> String {
    let name = &field.argument;
    if let Some(kind) = scalar_type(provider, field) {
        return format!("{kind} {name}");
    }
    match &field.kind {
        FieldType::String => format!("struct lttng_provider_text {name}"),
        FieldType::Array { element, .. } => format!("const {} *{name}", integer_type(*element)),
        _ => format!("struct lttng_provider_list {name}"),
    }
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

/// How a parameter becomes arguments of the tracepoint.
pub(super) struct Conversion {
    /// Statements that must come before.
    pub(super) statements: Vec<String>,
    /// The arguments.
    pub(super) arguments: Vec<String>,
}

/// Converts a parameter; its local variables begin with `lttng_`.
pub(super) fn conversion(field: &Field) -> Conversion {
    let name = &field.argument;
    let local = format!("lttng_{name}");
    let (statements, arguments) = match &field.kind {
        FieldType::Integer(integer) if is_swapped(*integer) => {
            (vec![], vec![format!("htobe{}({name})", integer.width.bits())])
        }
        FieldType::String => {
            (vec![format!("const char *{local} = lttng_provider_string({name});")], vec![local])
        }
        FieldType::TextArray(length) => (
            vec![format!("char {local}[{length}];")],
            vec![format!("lttng_provider_copy_text({local}, {length}, {name})")],
        ),
        FieldType::Text { length } => {
            (vec![limit(name, &local, *length)], vec![format!("{name}.start"), format!("{local}_length")])
        }
        FieldType::Array { element, length } if is_swapped(*element) => (
            vec![format!("{} {local}[{length}];", unsigned_type(element.width))],
            vec![copied(*element, &local, name, &length.to_string())],
        ),
        FieldType::Sequence { element, length } if is_swapped(*element) => {
            let kind = unsigned_type(element.width);
            let counted = format!("{local}_length");
            let most = match length {
                Width::W8 => "UINT8_MAX".to_owned(),
                _ => format!("LTTNG_PROVIDER_COPY_MAX / sizeof({kind})"),
            };
            (
                vec![
                    format!("size_t {counted} = lttng_provider_min({name}.length, {most});"),
                    format!("{kind} *{local} = alloca({counted} * sizeof({kind}));"),
                ],
                vec![copied(*element, &local, &format!("{name}.start"), &counted), counted],
            )
        }
        FieldType::Sequence { length, .. } => {
            (vec![limit(name, &local, *length)], vec![format!("{name}.start"), format!("{local}_length")])
        }
        _ => (vec![], vec![name.clone()]),
    };
    Conversion { statements, arguments }
}

/// More elements than the recorded length can say would make the rest of the packet unreadable.
fn limit(name: &str, local: &str, length: Width) -> String {
    let most = format!("UINT{}_MAX", length.bits());
    match length {
        Width::W64 => format!("size_t {local}_length = {name}.length;"),
        _ => format!("size_t {local}_length = lttng_provider_min({name}.length, {most});"),
    }
}

fn copied(element: Integer, local: &str, start: &str, length: &str) -> String {
    let bits = element.width.bits();
    let copy = format!("lttng_provider_copy_network_{bits}({local}, {start}, {length})");
    if element.signed { format!("(const {} *) {copy}", integer_type(element)) } else { copy }
}

/// A byte has no order.
fn is_swapped(integer: Integer) -> bool {
    integer.order == ByteOrder::Network && integer.width != Width::W8
}
