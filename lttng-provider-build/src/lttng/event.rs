//! The C for each event that Rust and C share: its layout in a trace, and how filters and other probes get its
//! values.

use lttng_catalog::lowered::{Argument, Event, Source};
use lttng_catalog::{Content, Extent, Number, Shape};

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
    let can_unpack = event.arguments.iter().all(|a| a.recorded() && !needs_nul(a));
    let (unpack, prepare_packed) = match can_unpack {
        true => (unpack(provider, event), format!("lttng_provider_prepare_packed_{symbol}")),
        false => (String::new(), "NULL".to_owned()),
    };
    let is_plain = !is_read_packed && !has_copies;
    let (writer, write) = match event.fixed_capacity() {
        None if is_plain => (writer(event), format!("lttng_provider_write_{symbol}")),
        _ => (String::new(), "NULL".to_owned()),
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
{writer}
static const struct lttng_provider_event lttng_provider_event_{symbol} = {{
\t{fields}, {count},
\t/* is_read_packed, has_copies: */ {is_read_packed}, {has_copies},
\t(void (*)(void)) lttng_ust__event_probe__{provider}___{class},
\tlttng_provider_prepare_{symbol},
\t{prepare_packed},
\tlttng_provider_call_{symbol},
\t{write},
}};
"
    )
}

/// Lays out the values for filters from the packed event.
fn unpack(provider: &str, event: &Event<'_>) -> String {
    let (mut declared, mut found) = (String::new(), String::new());
    let mut values = vec!["stack".to_owned(), "NULL".to_owned()];
    for (index, argument) in event.arguments.iter().enumerate() {
        let Shape { element, extent, .. } = argument.shape;
        let (value, length) = (format!("lttng_{index}"), format!("lttng_{index}_length"));
        let copy =
            |to: &str| format!("\tmemcpy(&{to}, payload, sizeof({to}));\n\tpayload += sizeof({to});\n");
        declared.push_str(&format!("\t{} {value};\n", argument.c_parameters()[0].kind));
        values.push(value.clone());
        if let Extent::Counted(width) = extent {
            declared.push_str(&format!("\t{} {length};\n", Number::length(width).c_type()));
            found.push_str(&copy(&length));
            values.push(length.clone());
        }
        let size = match extent {
            Extent::One => {
                found.push_str(&copy(&value));
                continue;
            }
            Extent::Terminated => "strlen(payload) + 1".to_owned(),
            Extent::Fixed(_) => argument.fixed_size().to_string(),
            Extent::Counted(_) => format!("(size_t) {length} * {}", element.width.bytes()),
        };
        found.push_str(&format!("\t{value} = (const {} *) (const void *) payload;\n", element.c_type()));
        if index + 1 < event.arguments.len() {
            found.push_str(&format!("\tpayload += {size};\n"));
        }
    }
    let start = format!("lttng_ust__event_prepare_interpreter_stack__{provider}___{}(", event.class);
    let body = match declared.is_empty() {
        true => "\t(void) payload;\n".to_owned(),
        false => format!("{declared}\n{found}"),
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

/// Writes an event that is too large to be packed, its large fields from where they are.
fn writer(event: &Event<'_>) -> String {
    let symbol = &event.symbol;
    let each = |text: &str| {
        let indices = 0..event.arguments.len();
        indices
            .map(|index| {
                text.replace("FIELD", &format!("&lttng_provider_fields_{symbol}[{index}], &parts[{index}]"))
            })
            .collect::<String>()
    };
    format!(
        "
static __attribute__((noinline)) void lttng_provider_write_{symbol}(struct lttng_ust_event_recorder *recorder,
\tconst struct lttng_provider_part *parts, struct lttng_ust_probe_ctx *probe)
{{
\tconst struct lttng_ust_channel_buffer_ops *ops = recorder->chan->ops;
\tchar bytes[LTTNG_PROVIDER_GATHERED_MAX];
\tstruct lttng_ust_ring_buffer_ctx context;
\tstruct lttng_provider_gathered gathered = {{ ops, &context, bytes, bytes }};
\tsize_t size = 0;

{sizes}\tlttng_ust_ring_buffer_ctx_init(&context, recorder, size, 1, probe);
\tif (ops->event_reserve(&context) < 0)
\t\treturn;
{puts}\tlttng_provider_flush(&gathered);
\tops->event_commit(&context);
}}
",
        sizes = each("\tsize += lttng_provider_field_size(FIELD);\n"),
        puts = each("\tlttng_provider_put_field(&gathered, FIELD, true);\n"),
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
