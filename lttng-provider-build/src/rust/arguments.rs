//! Arguments: what the application passes, and what is recorded.

use lttng_catalog::{ByteOrder, Field, FieldType, Integer, Provider, identifier};

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
    /// The expression that makes what is recorded from the parameter.
    pub(super) to_recorded: String,
    /// Whether the types have the lifetime `'a`.
    pub(super) borrows: bool,
}

const TEXT: &str = "lttng_provider::Text<'a>";
const FFI: &str = "lttng_provider::ffi";

pub(super) fn argument(provider: &Provider, field: &Field) -> Argument {
    let argument = recorded_argument(provider, field);
    if field.recorded {
        return argument;
    }
    Argument { to_recorded: format!("{FFI}::Unrecorded({})", argument.to_recorded), ..argument }
}

fn recorded_argument(provider: &Provider, field: &Field) -> Argument {
    let name = identifier(&field.argument);
    let same = |kind: String| Argument {
        parameter: kind.clone(),
        field: kind,
        to_field: name.clone(),
        to_recorded: name.clone(),
        borrows: false,
        name: name.clone(),
    };
    let text = |make: String| Argument {
        parameter: format!("impl Into<{TEXT}>"),
        field: TEXT.to_owned(),
        to_field: format!("{name}.into()"),
        to_recorded: format!("{FFI}::{make}::new({name}.into())"),
        borrows: true,
        name: name.clone(),
    };
    let network = |integer: Integer| match field.recorded && integer.order == ByteOrder::Network {
        true => "Network",
        false => "",
    };
    match &field.kind {
        FieldType::Integer(integer) => Argument {
            to_recorded: match network(*integer) {
                "" => name.clone(),
                network => format!("{FFI}::{network}({name})"),
            },
            ..same(integer.rust_name())
        },
        FieldType::Float => same("f32".to_owned()),
        FieldType::Double => same("f64".to_owned()),
        FieldType::Bool => same("bool".to_owned()),
        FieldType::Enum(enumeration) => Argument {
            to_recorded: format!("{name}.value()"),
            ..same(provider.enumeration(enumeration).map(|e| e.rust_name()).unwrap_or_default())
        },
        FieldType::String => text("Terminated".to_owned()),
        FieldType::TextArray(length) => text(format!("Characters::<{length}>")),
        FieldType::Text { length } => text(format!("Counted::<u{}>", length.bits())),
        FieldType::Array { element, length } => Argument {
            to_recorded: format!("{FFI}::{}Array({name})", network(*element)),
            borrows: true,
            ..same(format!("&'a [{}; {length}]", element.rust_name()))
        },
        FieldType::Sequence { element, length } => Argument {
            to_recorded: format!("{FFI}::{}List::<_, u{}>::new({name})", network(*element), length.bits()),
            borrows: true,
            ..same(format!("&'a [{}]", element.rust_name()))
        },
    }
}

/// `PACKED_MAX` of the runtime, for which `GENERATED` stands.
const PACKED_MAX: u64 = 512;

/// What the event takes on the stack to be packed: exactly that if it is always the same, and not much.
pub(super) fn capacity(provider: &Provider, fields: &[Field]) -> String {
    let sizes = fields.iter().filter(|field| field.recorded).map(|field| fixed_size(provider, field));
    match sizes.sum::<Option<u64>>() {
        Some(size) if size <= PACKED_MAX => size.to_string(),
        _ => format!("{FFI}::PACKED_MAX"),
    }
}

/// The bytes that a field takes whatever its value is; none if that differs.
fn fixed_size(provider: &Provider, field: &Field) -> Option<u64> {
    let bytes = |integer: Integer| u64::from(integer.width.bits() / 8);
    match &field.kind {
        FieldType::Integer(integer) => Some(bytes(*integer)),
        FieldType::Float => Some(4),
        FieldType::Double => Some(8),
        FieldType::Bool => Some(1),
        FieldType::Enum(name) => provider.enumeration(name).map(|e| bytes(e.container)),
        FieldType::TextArray(length) => Some(u64::from(*length)),
        FieldType::Array { element, length } => Some(bytes(*element) * u64::from(*length)),
        FieldType::String | FieldType::Text { .. } | FieldType::Sequence { .. } => None,
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
