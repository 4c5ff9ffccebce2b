//! The catalogs that come with the crate.

use crate::Catalog;

/// The text of `valkey.toml`.
pub const VALKEY: &str = include_str!("../valkey.toml");

/// Valkey's 35 events.
pub fn valkey() -> Catalog {
    Catalog::parse("valkey.toml", VALKEY).expect("a test reads valkey.toml")
}
