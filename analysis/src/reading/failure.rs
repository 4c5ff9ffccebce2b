//! Why there is no finding: one line that says what is wrong, and what there is instead.

use std::collections::BTreeSet;
use std::fmt;

use ctf_reader::Error;
use lttng_catalog::nearest;

use crate::text::suggestion;

/// Why there is no finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Nothing could be read.
    Source(Error),
    /// The selection does not fit what was read.
    Misfit(Misfit),
}

/// Why a selection does not fit a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// No event has this field.
    Field {
        /// The field.
        name: String,
        /// All fields that events do have.
        known: BTreeSet<String>,
    },
    /// No event has a name like this.
    Event {
        /// The pattern.
        glob: String,
        /// The names of all events that the trace describes.
        known: BTreeSet<String>,
    },
    /// A field cannot be compared in this way.
    Comparison(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Source(error)
    }
}

impl From<Misfit> for Failure {
    fn from(misfit: Misfit) -> Self {
        Failure::Misfit(misfit)
    }
}

impl std::error::Error for Failure {}

impl std::error::Error for Misfit {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Source(error) => error.fmt(f),
            Failure::Misfit(misfit) => misfit.fmt(f),
        }
    }
}

/// What the selection asks for that the trace does not have, and what it has instead.
impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misfit::Comparison(message) => f.write_str(message),
            Misfit::Field { name, .. } if name == "vpid" => f.write_str(
                "the trace does not say which process its events are from: record with \
                 `lttng add-context -u -t vpid`",
            ),
            Misfit::Field { name, known } => {
                let hint = hint(name, known, known.iter().map(String::as_str), "fields");
                write!(f, "no event has a field `{name}`{hint}")
            }
            Misfit::Event { glob, known } => {
                let short = known.iter().filter_map(|name| Some(name.split_once(':')?.1));
                let names = known.iter().map(String::as_str).chain(short);
                write!(f, "no event is called `{glob}`{}", hint(glob, known, names, "events"))
            }
        }
    }
}

/// The name that was probably meant, or else the known ones.
fn hint<'a>(
    name: &str,
    known: &BTreeSet<String>,
    names: impl Iterator<Item = &'a str>,
    what: &str,
) -> String {
    const SHOWN: usize = 8;
    let near = nearest(name, names);
    if near.is_some() {
        return suggestion(near);
    }
    let listed = known.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if known.len() > SHOWN { ", …" } else { "" };
    format!("; the {what} are {listed}{more}")
}
