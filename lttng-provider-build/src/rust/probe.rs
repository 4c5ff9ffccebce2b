//! USDT probes in Rust: their definition in assembly, and the call that fires them.

use lttng_catalog::lowered::{Event, ProbePart, Program};

use super::layout::list;
use crate::BackEnds;

/// The semaphores of all events, where LTTng's tracepoints have none.
pub(super) fn semaphores(program: &Program<'_>) -> String {
    let events = program.providers.iter().flat_map(|provider| &provider.events);
    let names: Vec<String> = events.map(|event| format!("\"{}\"", event.semaphore())).collect();
    format!("{}\n\n", list("", "lttng_provider::__private::usdt_semaphores!(", &names, ");"))
}

/// The probe of an event, and the one for its beginning if it has one.
pub(super) fn define(provider: &str, event: &Event<'_>, back_ends: BackEnds) -> String {
    let name = &event.source.name;
    let probe = &event.probe;
    let note = [provider, name, &probe.x86_64(), &probe.aarch64()];
    let mut text = definition(event, back_ends, &event.probe_function(), note);
    if probe.has_start {
        let name = format!("{name}__start");
        text.push_str(&definition(event, back_ends, &event.start_function(), [provider, &name, "", ""]));
    }
    text
}

fn definition(event: &Event<'_>, back_ends: BackEnds, function: &str, note: [&str; 4]) -> String {
    let semaphore = match back_ends.lttng {
        true => format!("{} + 28", event.tracepoint()),
        false => event.semaphore(),
    };
    let mut items = vec![format!("function \"{function}\""), format!("semaphore \"{semaphore}\"")];
    items.extend(note.map(|text| format!("\"{text}\"")));
    format!("\n{}\n", list("", "lttng_provider::__private::usdt_probe!(", &items, ");"))
}

/// Fires the probe if a tracer is attached to it.
pub(super) fn fire(event: &Event<'_>, back_ends: BackEnds) -> String {
    let semaphore = match back_ends.lttng {
        true => format!("tracepoint {}", event.tracepoint()),
        false => format!("semaphore {}", event.semaphore()),
    };
    let mut items = vec!["fields".to_owned(), semaphore, event.probe_function()];
    items.extend(event.probe.arguments.iter().map(|argument| {
        let kind = match argument.part {
            ProbePart::Value => "Value",
            ProbePart::Text => "Text",
            ProbePart::Start => "Start",
            ProbePart::Length => "Length",
        };
        format!("{kind} {}", argument.index)
    }));
    list("        ", "lttng_provider::__private::probe!(", &items, ");") + "\n"
}
