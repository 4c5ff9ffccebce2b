//! The Rust side: a module for each provider, a type for each event.

mod arguments;
mod context;
mod doc;
mod duration;
mod enumeration;
mod event;
mod layout;
mod probe;
mod tracing;

use lttng_catalog::lowered::{Program, Provider};
pub(crate) use tracing::table;

use crate::version::GENERATED;
use crate::{BackEnds, GeneratedFile};
use layout::{ALLOWED, indent};

/// rustc shows this line in its error if the crate already has a module of this name.
const NAME_TAKEN: &str = "// if the name is taken: mod events { lttng_provider::include_events!(); }";

/// All providers in one file.
pub(crate) fn events(program: &Program<'_>, back_ends: BackEnds) -> GeneratedFile {
    let modules: Vec<String> = program.providers.iter().map(|provider| module(provider, back_ends)).collect();
    let semaphores = match back_ends {
        BackEnds { lttng: false, usdt: true } => probe::semaphores(program),
        _ => String::new(),
    };
    let text = check_version() + &semaphores + &modules.join("\n");
    GeneratedFile { name: "events.rs".to_owned(), text }
}

/// Generated code that was kept may be compiled with another runtime than its own.
fn check_version() -> String {
    format!(
        "const _: () = assert!(
    lttng_provider::__private::GENERATED == {GENERATED},
    \"these events were generated for another version of lttng-provider: generate them again\"
);

"
    )
}

fn module(provider: &Provider<'_>, back_ends: BackEnds) -> String {
    let source = provider.source;
    let enumerations = source.enums.iter().map(enumeration::enumeration);
    let events = provider.events.iter().map(|event| event::event(provider, event, back_ends));
    let items: Vec<String> = enumerations.chain(events).collect();
    format!(
        "// {origin}

{doc}{ALLOWED}
pub mod {name} {{ {NAME_TAKEN}
{items}}}
",
        origin = provider.origin(),
        doc = doc::comment(&source.doc, &format!("The events of the provider `{}`.", source.name)),
        name = provider.module,
        items = indent(&items.join("\n"))
    )
}
