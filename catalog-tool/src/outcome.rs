//! The outcomes of commands, and their messages.

use std::io::{self, Write};

/// The outcome of a command that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Fine,
    /// An incompatible change, or a result with gaps.
    Noticed,
}

/// Why a command failed.
#[derive(Debug)]
pub enum Trouble {
    /// The errors, one per line.
    Failed(String),
    /// The reader of the output has closed the pipe, which is not an error.
    BrokenPipe,
}

impl Trouble {
    /// An operation on a file that failed.
    pub fn file(path: &std::path::Path, what: &str, error: &io::Error) -> Trouble {
        Trouble::Failed(format!("{}: {what}: {error}", path.display()))
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Trouble::BrokenPipe,
            _ => Trouble::Failed(format!("cannot write: {error}")),
        }
    }
}

/// Prints errors, one per line.
pub fn complain(message: &str) {
    say("error", message);
}

/// Prints notes, one per line.
pub fn note(message: &str) {
    say("note", message);
}

fn say(kind: &str, message: &str) {
    for line in message.lines() {
        // A message may quote a file, which is untrusted.
        let line: String = line.chars().flat_map(shown).collect();
        // Whoever read the messages may be gone, which is no reason to panic.
        let _ = writeln!(io::stderr(), "lttng-catalog: {kind}: {line}");
    }
}

/// A character, escaped if it is a control character.
fn shown(letter: char) -> impl Iterator<Item = char> {
    let escaped = letter.is_control().then(|| letter.escape_default());
    let plain = (!letter.is_control()).then_some(letter);
    escaped.into_iter().flatten().chain(plain)
}
