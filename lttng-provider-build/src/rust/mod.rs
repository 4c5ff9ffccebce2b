//! The Rust side: a module for each provider, a type for each event.

mod arguments;
mod doc;
mod duration;
mod enumeration;
mod event;

use lttng_catalog::identifier;

use crate::generate::Source;
use crate::{SourceFile, layout};

/// All providers in one file.
pub(crate) fn events(sources: &[Source<'_>], tracing: bool) -> SourceFile {
    let modules: Vec<String> = sources.iter().map(|source| module(source, tracing)).collect();
    SourceFile { name: "events.rs".to_owned(), text: modules.join("\n") }
}

fn module(source: &Source<'_>, tracing: bool) -> String {
    let provider = source.provider;
    let enumerations = provider.enums.iter().map(enumeration::enumeration);
    let events = provider.events.iter().map(|event| event::event(source, event, tracing));
    let items: Vec<String> = enumerations.chain(events).collect();
    format!(
        "// {origin}

{doc}#[allow(non_camel_case_types, clippy::needless_lifetimes, clippy::too_many_arguments)]
pub mod {name} {{
{items}}}
",
        origin = source.origin(),
        doc = doc::comment(&provider.doc, &format!("The events of the provider `{}`.", provider.name)),
        name = identifier(&provider.name),
        items = indent(&items.join("\n"))
    )
}

/// Four spaces before every line that has something on it.
fn indent(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") }).collect()
}

/// `start(a, b)end`, in Rust's style.
fn list(indent: &str, start: &str, items: &[String], end: &str) -> String {
    layout::list(indent, "    ", start, items, end, ",")
}
