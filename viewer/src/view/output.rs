//! What a format has to do: render findings with their notes.

use std::io::{self, Write};
use std::rc::Rc;

use super::Screen;
use super::events::{Form, Stacks};
use ltt_analysis::Finding;

/// Renders findings in one format.
pub trait Output {
    /// Writes a finding. Returns the notes on it that the format has no place for, one sentence each.
    ///
    /// # Errors
    ///
    /// [`Unsupported`](io::ErrorKind::Unsupported) for a kind of finding that the format has no form for.
    fn write(&self, finding: &Finding, out: &mut dyn Write) -> io::Result<Vec<String>>;

    /// How single events are written as they are read, one by one. What is to be known about all of them follows as a
    /// [`Finding::Events`].
    ///
    /// # Errors
    ///
    /// [`Unsupported`](io::ErrorKind::Unsupported) if the format has no form for them.
    fn events(&self, _stream: EventStream) -> io::Result<Box<dyn Form>> {
        Err(unsupported("this format cannot write single events: use --format json"))
    }
}

/// What the form of single events depends on.
pub struct EventStream {
    /// Which of their fields are stacks, and what is in these.
    pub stacks: Rc<Stacks>,
    /// Whether others are shown around those that match, and each says whether it does.
    pub has_matches: bool,
}

/// A format, as the command line knows it.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// Who it is for.
    pub about: &'static str,
    /// Whether people read it, who want the first few entries, and not programs, which want all.
    pub is_for_people: bool,
    /// Its output, for a screen.
    pub(super) output: fn(&Screen) -> Box<dyn Output>,
}

impl Format {
    /// What renders findings in this format for a screen.
    pub fn output(&self, screen: &Screen) -> Box<dyn Output> {
        (self.output)(screen)
    }
}

/// The error for what a format has no form for.
pub(super) fn unsupported(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, message)
}
