//! What to say of a class or an enum that a provider does not have.

use crate::model::Provider;
use crate::suggest::did_you_mean;

/// The name that was meant, or how to declare what is missing; `what` is `class` or `enum`.
pub(super) fn unknown<'a>(
    what: &str,
    name: &str,
    provider: &Provider,
    known: impl Iterator<Item = &'a str>,
) -> String {
    let near = did_you_mean(name, known);
    let provider = &provider.name;
    if near.is_empty() {
        format!("`{provider}` has no {what} `{name}`; declare it as `[provider.{provider}.{what}.{name}]`")
    } else {
        format!("`{provider}` has no {what} `{name}`{near}")
    }
}
