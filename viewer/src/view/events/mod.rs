//! Single events, written one after the other as they are read: as Babeltrace's text, as JSON lines or as CSV.

use std::sync::Arc;

use ctf_reader::{EventClass, OrderedEvent};

mod clock;
mod csv;
mod json;
mod printer;
mod text;
mod value;

pub use csv::CsvForm;
pub use json::JsonForm;
pub use printer::{Printer, Show, Stop};
pub use text::TextForm;

/// How events are written.
///
/// An event is written in two steps, because its line may be needed only later: it may turn out to be the context of
/// another one, and what stands before it is not known until then.
pub trait Form {
    /// Takes note of a class whose events may follow. `slots` says for each of its fields where its value is.
    fn class(&mut self, class: &Arc<EventClass>, slots: &[usize]);

    /// Writes what comes before all events. All classes are known by then.
    fn heading(&self, _out: &mut Vec<u8>) {}

    /// Writes what an event is, without its place in time.
    fn body(&self, event: &OrderedEvent<'_>, out: &mut Vec<u8>);

    /// Writes the line of an event.
    fn line(&mut self, line: Line<'_>, out: &mut Vec<u8>);

    /// Writes what stands between events that do not follow each other.
    fn gap(&self, _out: &mut Vec<u8>) {}
}

/// An event that is about to be written.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    /// When it happened.
    pub timestamp: i64,
    /// When the one written before it happened.
    pub previous: Option<i64>,
    /// Whether it was asked for, where others are shown around it.
    pub is_match: Option<bool>,
    /// What [`Form::body`] wrote.
    pub body: &'a [u8],
}
