//! The C for each event that Rust and C share: its layout in a trace, and how filters and other probes get its
//! values.

use lttng_catalog::lowered::{Argument, Event, PackingKind, Source};

use crate::c_text::list;

/// The table of the fields, two functions, and the description that refers to them.
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
    let packings: Vec<_> = event.arguments.iter().map(Argument::packing).collect();
    let (table, fields) = match packings.len() {
        0 => (String::new(), "NULL".to_owned()),
        _ => {
            let rows: String = event.arguments.iter().map(|a| format!("\t{},\n", row(a))).collect();
            let table = format!("lttng_provider_fields_{symbol}");
            (format!("static const struct lttng_provider_field {table}[] = {{\n{rows}}};\n\n"), table)
        }
    };
    let has_strings = packings.iter().any(|p| p.recorded && p.kind == PackingKind::String);
    let has_copies = packings.iter().any(|packing| packing.needs_copy());
    let count = packings.len();
    let unused = if count == 0 { "\t(void) parts;\n" } else { "" };
    format!(
        "
{table}static void lttng_provider_prepare_{symbol}(char *stack, const struct lttng_provider_part *parts)
{{
{unused}{prepare}
}}

static void
lttng_provider_call_{symbol}(void (*probe)(void), void *data, const struct lttng_provider_part *parts)
{{
{unused}{call}
}}

static const struct lttng_provider_event lttng_provider_event_{symbol} = {{
\t.fields = {fields},
\t.count = {count},
\t.has_strings = {has_strings},
\t.has_copies = {has_copies},
\t.probe = (void (*)(void)) lttng_ust__event_probe__{provider}___{class},
\t.prepare = lttng_provider_prepare_{symbol},
\t.call = lttng_provider_call_{symbol},
}};
"
    )
}

/// What a call passes for an argument, from the part with this index.
fn from_part((index, argument): (usize, &Argument<'_>)) -> Vec<String> {
    let part = format!("parts[{index}]");
    let value = |source| match (source, argument.number()) {
        (Source::Start, _) => format!("{part}.start"),
        (Source::Length, _) => format!("{part}.length"),
        (Source::Value, Some(number)) if number.swapped => {
            let bits = 8 * number.size;
            format!("htobe{bits}((uint{bits}_t) {part}.value)")
        }
        (Source::Value, Some(number)) if number.is_float() => {
            format!("lttng_provider_{}(&{part})", number.c_type)
        }
        (Source::Value, number) => {
            format!("({}) {part}.value", number.map_or("uint64_t", |number| number.c_type))
        }
    };
    argument.c_parameters().iter().map(|parameter| value(parameter.source)).collect()
}

/// `{ .kind = LTTNG_PROVIDER_NUMBER, .recorded = true, .size = 8 }`
fn row(argument: &Argument<'_>) -> String {
    let packing = argument.packing();
    let kind = match packing.kind {
        PackingKind::Number => "NUMBER",
        PackingKind::String => "STRING",
        PackingKind::Text => "TEXT",
        PackingKind::Characters => "CHARACTERS",
        PackingKind::Array => "ARRAY",
        PackingKind::Sequence => "SEQUENCE",
    };
    let mut row = format!(".kind = LTTNG_PROVIDER_{kind}, .recorded = {}", packing.recorded);
    if packing.swapped {
        row.push_str(", .swapped = true");
    }
    row.push_str(&format!(", .size = {}", packing.size));
    for (name, number) in [("length_size", packing.length_size), ("count", packing.count)] {
        if number > 0 {
            row.push_str(&format!(", .{name} = {number}"));
        }
    }
    format!("{{ {row} }}")
}
