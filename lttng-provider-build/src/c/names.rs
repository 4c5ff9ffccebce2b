//! Names of a catalog's files, macros and functions.

use lttng_catalog::Catalog;
use lttng_catalog::lowered::{CParameter, Event};

/// The stem of the names of a catalog's files: `valkey-trace`.
pub(super) fn base_name(catalog: &Catalog) -> String {
    format!("{}-trace", catalog.name)
}

/// The stem of its functions: `valkey_trace`.
pub(super) fn stem(catalog: &Catalog) -> String {
    base_name(catalog).replace('-', "_")
}

/// The stem of its macros: `VALKEY_TRACE`.
pub(super) fn macro_stem(catalog: &Catalog) -> String {
    stem(catalog).to_ascii_uppercase()
}

/// `(uint64_t duration, const char *name)`
pub(super) fn parameter_list(parameters: &[CParameter]) -> String {
    let declared: Vec<String> = parameters.iter().map(CParameter::declaration).collect();
    if declared.is_empty() { "(void)".to_owned() } else { format!("({})", declared.join(", ")) }
}

/// All parameters of an event's function: what LTTng's macros take.
pub(super) fn parameters(event: &Event<'_>) -> Vec<CParameter> {
    event.arguments.iter().flat_map(|argument| argument.c_parameters()).collect()
}

/// Those of them that an application passes.
pub(super) fn passed(event: &Event<'_>) -> Vec<CParameter> {
    event.passed().flat_map(|argument| argument.c_parameters()).collect()
}
