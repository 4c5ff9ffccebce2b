//! The header that an application includes: a check and a call for each event.

use lttng_catalog::lowered::{Argument, CParameter, Duration, Event, Provider};
use lttng_catalog::{Catalog, Extent};

use super::names::{base_name, macro_stem, parameter_list, parameters, passed, stem};
use super::{COptions, fast, stack};
use crate::GeneratedFile;
use crate::c_text::comment;

pub(super) fn header(catalog: &Catalog, providers: &[&Provider<'_>], options: &COptions) -> GeneratedFile {
    let base = base_name(catalog);
    let upper = macro_stem(catalog);
    let origin = providers.first().map(|provider| comment(&provider.origin())).unwrap_or_default();
    let headers: String = providers.iter().map(|p| format!("#include \"{}-tp.h\"\n", p.name)).collect();
    let support = if options.fast { "#include \"lttng_fast.h\"\n" } else { "" };
    let events = || providers.iter().flat_map(|provider| &provider.events);
    let writer = Writer { stem: stem(catalog), upper: upper.clone(), options };
    let mut parts = macros(&upper, options.fast);
    parts.push_str(&writer.functions(events().collect()));
    for provider in providers {
        parts.push_str(&writer.provider(provider));
    }
    let text = format!(
        "{origin}#ifndef {upper}_H
#define {upper}_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * trace_PROVIDER_EVENT(...) emits an event, and trace_PROVIDER_EVENT_enabled() says whether a tracer wants it. Arguments are
 * evaluated only then; PROVIDER-tp.h says what they are. USE_LTTNG and USE_USDT choose the tracers; without either, no call
 * leaves any code.
 */
#if defined(USE_LTTNG)
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored \"-Wgnu-zero-variadic-macro-arguments\" /* in LTTng's macros */
#endif
{support}{headers}#if defined(__clang__)
#pragma clang diagnostic pop
#endif
#endif

#ifdef __cplusplus
extern \"C\" {{
#endif

{parts}
#ifdef __cplusplus
}}
#endif

#endif
"
    );
    GeneratedFile { name: format!("{base}.h"), text }
}

/// What the macros of events are made of.
fn macros(upper: &str, fast: bool) -> String {
    // The faster way says whether it has recorded the event; LTTng's own is called here, for the address of the call.
    let (more, condition) = if fast { (", fast", " && !fast") } else { ("", "") };
    format!(
        "#define {upper}_HIDDEN __attribute__((visibility(\"hidden\")))

#if defined(USE_LTTNG)
#define {upper}_LTTNG_ON(provider, name) lttng_ust_tracepoint_enabled(provider, name)
#define {upper}_LTTNG(provider, name, arguments{more}) \\
\tif ({upper}_LTTNG_ON(provider, name){condition}) \\
\t\tlttng_ust_tracepoint_cb_##provider##___##name arguments;
#else
#define {upper}_LTTNG_ON(provider, name) 0
#define {upper}_LTTNG(provider, name, arguments{more})
#endif

#if defined(USE_USDT)
#define {upper}_USDT_ON(provider, name) \\
\t__builtin_expect(*(const volatile unsigned short *) &provider##_##name##_semaphore != 0, 0)
#define {upper}_USDT(provider, name, arguments) \\
\tif ({upper}_USDT_ON(provider, name)) \\
\t\tlttng_usdt_##provider##___##name arguments;
#define {upper}_PROBE(provider, name, parameters) \\
\textern unsigned short provider##_##name##_semaphore {upper}_HIDDEN; \\
\textern void lttng_usdt_##provider##___##name parameters {upper}_HIDDEN;
#else
#define {upper}_USDT_ON(provider, name) 0
#define {upper}_USDT(provider, name, arguments)
#define {upper}_PROBE(provider, name, parameters)
#endif

#if defined(USE_LTTNG) || defined(USE_USDT)
#define {upper}_EVENT(provider, name, parameters, arguments{more}) \\
\t{upper}_PROBE(provider, name, parameters) \\
\tstatic inline __attribute__((always_inline)) void trace_emit_##provider##___##name parameters \\
\t{{ \\
\t\t{upper}_LTTNG(provider, name, arguments{more}) \\
\t\t{upper}_USDT(provider, name, arguments) \\
\t}}
#else
#define {upper}_EVENT(provider, name, parameters, arguments{more}) \\
\textern void trace_emit_##provider##___##name parameters;
#endif

#define {upper}_ENABLED(provider, name) ({upper}_LTTNG_ON(provider, name) || {upper}_USDT_ON(provider, name))
#define {upper}(provider, name, arguments) \\
\tdo {{ \\
\t\tif ({upper}_ENABLED(provider, name)) \\
\t\t\ttrace_emit_##provider##___##name arguments; \\
\t}} while (0)
"
    )
}

struct Writer<'w> {
    stem: String,
    upper: String,
    options: &'w COptions,
}

