//! Arguments: what the application passes, and what goes to C.

use lttng_catalog::{Field, FieldType, Provider, identifier};

/// What is generated for an argument, each in the words of one place.
pub(super) struct Argument {
    /// The name.
    pub(super) name: String,
    /// The type of the parameter, e.g. `impl Into<Text<'a>>`.
    pub(super) parameter: String,
    /// The type of the field of a struct, e.g. `Text<'a>`.
    pub(super) field: String,
    /// The expression that makes the struct's field from the parameter.
    pub(super) to_field: String,
    /// The type of C's parameter.
    pub(super) raw: String,
    /// The expression that makes C's parameter from the parameter.
    pub(super) to_raw: String,
    /// Whether the types have the lifetime `'a`.
    pub(super) borrows: bool,
}

const TEXT: &str = "lttng_provider::Text<'a>";
const RAW_TEXT: &str = "lttng_provider::ffi::RawText";
const RAW_LIST: &str = "lttng_provider::ffi::RawList";

pub(super) fn argument(provider: &Provider, field: &Field) -> Argument {
    let name = identifier(&field.argument);
    let same = |kind: String| Argument {
        parameter: kind.clone(),
        field: kind.clone(),
        to_field: name.clone(),
        raw: kind,
        to_raw: name.clone(),
        borrows: false,
        name: name.clone(),
    };
    let text = |raw: String, make: String| Argument {
        parameter: format!("impl Into<{TEXT}>"),
        field: TEXT.to_owned(),
        to_field: format!("{name}.into()"),
        raw,
        to_raw: format!("{make}({name}.into())"),
        borrows: true,
        name: name.clone(),
    };
    match &field.kind {
        FieldType::Integer(integer) => same(integer.rust_name()),
        FieldType::Float => same("f32".to_owned()),
        FieldType::Double => same("f64".to_owned()),
        FieldType::Bool => same("bool".to_owned()),
        FieldType::Enum(enumeration) => {
            let enumeration = provider.enumeration(enumeration);
            Argument {
                raw: enumeration.map(|e| e.container.rust_name()).unwrap_or_default(),
                to_raw: format!("{name}.value()"),
                ..same(enumeration.map(|e| e.rust_name()).unwrap_or_default())
            }
        }
        FieldType::String => text(format!("{RAW_TEXT}<'_>"), format!("{RAW_TEXT}::new")),
        FieldType::TextArray(_) | FieldType::Text { .. } => {
            text(format!("{RAW_LIST}<'_, u8>"), format!("{RAW_LIST}::text"))
        }
        FieldType::Array { element, length } => {
            let kind = format!("&'a [{}; {length}]", element.rust_name());
            Argument { borrows: true, raw: kind.replace("'a ", ""), ..same(kind) }
        }
        FieldType::Sequence { element, .. } => {
            let element = element.rust_name();
            Argument {
                raw: format!("{RAW_LIST}<'_, {element}>"),
                to_raw: format!("{RAW_LIST}::new({name})"),
                borrows: true,
                ..same(format!("&'a [{element}]"))
            }
        }
    }
}

/// `a, b`
pub(super) fn names(arguments: &[Argument]) -> String {
    arguments.iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// `a: u32` and so on.
pub(super) fn parameters<'a>(arguments: impl IntoIterator<Item = &'a Argument>) -> Vec<String> {
    arguments.into_iter().map(|a| format!("{}: {}", a.name, a.parameter)).collect()
}

/// `<'a>` if an argument borrows.
pub(super) fn lifetime<'a>(arguments: impl IntoIterator<Item = &'a Argument>) -> &'static str {
    if arguments.into_iter().any(|a| a.borrows) { "<'a>" } else { "" }
}
