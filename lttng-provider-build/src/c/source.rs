//! A provider's C file, for an application in C.

use lttng_catalog::lowered::{Event, Provider};

use super::signature::head;
use super::{emit, probe};
use crate::c_text::{comment, list};
use crate::{GeneratedFile, lttng};

/// The C file; `more` is what it has after its events.
pub(super) fn source(provider: &Provider<'_>, more: &str) -> GeneratedFile {
    let name = &provider.name;
    let mut text = format!(
        "{origin}
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <time.h>
#if defined(USE_LTTNG)
{includes}#endif
#include \"lttng_application.h\"
#if defined(USE_USDT)
#include \"lttng_usdt.h\"
#endif

#ifdef __cplusplus
extern \"C\" {{
#endif

/* ISO C does not allow an empty file. */
typedef int lttng_provider_of_{name};

#if defined(USE_LTTNG)
LTTNG_PROVIDER_CHECK_TRACEPOINT
LTTNG_PROVIDER_FORK
#endif
#if defined(USE_USDT)
LTTNG_USDT_ALIGN
#endif
#if defined(USE_LTTNG) || defined(USE_USDT)
LTTNG_APPLICATION_CLOCK
#endif
",
        origin = comment(&provider.origin()),
        includes = lttng::includes(provider),
    );
    for each in &provider.events {
        text.push_str(&event(name, each));
    }
    text.push_str(more);
    text.push_str("\n#ifdef __cplusplus\n}\n#endif\n");
    GeneratedFile { name: format!("{name}.c"), text }
}

fn event(provider: &str, event: &Event<'_>) -> String {
    let symbol = &event.symbol;
    let arguments: Vec<String> = event.passed_c_parameters().into_iter().map(|p| p.name).collect();
    let prototype = head(&format!("void {}(", event.emit_function()), event);
    format!(
        "
/* {name} */
#if defined(USE_LTTNG){lttng}
LTTNG_PROVIDER_APPLICATION({symbol})
#endif
{probe}
#if defined(USE_LTTNG) || defined(USE_USDT)
extern bool lttng_application_off_{symbol} LTTNG_APPLICATION_HIDDEN;
bool lttng_application_off_{symbol};

LTTNG_APPLICATION_HIDDEN {declaration};

{prototype}{{
#if defined(USE_LTTNG)
{record}#endif
#if defined(USE_USDT)
\tif (LTTNG_USDT_ATTACHED({symbol}))
{fire}
#endif
}}
#endif
",
        name = event.source.name,
        lttng = lttng::event(provider, event),
        probe = probe::probe(provider, event),
        declaration = prototype.trim_end(),
        record = body(event),
        fire = list("\t\t", &format!("lttng_usdt_fire_{symbol}("), &arguments, ");"),
    )
}

fn body(event: &Event<'_>) -> String {
    let captured = event.arguments.iter().zip(event.sized_c_parameters()).filter(|(a, _)| !a.is_passed());
    let captured: String = captured
        .map(|(_, parameters)| {
            let [frames, length] = &parameters[..] else { return String::new() };
            format!(
                "\tuint64_t {0}[LTTNG_PROVIDER_FRAMES_MAX];\n\tsize_t {1} = lttng_provider_capture({0});\n",
                frames.name, length.name
            )
        })
        .collect();
    // C89 wants declarations first.
    let record = emit::record(event);
    match (emit::limits(event), record.split_once("\n\n")) {
        (limits, Some((declarations, statements))) => {
            format!("{captured}{declarations}\n\n{limits}{statements}")
        }
        (limits, None) => captured + &limits + &record,
    }
}
