//! A provider's C file for Rust: its probes, and the functions for each event that Rust calls.

use lttng_catalog::lowered::Provider;

use super::event::event;
use super::header::file_name;
use crate::GeneratedFile;
use crate::c_text::comment;

pub(crate) fn source_for_rust(provider: &Provider<'_>, usdt: bool) -> GeneratedFile {
    let mut text = comment(&provider.origin()) + "\n" + &includes(provider);
    // Linkers report the first symbol that two crates define before others.
    text.push_str(&format!("\nLTTNG_PROVIDER_ONCE({})\n", provider.name));
    if usdt {
        text.push_str("\nLTTNG_PROVIDER_ALIGN\n");
    }
    for each in &provider.events {
        text.push_str(&event(&provider.name, each));
        let symbol = &each.symbol;
        text.push_str(&match each.inline_size() {
            Some(size) => format!("\nLTTNG_PROVIDER_RUST_NUMBERS({symbol}, {size})\n"),
            None => format!("\nLTTNG_PROVIDER_RUST_EVENT({symbol})\n"),
        });
    }
    GeneratedFile { name: format!("{}.c", provider.name), text }
}

/// Included like this, LTTng's macros define the probes of a provider.
fn includes(provider: &Provider<'_>) -> String {
    let name = &provider.name;
    let mut text = format!(
        "#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_PROVIDER_HIDDEN_DEFINITION
#include \"lttng_provider.h\"
#include \"{}\"
",
        file_name(name)
    );
    if let Some(first) = provider.events.first() {
        text.push_str(&format!("\nLTTNG_PROVIDER_KEEP({name}, {})\n", first.source.name));
    }
    text
}
