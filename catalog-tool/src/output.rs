//! How results are written.

use clap::ValueEnum;
use serde::Serialize;

/// How to write a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs; the form is stable.
    Json,
}

/// A result as JSON.
pub fn json(result: &impl Serialize) -> String {
    serde_json::to_string_pretty(result).expect("results have only names for keys")
}
