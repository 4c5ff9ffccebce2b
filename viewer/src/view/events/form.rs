//! What a form of output for single events has to do, and what all forms need.

use std::sync::Arc;

use ctf_reader::{ClassIndex, EventClass, OrderedEvent, Trace};

/// How events are written.
///
/// An event's line is written in three steps, because what it is may have to be kept for later: it may turn out to be the
/// context of another event, and what comes before it in its line is not known until then.
pub trait Form {
    /// Takes note of where a trace comes from, before any of its classes.
    fn trace(&mut self, number: usize, trace: &Trace);

    /// Takes note of a class whose events may follow. `shown` says which of its fields to write, in this order, and where
    /// their values are.
    fn class(&mut self, class: &Arc<EventClass>, shown: &[ShownField]);

    /// Writes what comes before all events. All classes are known by then.
    fn heading(&self, _out: &mut Vec<u8>) {}

    /// Writes what an event is, without its place in time.
    fn body(&self, event: &OrderedEvent<'_>, out: &mut Vec<u8>);

    /// Begins the line of an event.
    fn begin(&mut self, line: EventLine, out: &mut Vec<u8>);

    /// Ends the line of an event.
    fn end(&self, line: EventLine, out: &mut Vec<u8>);

    /// Writes what stands between events that do not follow each other.
    fn gap(&self, _out: &mut Vec<u8>) {}
}

/// A field that is written.
#[derive(Clone, Copy, Debug)]
pub struct ShownField {
    /// The field, as an index into those of its class.
    pub field: usize,
    /// Where its value is.
    pub slot: usize,
}

/// Puts something at a place of a list, which grows if need be.
pub(super) fn put<T: Default>(list: &mut Vec<T>, place: usize, value: T) {
    if list.len() <= place {
        list.resize_with(place + 1, T::default);
    }
    list[place] = value;
}

/// Something for each event class that may follow.
pub(super) struct ByClass<T>(Vec<Option<T>>);

impl<T> Default for ByClass<T> {
    fn default() -> Self {
        ByClass(Vec::new())
    }
}

impl<T> ByClass<T> {
    pub fn set(&mut self, class: ClassIndex, value: T) {
        if self.0.len() <= class {
            self.0.resize_with(class + 1, || None);
        }
        self.0[class] = Some(value);
    }

    pub fn of(&self, event: &OrderedEvent<'_>) -> Option<&T> {
        self.0.get(event.class().index)?.as_ref()
    }
}

/// Where in time an event is that is about to be written.
#[derive(Clone, Copy)]
pub struct EventLine {
    /// When it happened.
    pub timestamp: i64,
    /// When the one written before it happened.
    pub previous: Option<i64>,
    /// Whether it was asked for, where others are shown around it.
    pub is_match: Option<bool>,
}