impl Writer<'_> {
    /// What some events need, for those catalogs that have such events.
    fn functions(&self, events: Vec<&Event<'_>>) -> String {
        let Writer { stem, upper, .. } = self;
        let mut text = String::new();
        if events.iter().flat_map(|event| &event.arguments).any(|argument| most(argument).is_some()) {
            text.push_str(&format!(
                "
/* What the recorded length can count; what was negative is 0. */
static inline size_t {stem}_length(size_t length, size_t most)
{{
\tif (length > SIZE_MAX / 2)
\t\treturn 0;
\treturn length < most ? length : most;
}}
"
            ));
        }
        let mut needed = Vec::new();
        if events.iter().any(|event| event.has_stack()) {
            needed.push(format!("extern size_t {stem}_stack(uint64_t *frames) {upper}_HIDDEN;\n"));
        }
        if self.options.stopwatches && events.iter().any(|event| event.duration.is_some()) {
            needed.push(format!("extern uint64_t {stem}_now(void) {upper}_HIDDEN;\n"));
        }
        if !needed.is_empty() {
            text.push_str(&format!("\n{}", needed.concat()));
        }
        text
    }

    fn provider(&self, provider: &Provider<'_>) -> String {
        let name = &provider.name;
        let mut text = format!("\n/* {name}, also in the spelling `{name}_trace({name}, event, ...)` */\n");
        text.push_str(&format!(
            "#define {name}_trace(provider, name, ...) trace_##provider##_##name(__VA_ARGS__)\n"
        ));
        if self.options.fast {
            let declared = fast::classes(provider).into_iter().map(|class| class.declaration(&self.upper));
            text.push_str(&format!("\n#if defined(USE_LTTNG)\n{}#endif\n", declared.collect::<String>()));
        }
        provider.events.iter().for_each(|event| text.push_str(&self.event(name, event)));
        text
    }

    fn event(&self, provider: &str, event: &Event<'_>) -> String {
        let (upper, name, c_name) = (&self.upper, &event.source.name, &event.c_name);
        let arguments = self.arguments(event);
        let fast = match self.options.fast {
            true => format!(", {}", fast::call(provider, event, &arguments)),
            false => String::new(),
        };
        let mut text = format!(
            "\n{upper}_EVENT({provider}, {name}, {}, ({}){fast})\n",
            parameter_list(&parameters(event)),
            arguments.join(", ")
        );
        let function = match event.has_stack() {
            true => {
                text.push_str(&stack::wrapper(&self.stem, event));
                format!("trace_captured_{}", event.symbol)
            }
            false => format!("trace_emit_{}", event.symbol),
        };
        text.push_str(&self.call(provider, event, &function));
        text.push_str(&format!("#define trace_{c_name}_enabled() {upper}_ENABLED({provider}, {name})\n"));
        if event.probe.has_start {
            text.push_str(&format!(
                "{upper}_PROBE({provider}, {name}__start, (void))
#define trace_{c_name}_start() do {{ {upper}_USDT({provider}, {name}__start, ()) }} while (0)\n"
            ));
        }
        if self.options.stopwatches {
            text.push_str(&self.stopwatch(event));
        }
        text
    }

    /// The macro that an application calls.
    fn call(&self, provider: &str, event: &Event<'_>, function: &str) -> String {
        let (upper, name, c_name) = (&self.upper, &event.source.name, &event.c_name);
        let names: Vec<String> = (0..passed(event).len()).map(|index| format!("a{index}")).collect();
        let has_address = event.passed().any(Argument::is_address);
        // An address may be a pointer or a number.
        let each = event.passed().flat_map(|a| vec![a.is_address(); a.c_parameters().len()]).zip(&names);
        let cast = each.map(|(cast, name)| if cast { format!("(uint64_t) ({name})") } else { name.clone() });
        let (taken, given) = match (names.is_empty(), has_address) {
            (true, _) => (String::new(), String::new()),
            (_, true) => (names.join(", "), cast.collect::<Vec<_>>().join(", ")),
            _ => ("...".to_owned(), "__VA_ARGS__".to_owned()),
        };
        match event.has_stack() {
            false => format!("#define trace_{c_name}({taken}) {upper}({provider}, {name}, ({given}))\n"),
            true => format!(
                "#define trace_{c_name}({taken}) do {{ if (trace_{c_name}_enabled()) {function}({given}); }} while (0)\n"
            ),
        }
    }

    /// What the event's function passes on.
    fn arguments(&self, event: &Event<'_>) -> Vec<String> {
        let each = event.arguments.iter().flat_map(|argument| {
            let mut names: Vec<String> = argument.c_parameters().into_iter().map(|p| p.name).collect();
            if let (Some(most), Some(length)) = (most(argument), names.get_mut(1)) {
                *length = format!("{}_length({length}, {most})", self.stem);
            }
            names
        });
        each.collect()
    }

    /// Measures the duration of an event that has one.
    fn stopwatch(&self, event: &Event<'_>) -> String {
        let (c_name, stem) = (&event.c_name, &self.stem);
        let unit = event.duration.and_then(|Duration { index, unit }| Some((index, unit.nanoseconds()?)));
        let Some((duration, unit)) = unit else { return String::new() };
        let (mut names, mut given) = (vec!["began".to_owned()], Vec::new());
        for (index, argument) in
            event.arguments.iter().enumerate().filter(|(_, argument)| argument.is_passed())
        {
            for CParameter { kind, .. } in argument.c_parameters() {
                given.push(if index == duration {
                    format!("({kind}) (({stem}_now() - lttng_began) / {unit})")
                } else {
                    names.push(format!("a{}", given.len()));
                    format!("a{}", given.len())
                });
            }
        }
        let start =
            if event.probe.has_start { format!("\ttrace_{c_name}_start();\n") } else { String::new() };
        format!(
            "static inline uint64_t trace_{c_name}_stopwatch(void)
{{
{start}\treturn trace_{c_name}_enabled() ? {stem}_now() : 0;
}}
#define trace_{c_name}_stop({names}) \\
\tdo {{ \\
\t\tconst uint64_t lttng_began = (began); \\
\t\tif (lttng_began) \\
\t\t\ttrace_{c_name}({given}); \\
\t}} while (0)
",
            names = names.join(", "),
            given = given.join(", "),
        )
    }
}

/// The longest length that LTTng's macros write as it is: a longer one would make the rest of a packet unreadable.
fn most(argument: &Argument<'_>) -> Option<String> {
    match argument.shape.extent {
        Extent::Counted(width) if argument.field.signed_length => Some(format!("INT{}_MAX", width.bits())),
        Extent::Counted(width) if argument.is_passed() && width.bits() < 32 => {
            Some(format!("UINT{}_MAX", width.bits()))
        }
        _ => None,
    }
}
