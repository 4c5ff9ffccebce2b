//! Names that Rust reserves.

/// The keywords that cannot be raw identifiers either; generated code writes all others as `r#type`.
const NEVER_IDENTIFIERS: &[&str] = &["self", "Self", "super", "crate", "_"];

/// Why Rust refuses a name.
pub(in crate::check) fn wrong_name(name: &str) -> Option<String> {
    NEVER_IDENTIFIERS
        .contains(&name)
        .then(|| format!("`{name}` is reserved by Rust, even as a raw identifier; choose another name"))
}
