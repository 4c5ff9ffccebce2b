//! The Rust side: a module for each provider, a type for each event.

mod arguments;
mod doc;
mod duration;
mod enumeration;
mod event;

use lttng_catalog::identifier;

use crate::generate::{GENERATED, Source};
use crate::{SourceFile, layout};

/// An application's lints are for what its authors write; and it need not use every event.
const ALLOWED: &str = "#[allow(unused, non_camel_case_types, unreachable_pub)]
#[allow(missing_copy_implementations, missing_debug_implementations)]
#[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]";

/// rustc shows the line in its error where the crate has a module of this name.
const NAME_TAKEN: &str = "// if the name is taken: mod events { lttng_provider::include_events!(); }";

/// All providers in one file.
pub(crate) fn events(sources: &[Source<'_>], tracing: bool) -> SourceFile {
    let modules: Vec<String> = sources.iter().map(|source| module(source, tracing)).collect();
    SourceFile { name: "events.rs".to_owned(), text: check_version() + &modules.join("\n") }
}

/// Generated code that was kept may meet another runtime than the one that it was made for.
fn check_version() -> String {
    format!(
        "const _: () = assert!(
    lttng_provider::ffi::GENERATED == {GENERATED},
    \"these events were generated for another version of lttng-provider: generate them anew\"
);

"
    )
}

fn module(source: &Source<'_>, tracing: bool) -> String {
    let provider = source.provider;
    let enumerations = provider.enums.iter().map(enumeration::enumeration);
    let events = provider.events.iter().map(|event| event::event(source, event, tracing));
    let items: Vec<String> = enumerations.chain(events).collect();
    format!(
        "// {origin}

{doc}{ALLOWED}
pub mod {name} {{ {NAME_TAKEN}
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
