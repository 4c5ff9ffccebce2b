//! A header with macros in the spelling of `dtrace -h`: `MEMCACHED_COMMAND_GET(…)` and `MEMCACHED_COMMAND_GET_ENABLED()`.

use lttng_catalog::lowered::{Event, Provider};
use lttng_catalog::{Catalog, dtrace_macro};

use super::names::{base_name, macro_stem, passed};
use crate::GeneratedFile;
use crate::c_text::comment;

pub(super) fn header(catalog: &Catalog, providers: &[&Provider<'_>]) -> GeneratedFile {
    let guard = format!("{}_DTRACE_H", macro_stem(catalog));
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
    let (name, c_name) = (dtrace_macro(&provider.name, &event.source.name), &event.c_name);
    let (taken, given) = if passed(event).is_empty() { ("", "") } else { ("...", "__VA_ARGS__") };
    format!(
        "#define {name}({taken}) trace_{c_name}({given})\n#define {name}_ENABLED() trace_{c_name}_enabled()\n"
    )
}
