//! Which call sites an event of the catalog records.

use tracing_core::Metadata;

use crate::generated::Event;

/// Whether the event records the call site.
pub(crate) fn matches(event: &Event, metadata: &Metadata<'_>) -> bool {
    let has_field = |name: &str| metadata.fields().iter().any(|field| field.name() == name);
    let is_named = match &event.callsites {
        None => same_name(event.name, metadata.name()),
        Some(pattern) => {
            (pattern.target.is_empty() || is_within(metadata.target(), pattern.target))
                && (pattern.name.is_empty() || pattern.name == metadata.name())
                && pattern.fields.iter().all(|field| has_field(field))
        }
    };
    is_named && (metadata.is_span() || has_duration(event, metadata))
}

/// Whether an event of `tracing`, which takes no time, has all that the catalog's event needs: if that has a duration, a
/// field with it.
fn has_duration(event: &Event, metadata: &Metadata<'_>) -> bool {
    let Some((index, _)) = event.duration else {
        return true;
    };
    metadata.fields().iter().any(|field| same_name(event.fields[index].name, field.name()))
}

/// Whether a target is a module or inside it.
fn is_within(target: &str, module: &str) -> bool {
    target.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Whether a name of `tracing` is that of a catalog, whose names have only letters, digits and `_`: any other character
/// stands for a `_` there, so `http.method` is `http_method`.
pub(crate) fn same_name(catalog: &str, tracing: &str) -> bool {
    let tracing = tracing.strip_prefix("r#").unwrap_or(tracing);
    let letters = tracing.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    catalog.chars().eq(letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_characters_are_underscores() {
        assert!(same_name("http_method", "http.method"));
        assert!(same_name("Db__get", "Db::get"));
        assert!(same_name("type", "r#type"));
        assert!(same_name("gr__e", "gr\u{fc}\u{df}e"));
        assert!(!same_name("get", "Get"));
        assert!(!same_name("get", "get2"));
    }

    #[test]
    fn target_is_matched_by_whole_modules() {
        assert!(is_within("a::b", "a::b"));
        assert!(is_within("a::b::c", "a::b"));
        assert!(!is_within("a::bc", "a::b"));
        assert!(!is_within("a", "a::b"));
    }
}
