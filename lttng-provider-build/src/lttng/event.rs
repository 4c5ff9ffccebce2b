//! The C for each event that Rust and C share: its layout in a trace, and how filters and other probes get its
//! values.

use lttng_catalog::lowered::{Argument, Event, Source};
use lttng_catalog::{Content, Extent};

use crate::c_text::list;

/// The table of the fields, functions, and the description that refers to them.
pub(crate) fn event(provider: &str, event: &Event<'_>) -> String {
    let symbol = &event.symbol;
    let values: Vec<String> = event.arguments.iter().enumerate().flat_map(from_part).collect();
    let parameters = event.arguments.iter().flat_map(Argument::c_parameters);
    let types: Vec<String> = ["void *".to_owned()].into_iter().chain(parameters.map(|p| p.kind)).collect();
    let with = |first: &[&str]| {
        let first = first.iter().map(|&value| value.to_owned());
        first.chain(values.iter().cloned()).collect::<Vec<_>>()
    };
    let class = event.class;
    let prepare = list(
        "\t",
        &format!("lttng_ust__event_prepare_interpreter_stack__{provider}___{class}("),
        &with(&["stack", "NULL"]),
        ");",
    );
    let call = list("\t", &format!("((void (*)({})) probe)(", types.join(", ")), &with(&["data"]), ");");
    let count = event.arguments.len();
    let (table, fields) = match count {
        0 => (String::new(), "NULL".to_owned()),
        _ => {
            let rows: String = event.arguments.iter().map(|a| format!("\t{},\n", row(a))).collect();
            let table = format!("lttng_provider_fields_{symbol}");
            (format!("static const struct lttng_provider_field {table}[] = {{\n{rows}}};\n\n"), table)
        }
    };
    let is_read_packed = event.arguments.iter().any(|a| a.recorded() && needs_copy(a) && !needs_nul(a));
    let has_copies = event.arguments.iter().any(|a| needs_copy(a) && (needs_nul(a) || !a.recorded()));
    let (unpack, prepare_packed) = match event.is_numbers() {
        true => (unpack(provider, event), format!("lttng_provider_prepare_packed_{symbol}")),
        false => (String::new(), "NULL".to_owned()),
    };
    let unused = if count == 0 { "\t(void) parts;\n" } else { "" };
    format!(
        "
{table}static void lttng_provider_prepare_{symbol}(char *stack, const struct lttng_provider_part *parts)
{{
{unused}{prepare}
}}
{unpack}
static void
lttng_provider_call_{symbol}(void (*probe)(void), void *data, const struct lttng_provider_part *parts)
{{
{unused}{call}
}}

static const struct lttng_provider_event lttng_provider_event_{symbol} = {{
\t{fields}, {count},
\t/* is_read_packed, has_copies: */ {is_read_packed}, {has_copies},
\t(void (*)(void)) lttng_ust__event_probe__{provider}___{class},
\tlttng_provider_prepare_{symbol},
\t{prepare_packed},
\tlttng_provider_call_{symbol},
}};
"
    )
}

/// Lays out the values of an event that has only numbers for filters, from the packed event.
fn unpack(provider: &str, event: &Event<'_>) -> String {
    let parameters = || event.arguments.iter().flat_map(Argument::c_parameters).enumerate();
    let declared: String = parameters().map(|(index, p)| format!("\t{} lttng_{index};\n", p.kind)).collect();
    let mut offset = 0;
    let mut copied = String::new();
    for (index, argument) in event.arguments.iter().enumerate() {
        copied.push_str(&format!("\tmemcpy(&lttng_{index}, payload + {offset}, sizeof(lttng_{index}));\n"));
        offset += argument.fixed_size();
    }
    let values: Vec<String> = ["stack", "NULL"].map(str::to_owned).into_iter().collect();
    let values = [values, parameters().map(|(index, _)| format!("lttng_{index}")).collect()].concat();
    let start = format!("lttng_ust__event_prepare_interpreter_stack__{provider}___{}(", event.class);
    let body = match declared.is_empty() {
        true => "\t(void) payload;\n".to_owned(),
        false => format!("{declared}\n{copied}"),
    };
    format!(
        "
static void lttng_provider_prepare_packed_{}(char *stack, const char *payload)
{{
{body}{}
}}
",
        event.symbol,
        list("\t", &start, &values, ");"),
    )
}

/// What a call passes for an argument, from the part with this index.
fn from_part((index, argument): (usize, &Argument<'_>)) -> Vec<String> {
    let part = format!("parts[{index}]");
    let element = argument.shape.element;
    let value = |source| match source {
        Source::Start => format!("(const {} *) {part}.start", element.c_type()),
        Source::Length => format!("{part}.length"),
        Source::Value if argument.is_swapped() => {
            let bits = element.width.bits();
            format!("htobe{bits}((uint{bits}_t) {part}.value)")
        }
        Source::Value if argument.shape.is_float() => {
            format!("lttng_provider_{}(&{part})", element.c_type())
        }
        Source::Value => format!("({}) {part}.value", element.c_type()),
    };
    argument.c_parameters().iter().map(|parameter| value(parameter.source)).collect()
}

/// Whether filters cannot read the value where the application has it: with a NUL after it, or in network order.
fn needs_copy(argument: &Argument<'_>) -> bool {
    match argument.shape.extent {
        Extent::One => false,
        Extent::Terminated => true,
        Extent::Fixed(_) | Extent::Counted(_) => argument.is_text() || argument.is_swapped(),
    }
}

/// Whether the packed value has no NUL after it, where filters look for one.
fn needs_nul(argument: &Argument<'_>) -> bool {
    argument.is_text() && argument.shape.extent != Extent::Terminated
}

/// `{ LTTNG_PROVIDER_NUMBER, true, false, 8, 0, 0 }`: without names of members, which C++ before 20 does not know.
fn row(argument: &Argument<'_>) -> String {
    let shape = argument.shape;
    let (kind, length_size, count) = match (shape.content, shape.extent) {
        (_, Extent::One) => ("NUMBER", 0, 0),
        (_, Extent::Terminated) => ("STRING", 0, 0),
        (Content::Text, Extent::Counted(length)) => ("TEXT", length.bytes(), 0),
        (_, Extent::Counted(length)) => ("SEQUENCE", length.bytes(), 0),
        (Content::Text, Extent::Fixed(count)) => ("CHARACTERS", 0, count),
        (_, Extent::Fixed(count)) => ("ARRAY", 0, count),
    };
    format!(
        "{{ LTTNG_PROVIDER_{kind}, {}, {}, {}, {length_size}, {count} }}",
        argument.recorded(),
        argument.is_swapped(),
        shape.element.width.bytes()
    )
}
