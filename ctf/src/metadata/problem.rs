//! What in metadata cannot be used, and where.

use std::fmt;

/// The most problems that are listed.
const MAX_PROBLEMS: usize = 16;

/// Something in metadata that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub position: Position,
    /// What is wrong.
    pub reason: String,
}

/// A position in a metadata file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// The metadata packet that begins at this byte of the file.
    Packet(usize),
    /// This line of the text, from 1. In a file that consists of packets, the text is their joined contents.
    Line(usize),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Position::Packet(byte) => write!(f, "metadata packet at byte {byte}"),
            Position::Line(line) => write!(f, "line {line}"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.position, self.reason)
    }
}

/// Collects problems: the first of them, and the number of the others.
#[derive(Debug, Default)]
pub(super) struct Problems {
    found: Vec<Problem>,
    others: usize,
    /// The packet in which the file ends.
    cut_packet: Option<Problem>,
    /// The statement in which the text ends.
    cut_statement: Option<Problem>,
}

impl Problems {
    /// Adds a problem in a line of the text.
    pub fn add(&mut self, line: usize, reason: impl Into<String>) {
        self.push(Position::Line(line), reason.into());
    }

    /// Adds a problem with the packet that begins at this byte.
    pub fn add_packet(&mut self, byte: usize, reason: impl Into<String>) {
        self.push(Position::Packet(byte), reason.into());
    }

    /// Notes that the file ends in the packet that begins at this byte.
    pub fn cut_packet(&mut self, byte: usize, reason: impl Into<String>) {
        self.cut_packet = Some(Problem { position: Position::Packet(byte), reason: reason.into() });
    }

    /// Notes that the text ends in a statement.
    pub fn cut_statement(&mut self, line: usize, reason: impl Into<String>) {
        self.cut_statement = Some(Problem { position: Position::Line(line), reason: reason.into() });
    }

    fn push(&mut self, position: Position, reason: String) {
        match self.found.len() < MAX_PROBLEMS {
            true => self.found.push(Problem { position, reason }),
            false => self.others += 1,
        }
    }

    /// The problems that more text cannot solve, from a number on.
    pub fn settled_from(&self, first: usize) -> &[Problem] {
        self.found.get(first..).unwrap_or_default()
    }

    /// Forgets that the file or a statement ends early, where more of it has come.
    pub fn continue_text(&mut self) {
        (self.cut_packet, self.cut_statement) = (None, None);
    }

    /// What is wrong if no more text comes: the file ends early.
    pub fn cut(&self) -> Option<&Problem> {
        self.cut_packet.as_ref().or(self.cut_statement.as_ref())
    }

    /// All problems. That the file ends early is one problem, even if both a packet and a statement are cut.
    pub fn finish(self) -> Vec<Problem> {
        let Problems { mut found, others, cut_packet, cut_statement } = self;
        if let (1.., Some(last)) = (others, found.last()) {
            let reason = format!("{} ({others} more problems are not listed)", last.reason);
            let position = last.position;
            found.pop();
            found.push(Problem { position, reason });
        }
        found.extend(match (cut_packet, cut_statement) {
            (Some(Problem { position, reason }), Some(statement)) => {
                Some(Problem { position, reason: format!("{reason}; {statement}") })
            }
            (packet, statement) => packet.or(statement),
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_problems_are_counted_and_not_listed() {
        let mut problems = Problems::default();
        (1..=100).for_each(|line| problems.add(line, "wrong"));
        let found = problems.finish();
        assert_eq!(found.len(), MAX_PROBLEMS);
        assert_eq!(found[15].to_string(), "line 16: wrong (84 more problems are not listed)");
    }

    #[test]
    fn file_that_ends_early_is_one_problem() {
        let mut problems = Problems::default();
        problems.cut_statement(7, "event: the text ends");
        problems.cut_packet(4096, "the file ends");
        let found: Vec<_> = problems.finish().iter().map(Problem::to_string).collect();
        assert_eq!(found, ["metadata packet at byte 4096: the file ends; line 7: event: the text ends"]);
    }
}
