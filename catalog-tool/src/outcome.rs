//! How a command ended, and how it says what is wrong.

use std::io;

/// How a command that did its work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Fine,
    /// There is something to notice: an incompatible change, or a result with gaps.
    Noticed,
}

/// Why a command did not do its work.
#[derive(Debug)]
pub enum Trouble {
    /// What is wrong, one line or one for each thing.
    Failed(String),
    /// Whoever read the output has gone, which is nobody's fault.
    BrokenPipe,
}

impl Trouble {
    /// That something could not be done with a file.
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

/// Says what is wrong, a line for each thing.
pub fn complain(message: &str) {
    say("error", message);
}

/// Says what is worth knowing, a line for each thing.
pub fn note(message: &str) {
    say("note", message);
}

fn say(kind: &str, message: &str) {
    for line in message.lines() {
        // A message may quote a file, and what is in a file is not to be trusted.
        let line: String = line.chars().flat_map(shown).collect();
        eprintln!("lttng-catalog: {kind}: {line}");
    }
}

/// A character, escaped if a terminal would obey it.
fn shown(letter: char) -> impl Iterator<Item = char> {
    let escaped = letter.is_control().then(|| letter.escape_default());
    let plain = (!letter.is_control()).then_some(letter);
    escaped.into_iter().flatten().chain(plain)
}
