//! A provider's C file: its probes, and the two functions for each event that Rust calls.

use lttng_catalog::{Event, FieldType};

use super::arguments::{called, declared_types};
use super::comment::comment;
use super::{fields, header, list};
use crate::SourceFile;
use crate::generate::Source;

pub(crate) fn source(source: &Source<'_>) -> SourceFile {
    let name = &source.lttng_name;
    let mut text = comment(&source.origin());
    text.push_str(&format!(
        "
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_PROVIDER_HIDDEN_DEFINITION
#include \"lttng_provider.h\"
#include \"{}\"
",
        header::file_name(name)
    ));
    if let Some(first) = source.provider.events.first() {
        text.push_str(&format!("\nLTTNG_PROVIDER_KEEP({name}, {})\n", first.name));
    }
    for event in &source.provider.events {
        text.push_str(&functions(source, event));
    }
    SourceFile { name: format!("{name}.c"), text }
}

/// How the event lies in a trace, how filters and other probes get its values, and what Rust calls.
fn functions(source: &Source<'_>, event: &Event) -> String {
    let (provider, name) = (&source.lttng_name, &event.name);
    let class = event.class.as_ref().unwrap_or(name);
    let full = format!("{provider}___{name}");
    let values: Vec<String> = event
        .fields
        .iter()
        .enumerate()
        .flat_map(|(index, field)| called(source.provider, field, index))
        .collect();
    let types: Vec<String> = ["void *".to_owned()]
        .into_iter()
        .chain(event.fields.iter().flat_map(|field| declared_types(source.provider, field)))
        .collect();
    let with = |first: &[&str]| {
        let first = first.iter().map(|&value| value.to_owned());
        first.chain(values.iter().cloned()).collect::<Vec<_>>()
    };
    let prepare = list(
        "\t",
        &format!("lttng_ust__event_prepare_interpreter_stack__{provider}___{class}("),
        &with(&["stack", "NULL"]),
        ");",
    );
    let call = list("\t", &format!("((void (*)({})) probe)(", types.join(", ")), &with(&["data"]), ");");
    let (table, fields) = match event.fields.len() {
        0 => (String::new(), "NULL, 0".to_owned()),
        count => {
            let rows: String = event
                .fields
                .iter()
                .map(|field| format!("\t{},\n", fields::layout(source.provider, field)))
                .collect();
            let table = format!("lttng_provider_fields_{full}");
            (
                format!("static const struct lttng_provider_field {table}[] = {{\n{rows}}};\n\n"),
                format!("{table}, {count}"),
            )
        }
    };
    let has_strings = event.fields.iter().any(|field| field.recorded && field.kind == FieldType::String);
    let has_copies = event.fields.iter().any(fields::needs_copy);
    format!(
        "
{table}static void lttng_provider_prepare_{full}(char *stack, const struct lttng_provider_part *parts)
{{
{prepare}
}}

static void
lttng_provider_call_{full}(void (*probe)(void), void *data, const struct lttng_provider_part *parts)
{{
{call}
}}

LTTNG_PROVIDER_EVENT({provider}, {name}, {class}, {fields}, {has_strings}, {has_copies})
"
    )
}
