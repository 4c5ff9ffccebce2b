//! The names of LTTng-UST's macros and log levels.

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

const LOG_LEVELS: &[(&str, &str)] = &[
    ("EMERG", "emergency"),
    ("ALERT", "alert"),
    ("CRIT", "critical"),
    ("ERR", "error"),
    ("WARNING", "warning"),
    ("NOTICE", "notice"),
    ("INFO", "info"),
    ("DEBUG_SYSTEM", "debug-system"),
    ("DEBUG_PROGRAM", "debug-program"),
    ("DEBUG_PROCESS", "debug-process"),
    ("DEBUG_MODULE", "debug-module"),
    ("DEBUG_UNIT", "debug-unit"),
    ("DEBUG_FUNCTION", "debug-function"),
    ("DEBUG_LINE", "debug-line"),
    ("DEBUG", "debug"),
];

/// A log level as catalogs spell it.
pub fn log_level(name: &str) -> Option<&'static str> {
    let short =
        name.strip_prefix("LTTNG_UST_TRACEPOINT_LOGLEVEL_").or_else(|| name.strip_prefix("TRACE_"))?;
    LOG_LEVELS.iter().find(|(known, _)| *known == short).map(|(_, level)| *level)
}
