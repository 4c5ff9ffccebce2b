//! The names of LTTng-UST's macros and log levels.

use lttng_catalog::LogLevel;

/// A macro that declares something.
#[derive(Clone, Copy)]
pub enum Macro {
    Event,
    Class,
    Instance,
    Enum,
    LogLevel,
    ModelUri,
}

/// What a macro of this name declares, in the spelling of 2.13 or the older one.
pub fn kind_of(name: &str) -> Option<Macro> {
    Some(match name.strip_prefix("LTTNG_UST_").unwrap_or(name) {
        "TRACEPOINT_EVENT" => Macro::Event,
        "TRACEPOINT_EVENT_CLASS" => Macro::Class,
        "TRACEPOINT_EVENT_INSTANCE" => Macro::Instance,
        "TRACEPOINT_ENUM" => Macro::Enum,
        "TRACEPOINT_LOGLEVEL" => Macro::LogLevel,
        "TRACEPOINT_MODEL_EMF_URI" => Macro::ModelUri,
        _ => return None,
    })
}

/// A log level as catalogs spell it.
pub fn log_level(name: &str) -> Option<&'static str> {
    let short =
        name.strip_prefix("LTTNG_UST_TRACEPOINT_LOGLEVEL_").or_else(|| name.strip_prefix("TRACE_"))?;
    let long = match short {
        "EMERG" => "emergency".to_owned(),
        "CRIT" => "critical".to_owned(),
        "ERR" => "error".to_owned(),
        _ if short.contains(|letter: char| !letter.is_ascii_uppercase() && letter != '_') => return None,
        _ => short.to_ascii_lowercase().replace('_', "-"),
    };
    LogLevel::ALL.iter().map(|level| level.name()).find(|level| *level == long)
}
