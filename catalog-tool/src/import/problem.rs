//! The errors of a file that cannot be imported, and the notes about one that was.

use std::fmt;

/// An error or a note about a line of the file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// From 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Problem {
    pub(super) fn new(line: usize, message: impl Into<String>) -> Problem {
        Problem { line, message: message.into() }
    }
}

/// All errors of a file, in its order; one per line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    /// The file, as it was named.
    pub file: String,
    /// At least one.
    pub problems: Vec<Problem>,
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let line_break = if index > 0 { "\n" } else { "" };
            write!(f, "{line_break}{}:{}: {}", self.file, problem.line, problem.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
