//! What is wrong with a catalog, and where.

use std::fmt::{self, Write};

use crate::place::Place;

/// Everything that is wrong with a catalog, in the order of the file; one line each.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Errors {
    /// The file, as it was named to the parser.
    pub file: String,
    /// At least one error.
    pub errors: Vec<Error>,
}

/// One thing that is wrong with a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// The line and the column (in characters), both from 1; `None` without a text to point to.
    pub position: Option<(usize, usize)>,
    /// The part that is wrong; the top if it is the whole file.
    pub place: Place,
    /// Whose rule it breaks.
    pub authority: Authority,
    /// What is wrong, and what would be right; names the authority.
    pub message: String,
}

/// Who makes a rule that a catalog breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Authority {
    /// The format and the model of catalogs.
    Model,
    /// LTTng-UST 2.13 and its tools.
    Lttng,
    /// The C language, its compilers and headers.
    C,
    /// The Rust language, for generated code.
    Rust,
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Authority::Model => "model",
            Authority::Lttng => "LTTng",
            Authority::C => "C",
            Authority::Rust => "Rust",
        })
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            let mut line = format!("{}:", self.file);
            if let Some((row, column)) = error.position {
                line.push_str(&format!("{row}:{column}:"));
            }
            let place = error.place.to_string();
            if !place.is_empty() {
                line.push_str(&format!(" {place}:"));
            }
            line.push_str(&format!(" {}", error.message));
            if index > 0 {
                writeln!(f)?;
            }
            write_line(f, &line)?;
        }
        Ok(())
    }
}

/// Writes a text with its control characters escaped, which names and values can contain.
fn write_line(f: &mut fmt::Formatter<'_>, line: &str) -> fmt::Result {
    for letter in line.chars() {
        if letter.is_control() {
            write!(f, "{}", letter.escape_debug())?;
        } else {
            f.write_char(letter)?;
        }
    }
    Ok(())
}

impl std::error::Error for Errors {}

/// The errors found so far, before their positions are known.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) errors: Vec<Error>,
}

impl Report {
    /// An error against the rules of catalogs themselves.
    pub(crate) fn model(&mut self, place: Place, message: impl Into<String>) {
        self.add(Authority::Model, place, message);
    }

    pub(crate) fn add(&mut self, authority: Authority, place: Place, message: impl Into<String>) {
        self.errors.push(Error { position: None, place, authority, message: message.into() });
    }
}
