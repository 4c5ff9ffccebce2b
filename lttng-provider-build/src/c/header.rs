//! A provider's header: its enumerations, classes and events.

use std::fmt::Write;

use lttng_catalog::{Enumeration, Event, Field, Integer, LogLevel};

use super::arguments;
use super::comment::comment;
use super::{fields, list};
use crate::SourceFile;
use crate::generate::Source;

pub(crate) fn header(source: &Source<'_>) -> SourceFile {
    let name = &source.lttng_name;
    let file = file_name(name);
    let guard = format!("LTTNG_PROVIDER_{}_H", name.to_ascii_uppercase());
    let mut text = comment(&source.origin());
    let _ = write!(
        text,
        r#"
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER {name}

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "{file}"

#if !defined({guard}) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define {guard}

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lttng/tracepoint.h>

{}"#,
        comment(&source.provider.doc)
    );
    for part in parts(source) {
        text.push('\n');
        text.push_str(&part);
    }
    text.push_str("\n#endif\n\n#include <lttng/tracepoint-event.h>\n");
    SourceFile { name: file, text }
}

/// The ending keeps a provider called `string` from hiding the system's header.
pub(super) fn file_name(lttng_name: &str) -> String {
    format!("{lttng_name}-tp.h")
}

fn parts(source: &Source<'_>) -> Vec<String> {
    let provider = source.provider;
    let enumerations = provider.enums.iter().map(|e| enumeration(&source.lttng_name, e));
    let classes = provider.classes.iter().map(|class| {
        let start = format!("LTTNG_UST_TRACEPOINT_EVENT_CLASS({}, {},\n", source.lttng_name, class.name);
        comment(&class.doc) + &start + &declaration(source, &class.fields)
    });
    let events = provider.events.iter().map(|e| event(source, e));
    enumerations.chain(classes).chain(events).collect()
}

fn enumeration(lttng_name: &str, enumeration: &Enumeration) -> String {
    let mut text = comment(&enumeration.doc);
    let _ = write!(
        text,
        "LTTNG_UST_TRACEPOINT_ENUM({lttng_name}, {},\n\tLTTNG_UST_TP_ENUM_VALUES(\n",
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

fn event(source: &Source<'_>, event: &Event) -> String {
    let (provider, name) = (&source.lttng_name, &event.name);
    let mut text = comment(&event.doc);
    match &event.class {
        Some(class) => {
            let _ = write!(
                text,
                "LTTNG_UST_TRACEPOINT_EVENT_INSTANCE({provider}, {class}, {provider}, {name},\n{})\n",
                arguments_list(source, &event.fields)
            );
        }
        None => {
            let _ = writeln!(text, "LTTNG_UST_TRACEPOINT_EVENT({provider}, {name},");
            text.push_str(&declaration(source, &event.fields));
        }
    }
    if event.log_level != LogLevel::default() {
        let _ = writeln!(
            text,
            "LTTNG_UST_TRACEPOINT_LOGLEVEL({provider}, {name}, {})",
            log_level(event.log_level)
        );
    }
    if let Some(uri) = &event.model_uri {
        let _ = writeln!(text, "LTTNG_UST_TRACEPOINT_MODEL_EMF_URI({provider}, {name}, {})", string(uri));
    }
    text
}

/// The arguments and the fields, up to the end of the macro's call.
fn declaration(source: &Source<'_>, all: &[Field]) -> String {
    let fields: String = all
        .iter()
        .map(|field| {
            let doc = comment(&field.doc).replace('\n', "\n\t\t");
            let doc = if doc.is_empty() { doc } else { format!("\t\t{}", doc.trim_end_matches('\t')) };
            format!("{doc}\t\t{}\n", fields::field(&source.lttng_name, source.provider, field))
        })
        .collect();
    format!("{},\n\tLTTNG_UST_TP_FIELDS(\n{fields}\t)\n)\n", arguments_list(source, all))
}

fn arguments_list(source: &Source<'_>, fields: &[Field]) -> String {
    let declared: Vec<_> =
        fields.iter().flat_map(|field| arguments::declared(source.provider, field)).collect();
    list("\t", "LTTNG_UST_TP_ARGS(", &declared, ")")
}

/// A value as wide and as signed as LTTng keeps it.
fn literal(value: i128, container: Integer) -> String {
    match value {
        // C has no negative literals, and the positive one does not fit.
        _ if value == i64::MIN.into() => format!("({}LL - 1)", value + 1),
        _ if container.signed => format!("{value}LL"),
        _ => format!("{value}ULL"),
    }
}

/// A C string literal.
fn string(text: &str) -> String {
    let escaped: String = text
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' => format!("\\{}", char::from(byte)),
            b' '..=b'~' => char::from(byte).to_string(),
            _ => format!("\\{byte:03o}"),
        })
        .collect();
    format!("\"{escaped}\"")
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
