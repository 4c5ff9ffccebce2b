//! A provider's C file: its probes, and a function for each event that Rust calls.

use lttng_catalog::Event;

use super::arguments::{conversion, parameter};
use super::comment::comment;
use super::{header, list, packed};
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
        text.push_str(&emit(source, event));
    }
    SourceFile { name: format!("{name}.c"), text }
}

fn emit(source: &Source<'_>, event: &Event) -> String {
    let (provider, name) = (&source.lttng_name, &event.name);
    let start = format!("void lttng_provider_emit_{provider}___{name}(");
    let signature = if event.fields.is_empty() {
        format!("{start}void)")
    } else {
        let parameters: Vec<_> = event.fields.iter().map(|field| parameter(source.provider, field)).collect();
        list("", &start, &parameters, ")")
    };
    let body = if packed::applies(event) { packed::body(source, event) } else { body(source, event) };
    format!("\n{signature}\n{{\n{body}}}\n")
}

/// Leaves all to LTTng-UST's probe.
fn body(source: &Source<'_>, event: &Event) -> String {
    let mut statements = String::new();
    let mut arguments = vec![source.lttng_name.clone(), event.name.clone()];
    for field in &event.fields {
        let conversion = conversion(field);
        statements.extend(conversion.statements.iter().map(|statement| format!("\t{statement}\n")));
        arguments.extend(conversion.arguments);
    }
    let gap = if statements.is_empty() { "" } else { "\n" };
    let call = list("\t", "lttng_ust_do_tracepoint(", &arguments, ");");
    format!("{statements}{gap}{call}\n")
}
