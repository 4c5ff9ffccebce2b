//! Arguments: what the application passes, and what is recorded.

use lttng_border::{Argument as Lowered, Event, Number, RustType, Shape};

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
    /// Whether the application passes it.
    pub(super) is_passed: bool,
}

const TEXT: &str = "lttng_provider::Text<'a>";
const FFI: &str = "lttng_provider::__private";

pub(super) fn argument(lowered: &Lowered<'_>) -> Argument {
    let name = lowered.rust_name.clone();
    let field = type_name(&lowered.rust_type());
    let is_text = lowered.is_text();
    let recorded = recorded(&lowered.shape, &name);
    Argument {
        parameter: if is_text { format!("impl Into<{TEXT}>") } else { field.clone() },
        is_passed: lowered.is_passed(),
        borrows: lowered.is_passed() && field.contains("'a"),
        field,
        to_field: if is_text { format!("{name}.into()") } else { name.clone() },
        to_recorded: match lowered.recorded() {
            true => recorded,
            false => format!("{FFI}::Unrecorded({recorded})"),
        },
        name,
    }
}

fn type_name(kind: &RustType) -> String {
    match kind {
        RustType::Number(name) => (*name).to_owned(),
        RustType::Enumeration(name) => name.clone(),
        RustType::Text => TEXT.to_owned(),
        RustType::Array { element, count } => format!("&'a [{element}; {count}]"),
        RustType::Slice { element } => format!("&'a [{element}]"),
    }
}

/// The expression of the value that crosses the border.
fn recorded(shape: &Shape, name: &str) -> String {
    let network = |number: &Number| if number.swapped { "Network" } else { "" };
    match shape {
        Shape::Number(number) if number.swapped => format!("{FFI}::Network({name})"),
        Shape::Number(_) => name.to_owned(),
        Shape::Enumeration { .. } => format!("{name}.value()"),
        Shape::String => format!("{FFI}::Terminated::new({name}.into())"),
        Shape::Characters { count } => format!("{FFI}::Characters::<{count}>::new({name}.into())"),
        Shape::Text { length } => {
            format!("{FFI}::Counted::<{}>::new({name}.into())", Number::length(*length).rust_type)
        }
        Shape::Array { element, .. } => format!("{FFI}::{}Array({name})", network(element)),
        Shape::Sequence { element, length } => {
            let length = Number::length(*length).rust_type;
            format!("{FFI}::{}List::<_, {length}>::new({name})", network(element))
        }
        Shape::Stack => format!("{FFI}::List::<_, u8>::new(lttng_stack.frames())"),
    }
}

/// What the event takes on the stack to be packed.
pub(super) fn capacity(event: &Event<'_>) -> String {
    match event.fixed_capacity() {
        Some(size) => size.to_string(),
        None => format!("{FFI}::PACKED_MAX"),
    }
}

/// `a, b`
pub(super) fn names(arguments: &[Argument]) -> String {
    arguments.iter().filter(|a| a.is_passed).map(|a| a.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// `a: u32` and so on.
pub(super) fn parameters<'a>(arguments: impl IntoIterator<Item = &'a Argument>) -> Vec<String> {
    let passed = arguments.into_iter().filter(|a| a.is_passed);
    passed.map(|a| format!("{}: {}", a.name, a.parameter)).collect()
}

/// `<'a>` if an argument borrows.
pub(super) fn lifetime<'a>(arguments: impl IntoIterator<Item = &'a Argument>) -> &'static str {
    if arguments.into_iter().any(|a| a.borrows) { "<'a>" } else { "" }
}
