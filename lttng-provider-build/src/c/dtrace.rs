//! A header with macros in the spelling of `dtrace -h`: `MEMCACHED_COMMAND_GET(…)` and `MEMCACHED_COMMAND_GET_ENABLED()`.

use lttng_catalog::Catalog;
use lttng_catalog::lowered::{Argument, Event, Provider};

use super::build_files::base_name;
use crate::GeneratedFile;
use crate::c_text::comment;

pub(super) fn header(catalog: &Catalog, providers: &[&Provider<'_>]) -> GeneratedFile {
    let guard = format!("LTTNG_APPLICATION_{}_DTRACE_H", upper(&catalog.name));
    let origin = providers.first().map(|provider| comment(&provider.origin())).unwrap_or_default();
    let events =
        providers.iter().flat_map(|provider| provider.events.iter().map(|event| macros(provider, event)));
    let text = format!(
        "{origin}#ifndef {guard}\n#define {guard}\n\n#include \"{}.h\"\n\n{}\n#endif\n",
        base_name(catalog),
        events.collect::<String>(),
    );
    GeneratedFile { name: format!("{}-dtrace.h", catalog.name), text }
}

fn macros(provider: &Provider<'_>, event: &Event<'_>) -> String {
    let name = format!("{}_{}", upper(&provider.name), upper(&event.source.name));
    let count = event.passed().flat_map(Argument::c_parameters).count();
    let (taken, c_name) = (if count == 0 { "" } else { "..." }, &event.c_name);
    let passed = if count == 0 { "" } else { "__VA_ARGS__" };
    format!(
        "#define {name}({taken}) trace_{c_name}({passed})\n#define {name}_ENABLED() trace_{c_name}_enabled()\n"
    )
}

/// In capitals; two underscores, which DTrace shows as `-`, become one.
fn upper(name: &str) -> String {
    name.to_ascii_uppercase().replace("__", "_").replace(['-', '.'], "_")
}
