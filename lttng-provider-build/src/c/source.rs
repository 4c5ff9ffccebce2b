//! A provider's C file, for an application in C.

use lttng_catalog::Catalog;
use lttng_catalog::lowered::{Event, ProbePart, Provider};

use super::names::{parameter_list, parameters, stem};
use super::{COptions, fast, stack};
use crate::GeneratedFile;
use crate::c_text::comment;

/// The C file; `more` is what it has after its events.
pub(super) fn source(provider: &Provider<'_>, options: &COptions, more: &str) -> GeneratedFile {
    let name = &provider.name;
    let (support, emitters) = match options.fast {
        true => ("#include \"lttng_fast.h\"\n", fast::source(provider)),
        false => ("", String::new()),
    };
    let probes: String = provider.events.iter().map(|event| probes(name, event)).collect();
    let floats = floats(provider);
    // For functions that ISO C does not declare.
    let gnu = "#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n";
    let gnu = if options.fast || !more.is_empty() { gnu } else { "" };
    let text = format!(
        "{origin}{gnu}#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__) /* The macros of LTTng and SystemTap. */
#pragma clang diagnostic ignored \"-Wtypedef-redefinition\"
#pragma clang diagnostic ignored \"-Wgnu-zero-variadic-macro-arguments\"
#endif

#if defined(USE_LTTNG)
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
{support}#include \"{name}-tp.h\"
{emitters}#endif

#if defined(USE_USDT)
/* So that a call costs a load and a branch while nothing is attached: tracers count in a semaphore. */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

/*
 * Linkers may map a page of the file twice, at the end of a segment and at the start of the next, and the kernel counts in the
 * first mapping that it finds; so semaphores are not in such a page.
 */
#ifdef __x86_64__
#define PAGE 4096
#else
#define PAGE 65536
#endif
static unsigned short page __attribute__((section(\".probes\"), aligned(PAGE), used));

#define PROBE(name, parameters, probe) \\
\textern __attribute__((visibility(\"hidden\"))) unsigned short {name}_##name##_semaphore; \\
\tunsigned short {name}_##name##_semaphore __attribute__((section(\".probes\"), used)); \\
\textern __attribute__((visibility(\"hidden\"), noinline)) void lttng_usdt_{name}___##name parameters; \\
\tvoid lttng_usdt_{name}___##name parameters \\
\t{{ \\
\t\tprobe; \\
\t}}

{floats}{probes}#endif
{more}
/* ISO C does not allow an empty file. */
typedef int lttng_provider_of_{name};
",
        origin = comment(&provider.origin()),
    );
    GeneratedFile { name: format!("{name}-tp.c"), text }
}

/// Probes have no floats: tracers get their bits.
fn floats(provider: &Provider<'_>) -> String {
    let arguments = || provider.events.iter().flat_map(|event| &event.arguments);
    let kinds = ["float", "double"].into_iter().zip([32, 64]).filter(|(kind, _)| {
        arguments().any(|argument| argument.shape.is_float() && argument.shape.element.c_type() == *kind)
    });
    let functions = kinds.map(|(kind, bits)| {
        format!(
            "static inline uint{bits}_t bits_of_{kind}({kind} value)
{{
\tuint{bits}_t bits;

\tmemcpy(&bits, &value, sizeof(bits));
\treturn bits;
}}

"
        )
    });
    let functions: String = functions.collect();
    if functions.is_empty() { functions } else { format!("#include <string.h>\n\n{functions}") }
}

/// What the C files of a catalog have once.
pub(super) fn shared(catalog: &Catalog, providers: &[&Provider<'_>], options: &COptions) -> String {
    let events = || providers.iter().flat_map(|provider| &provider.events);
    let stem = stem(catalog);
    let mut text = String::new();
    if options.stopwatches && events().any(|event| event.duration.is_some()) {
        text.push_str(&format!(
            "
#include <time.h>

extern __attribute__((visibility(\"hidden\"))) uint64_t {stem}_now(void);
uint64_t {stem}_now(void)
{{
\tstruct timespec now;

\tclock_gettime(CLOCK_MONOTONIC, &now);
\treturn (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}}
"
        ));
    }
    if events().any(|event| event.has_stack()) {
        text.push_str(&stack::function(&stem));
    }
    match text.is_empty() {
        true => text,
        false => format!("\n#if defined(USE_LTTNG) || defined(USE_USDT){text}#endif\n"),
    }
}

/// The event's probe, and the one where it begins, if any.
fn probes(provider: &str, event: &Event<'_>) -> String {
    let name = &event.source.name;
    let values: Vec<String> = event
        .probe
        .arguments
        .iter()
        .map(|argument| {
            let of = &event.arguments[argument.index];
            let parameters = of.c_parameters();
            match argument.part {
                ProbePart::Value if of.shape.is_float() => {
                    format!("bits_of_{}({})", of.shape.element.c_type(), parameters[0].name)
                }
                ProbePart::Length if argument.size < 0 => {
                    format!("(int{}_t) {}", -8 * argument.size, parameters[1].name)
                }
                ProbePart::Length => format!("(uint{}_t) {}", 8 * argument.size, parameters[1].name),
                _ => parameters[0].name.clone(),
            }
        })
        .collect();
    let count = if values.is_empty() { String::new() } else { values.len().to_string() };
    let given: String = values.iter().map(|value| format!(", {value}")).collect();
    let unused = event.arguments.iter().filter(|argument| !argument.is_passed());
    let unused: String =
        unused.flat_map(|argument| argument.c_parameters()).map(|p| format!("(void) {}; ", p.name)).collect();
    let mut text = format!(
        "PROBE({name}, {}, {unused}STAP_PROBE{count}({provider}, {name}{given}))\n",
        parameter_list(&parameters(event))
    );
    if event.probe.has_start {
        text.push_str(&format!("PROBE({name}__start, (void), STAP_PROBE({provider}, {name}__start))\n"));
    }
    text
}
