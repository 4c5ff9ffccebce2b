//! What a form of output for single events has to do, and what all forms need.

use std::sync::Arc;

use ctf_reader::{ClassIndex, EventClass, Field, OrderedEvent, Trace};

/// How events are written.
///
/// An event's line is written in three steps, because its body may have to be kept for later: it may turn out to be
/// the context of another event, and the beginning of its line is not known until then.
pub trait Form {
    /// Adds a trace, before any of its classes.
    fn trace(&mut self, number: usize, trace: &Trace);

    /// Adds a class whose events may follow. `shown` are the fields to write, in this order.
    fn class(&mut self, class: &Arc<EventClass>, shown: &[ShownField]);

    /// Writes the heading, once all classes are known.
    fn heading(&self, _out: &mut Vec<u8>) {}

    /// Writes an event without its time.
    fn body(&mut self, event: &OrderedEvent<'_>, out: &mut Vec<u8>);

    /// Begins the line of an event.
    fn begin(&mut self, line: EventLine, out: &mut Vec<u8>);

    /// Ends the line of an event.
    fn end(&self, line: EventLine, out: &mut Vec<u8>);

    /// Writes a separator between events that are not consecutive.
    fn gap(&self, _out: &mut Vec<u8>) {}
}

/// A field that is written.
#[derive(Clone, Copy, Debug)]
pub struct ShownField {
    /// Its index among the fields of its class.
    pub index: usize,
    /// Its value.
    pub value: Field,
}

/// Sets an element of a list, which grows if necessary.
pub(super) fn put<T: Default>(list: &mut Vec<T>, place: usize, value: T) {
    if list.len() <= place {
        list.resize_with(place + 1, T::default);
    }
    list[place] = value;
}

/// A value for each event class.
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

    pub fn of_mut(&mut self, event: &OrderedEvent<'_>) -> Option<&mut T> {
        self.0.get_mut(event.class().index)?.as_mut()
    }
}

/// The context of an event that is about to be written.
#[derive(Clone, Copy)]
pub struct EventLine {
    /// Its time.
    pub timestamp: i64,
    /// The time of the event written before it.
    pub previous: Option<i64>,
    /// Whether it matches, where others are shown around matches.
    pub is_match: Option<bool>,
}
