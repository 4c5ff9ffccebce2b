//! The signatures of the functions that emit events.

use lttng_catalog::lowered::Event;

use crate::c_text::list;

/// The head of a function that takes all arguments, texts with their lengths.
pub(super) fn head(start: &str, event: &Event<'_>) -> String {
    let parameters = event.passed_c_parameters();
    let declared: Vec<String> = match &parameters[..] {
        [] => vec!["void".to_owned()],
        _ => parameters.iter().map(|parameter| parameter.declaration()).collect(),
    };
    list("", start, &declared, ")\n")
}
