//! Why catalogs cannot be lowered.

use std::fmt;

use crate::Errors;

/// Why catalogs cannot be lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LowerError {
    /// A catalog that a program made or changed is invalid.
    Catalog(Errors),
    /// Two names, each valid in its catalog, cannot be in one program.
    Clash(String),
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LowerError::Catalog(errors) => errors.fmt(f),
            LowerError::Clash(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for LowerError {}
