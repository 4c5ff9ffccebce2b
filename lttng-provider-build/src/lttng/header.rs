//! A provider's header: its enumerations, classes and events.

use std::fmt::Write;

use lttng_catalog::lowered::{Argument, Event, Provider};
use lttng_catalog::{Enumeration, Integer, LogLevel};

use super::declaration::field;
use crate::GeneratedFile;
use crate::c_text::{comment, list, string};

pub(crate) fn header(provider: &Provider<'_>) -> GeneratedFile {
    let name = &provider.name;
    let file = file_name(name);
    let guard = format!("LTTNG_PROVIDER_{}_H", name.to_ascii_uppercase());
    let mut text = comment(&provider.origin());
    let _ = write!(
        text,
        r#"
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER {name}

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "{file}"

#if !defined({guard}) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define {guard}

#ifndef LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#include <lttng/tracepoint.h>

{}"#,
        comment(&provider.source.doc)
    );
    for part in parts(provider) {
        text.push('\n');
        text.push_str(&part);
    }
    text.push_str("\n#endif\n\n#include <lttng/tracepoint-event.h>\n");
    GeneratedFile { name: file, text }
}

/// The ending keeps a provider named `string` from hiding the system's header.
pub(crate) fn file_name(provider: &str) -> String {
    format!("{provider}-tp.h")
}

fn parts(provider: &Provider<'_>) -> Vec<String> {
    let name = &provider.name;
    let enumerations = provider.source.enums.iter().map(|e| enumeration(name, e));
    let classes = provider.classes.iter().map(|class| {
        let start = format!("LTTNG_UST_TRACEPOINT_EVENT_CLASS({name}, {},\n", class.source.name);
        comment(&class.source.doc) + &start + &declaration(name, &class.arguments)
    });
    let events = provider.events.iter().map(|e| event(name, e));
    enumerations.chain(classes).chain(events).collect()
}

fn enumeration(provider: &str, enumeration: &Enumeration) -> String {
    let mut text = comment(&enumeration.doc);
    let _ = write!(
        text,
        "LTTNG_UST_TRACEPOINT_ENUM({provider}, {},\n\tLTTNG_UST_TP_ENUM_VALUES(\n",
        enumeration.name
    );
    for label in &enumeration.labels {
        let name = string(&label.name);
        let start = literal(*label.values.start(), enumeration.container);
        let end = literal(*label.values.end(), enumeration.container);
        let entry = if start == end {
            format!("lttng_ust_field_enum_value({name}, {start})")
        } else {
            format!("lttng_ust_field_enum_range({name}, {start}, {end})")
        };
        let _ = writeln!(text, "\t\t{entry}");
    }
    text.push_str("\t)\n)\n");
    text
}

fn event(provider: &str, event: &Event<'_>) -> String {
    let Event { source, class, arguments, .. } = event;
    let name = &source.name;
    let mut text = comment(&source.doc);
    if source.class.is_some() {
        let _ = write!(
            text,
            "LTTNG_UST_TRACEPOINT_EVENT_INSTANCE({provider}, {class}, {provider}, {name},\n{})\n",
            parameters(arguments)
        );
    } else {
        let _ = writeln!(text, "LTTNG_UST_TRACEPOINT_EVENT({provider}, {name},");
        text.push_str(&declaration(provider, arguments));
    }
    if source.log_level != LogLevel::default() {
        let _ = writeln!(
            text,
            "LTTNG_UST_TRACEPOINT_LOGLEVEL({provider}, {name}, {})",
            log_level(source.log_level)
        );
    }
    if let Some(uri) = &source.model_uri {
        let _ = writeln!(text, "LTTNG_UST_TRACEPOINT_MODEL_EMF_URI({provider}, {name}, {})", string(uri));
    }
    text
}

/// The arguments and the fields, up to the end of the macro's call.
fn declaration(provider: &str, arguments: &[Argument<'_>]) -> String {
    let fields: String = arguments
        .iter()
        .map(|argument| {
            let doc = comment(&argument.field.doc).replace('\n', "\n\t\t");
            let doc = if doc.is_empty() { doc } else { format!("\t\t{}", doc.trim_end_matches('\t')) };
            format!("{doc}\t\t{}\n", field(provider, argument))
        })
        .collect();
    format!("{},\n\tLTTNG_UST_TP_FIELDS(\n{fields}\t)\n)\n", parameters(arguments))
}

fn parameters(arguments: &[Argument<'_>]) -> String {
    let all = arguments.iter().flat_map(Argument::c_parameters);
    let declared: Vec<_> = all.map(|parameter| format!("{}, {}", parameter.kind, parameter.name)).collect();
    list("\t", "LTTNG_UST_TP_ARGS(", &declared, ")")
}

/// A value with the width and sign that LTTng keeps.
fn literal(value: i128, container: Integer) -> String {
    match value {
        // C has no negative literals, and the positive one does not fit.
        _ if value == i64::MIN.into() => format!("({}LL - 1)", value + 1),
        _ if container.signed => format!("{value}LL"),
        _ => format!("{value}ULL"),
    }
}

fn log_level(level: LogLevel) -> String {
    let name = match level {
        LogLevel::Emergency => "EMERG",
        LogLevel::Alert => "ALERT",
        LogLevel::Critical => "CRIT",
        LogLevel::Error => "ERR",
        LogLevel::Warning => "WARNING",
        LogLevel::Notice => "NOTICE",
        LogLevel::Info => "INFO",
        LogLevel::DebugSystem => "DEBUG_SYSTEM",
        LogLevel::DebugProgram => "DEBUG_PROGRAM",
        LogLevel::DebugProcess => "DEBUG_PROCESS",
        LogLevel::DebugModule => "DEBUG_MODULE",
        LogLevel::DebugUnit => "DEBUG_UNIT",
        LogLevel::DebugFunction => "DEBUG_FUNCTION",
        LogLevel::DebugLine => "DEBUG_LINE",
        LogLevel::Debug => "DEBUG",
    };
    format!("LTTNG_UST_TRACEPOINT_LOGLEVEL_{name}")
}
