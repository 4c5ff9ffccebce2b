//! What is wrong with a catalog, and where.

use std::fmt;

use crate::Place;

/// Everything that is wrong with a catalog, in the order of the file; one line each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Errors {
    /// The file, as it was named to the parser.
    pub file: String,
    /// At least one error.
    pub errors: Vec<Error>,
}

/// One thing that is wrong with a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line and the column (in characters), both from 1; none if the file could not be read.
    pub position: Option<(usize, usize)>,
    /// The way to the part that is wrong; the top for what concerns the whole file.
    pub place: Place,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{}:", self.file)?;
            if let Some((line, column)) = error.position {
                write!(f, "{line}:{column}:")?;
            }
            let place = error.place.to_string();
            if !place.is_empty() {
                write!(f, " {place}:")?;
            }
            write!(f, " {}", error.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

/// A wrong part of a catalog, before its position in the file is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) place: Place,
    pub(crate) message: String,
}
