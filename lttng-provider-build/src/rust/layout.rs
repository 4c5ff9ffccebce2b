//! Indentation and line breaks of generated Rust.

use crate::lists;

/// An application's lints are not for generated code, and it need not use every event.
pub(super) const ALLOWED: &str = "#[allow(unused, non_camel_case_types, unreachable_pub)]
#[allow(missing_copy_implementations, missing_debug_implementations, missing_docs)]
#[allow(elided_lifetimes_in_paths, single_use_lifetimes, unused_lifetimes, unused_qualifications)]
#[allow(trivial_numeric_casts, unnameable_types, variant_size_differences)]
#[allow(clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)]";

/// Four spaces before every line that has something on it.
pub(super) fn indent(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") }).collect()
}

/// `start(a, b)end`, in Rust's style.
pub(super) fn list(indent: &str, start: &str, items: &[String], end: &str) -> String {
    lists::list(indent, "    ", start, items, end, ",")
}
