//! Arguments: what the application passes, and what is recorded.

use lttng_catalog::lowered::{Argument as Lowered, Event};
use lttng_catalog::{Extent, Number};

/// What is generated for an argument, each in the words of one place.
pub(super) struct Argument {
    /// The name.
    pub(super) name: String,
    /// The type of the parameter of a function that records, e.g. `impl for<'v> Value<'v, Text<'v>>`.
    pub(super) parameter: String,
    /// The type of the parameter of a function that makes the struct, e.g. `impl Into<Text<'a>>`.
    pub(super) lent_parameter: String,
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
/// Text that the function may own: it is only read while the function runs.
const ANY_TEXT: &str = "impl for<'v> lttng_provider::Value<'v, lttng_provider::Text<'v>>";
const FFI: &str = "lttng_provider::__private";

pub(super) fn argument(lowered: &Lowered<'_>) -> Argument {
    let name = lowered.rust_name.clone();
    let is_text = lowered.is_text();
    let field = if is_text { TEXT.to_owned() } else { lowered.rust_type("'a") };
    let recorded = recorded(lowered, &name);
    Argument {
        parameter: if is_text { ANY_TEXT.to_owned() } else { field.clone() },
        lent_parameter: if is_text { format!("impl Into<{TEXT}>") } else { field.clone() },
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

/// The expression of the value that is handed to tracers.
fn recorded(argument: &Lowered<'_>, name: &str) -> String {
    let network = if argument.is_swapped() { "Network" } else { "" };
    let length = |width| Number::length(width).rust_type();
    match (argument.is_text(), argument.shape.extent) {
        _ if !argument.is_passed() => format!("{FFI}::List::<_, u8>::new(lttng_stack.frames())"),
        (_, Extent::One) if argument.is_enumeration() => format!("{name}.value()"),
        (_, Extent::One) if argument.is_swapped() => format!("{FFI}::Network({name})"),
        (_, Extent::One) => name.to_owned(),
        (_, Extent::Terminated) => format!("{FFI}::Terminated::new(lttng_provider::Value::value(&{name}))"),
        (true, Extent::Fixed(count)) => {
            format!("{FFI}::Characters::<{count}>::new(lttng_provider::Value::value(&{name}))")
        }
        (true, Extent::Counted(width)) => {
            format!("{FFI}::Counted::<{}>::new(lttng_provider::Value::value(&{name}))", length(width))
        }
        (false, Extent::Fixed(_)) => format!("{FFI}::{network}Array({name})"),
        (false, Extent::Counted(width)) => {
            format!("{FFI}::{network}List::<_, {}>::new({name})", length(width))
        }
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

/// `a: u32` and so on, for a function that records.
pub(super) fn parameters(arguments: &[Argument]) -> Vec<String> {
    let passed = arguments.iter().filter(|a| a.is_passed);
    passed.map(|a| format!("{}: {}", a.name, a.parameter)).collect()
}

/// `<'a>` if a parameter has that lifetime.
pub(super) fn generics(parameters: &[String]) -> &'static str {
    if parameters.iter().any(|parameter| parameter.contains("'a")) { "<'a>" } else { "" }
}

/// The same for a function that makes the struct, which borrows what it is passed.
pub(super) fn lent_parameters<'a>(arguments: impl IntoIterator<Item = &'a Argument>) -> Vec<String> {
    arguments.into_iter().map(|a| format!("{}: {}", a.name, a.lent_parameter)).collect()
}

/// `<'a>` if an argument borrows.
pub(super) fn lifetime<'a>(arguments: impl IntoIterator<Item = &'a Argument>) -> &'static str {
    if arguments.into_iter().any(|a| a.borrows) { "<'a>" } else { "" }
}
