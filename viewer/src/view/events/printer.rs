//! Writes events as they are followed: all of them, those around matches, or those around a moment.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::Arc;

use ctf_reader::{EventClass, Field, OrderedEvent, Trace};

use super::form::{EventLine, Form, ShownField};
use ltt_analysis::follow::Follower;

/// The number of bytes to buffer before they are written.
const BUFFER: usize = 64 << 10;

/// Which events are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// Those that match.
    Matches,
    /// Those that match, and this number of events before and after each.
    Context(usize),
    /// This number of matches before a moment, and after it.
    Around(i64, usize),
}

/// Why writing ended early.
#[derive(Debug)]
pub enum Stop {
    /// Everything has been written.
    Enough,
    /// There are fewer events before the moment than wanted; reading from an earlier time may find more.
    TooFew,
    /// The output failed.
    Failed(io::Error),
}

/// Writes events in a form.
pub struct Printer<'o> {
    form: Box<dyn Form>,
    show: Show,
    /// Whether fewer events before the moment than wanted are accepted.
    takes_fewer: bool,
    /// How many more matches may be written.
    limit: usize,
    out: &'o mut dyn Write,
    buffer: Vec<u8>,
    /// Events that may become the context of a later one, with their times, and buffers for reuse.
    held: VecDeque<(i64, Vec<u8>)>,
    spare: Vec<Vec<u8>>,
    /// How many events after the last match are still to be written.
    following: usize,
    /// When the last event that was written happened.
    previous: Option<i64>,
    /// Whether an event has been left out since.
    is_gap: bool,
    has_begun: bool,
    /// How many events have been written.
    shown: usize,
    /// The fields to write; all if not given.
    fields: Option<Vec<String>>,
}

impl<'o> Printer<'o> {
    /// Writes events in a form, at most this number of matches. `takes_fewer` says whether fewer events before a
    /// moment than wanted are accepted.
    pub fn new(
        form: Box<dyn Form>,
        show: Show,
        takes_fewer: bool,
        limit: usize,
        out: &'o mut dyn Write,
    ) -> Printer<'o> {
        let limit = match show {
            Show::Around(_, count) => limit.min(count),
            _ => limit,
        };
        Printer {
            form,
            show,
            takes_fewer,
            limit,
            out,
            buffer: Vec::with_capacity(2 * BUFFER),
            held: VecDeque::new(),
            spare: Vec::new(),
            following: 0,
            previous: None,
            is_gap: false,
            has_begun: false,
            shown: 0,
            fields: None,
        }
    }

    /// Writes only these fields, in this order, where events have them.
    pub fn with_fields(mut self, fields: Option<Vec<String>>) -> Printer<'o> {
        self.fields = fields;
        self
    }

    /// Writes events of these traces.
    pub fn with_traces(mut self, traces: &[Trace]) -> Printer<'o> {
        traces.iter().enumerate().for_each(|(number, trace)| self.form.trace(number, trace));
        self
    }

    /// Adds a trace, before any of its classes.
    pub fn trace(&mut self, number: usize, trace: &Trace) {
        self.form.trace(number, trace);
    }

    /// Writes the buffer.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        self.out.flush()
    }

    /// Whether there were fewer events before the moment than wanted, and none after it.
    pub fn is_short(&self) -> bool {
        matches!(self.show, Show::Around(_, count) if self.shown == 0 && self.held.len() < count)
    }

    /// How many events have been written, or will be at the end.
    pub fn shown(&self) -> usize {
        self.shown + if let Show::Around(..) = self.show { self.held.len() } else { 0 }
    }

    /// Writes the rest.
    pub fn finish(mut self) -> io::Result<()> {
        self.begin();
        if let Show::Around(..) = self.show {
            self.release(true);
        }
        self.out.write_all(&self.buffer)?;
        self.out.flush()
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.form.heading(&mut self.buffer);
        }
    }

    /// Keeps an event that may be written later.
    fn hold(&mut self, event: &OrderedEvent<'_>, most: usize) {
        if most == 0 {
            self.is_gap = true;
            return;
        }
        let oldest = if self.held.len() == most { self.held.pop_front() } else { None };
        self.is_gap |= oldest.is_some();
        let mut body = oldest.map(|(_, body)| body).or_else(|| self.spare.pop()).unwrap_or_default();
        body.clear();
        self.form.body(event, &mut body);
        self.held.push_back((event.timestamp(), body));
    }

    /// Writes all events that are being held.
    fn release(&mut self, are_matches: bool) {
        while let Some((timestamp, body)) = self.held.pop_front() {
            self.write(timestamp, are_matches, |_, out| out.extend_from_slice(&body));
            self.spare.push(body);
        }
    }

    fn write(&mut self, timestamp: i64, is_match: bool, body: impl FnOnce(&mut dyn Form, &mut Vec<u8>)) {
        if std::mem::take(&mut self.is_gap) && self.previous.is_some() && self.show != Show::Matches {
            self.form.gap(&mut self.buffer);
        }
        let is_match = matches!(self.show, Show::Context(_)).then_some(is_match);
        let line = EventLine { timestamp, previous: self.previous, is_match };
        self.form.begin(line, &mut self.buffer);
        body(&mut *self.form, &mut self.buffer);
        self.form.end(line, &mut self.buffer);
        self.previous = Some(timestamp);
        self.shown += 1;
    }

    fn write_event(&mut self, event: &OrderedEvent<'_>, is_match: bool) {
        self.write(event.timestamp(), is_match, |form, out| form.body(event, out));
    }

    fn flush_if_full(&mut self) -> ControlFlow<Stop> {
        if self.buffer.len() >= BUFFER {
            if let Err(error) = self.out.write_all(&self.buffer) {
                return ControlFlow::Break(Stop::Failed(error));
            }
            self.buffer.clear();
        }
        ControlFlow::Continue(())
    }
}

impl Follower for Printer<'_> {
    type Stop = Stop;

    fn class(&mut self, class: &Arc<EventClass>, fields: &[Field]) {
        let all = || (0..class.fields.len()).collect();
        let named = |names: &Vec<String>| names.iter().filter_map(|name| class.field(name)).collect();
        let indexes: Vec<usize> = self.fields.as_ref().map_or_else(all, named);
        let shown = indexes.into_iter().map(|index| ShownField { index, value: fields[index] });
        self.form.class(class, &shown.collect::<Vec<_>>());
    }

    fn event(&mut self, event: &OrderedEvent<'_>, is_match: bool) -> ControlFlow<Stop> {
        self.begin();
        match self.show {
            Show::Around(moment, count) if event.timestamp() < moment => {
                self.hold(event, count);
                return ControlFlow::Continue(());
            }
            Show::Around(_, count) => {
                if self.shown == 0 && self.held.len() < count && !self.takes_fewer {
                    return ControlFlow::Break(Stop::TooFew);
                }
                self.release(true);
            }
            Show::Matches => {}
            Show::Context(count) if is_match => {
                self.release(false);
                self.following = count;
            }
            Show::Context(_) if self.following > 0 => {
                self.following -= 1;
                self.write_event(event, false);
                return match self.following == 0 && self.limit == 0 {
                    true => ControlFlow::Break(Stop::Enough),
                    false => self.flush_if_full(),
                };
            }
            Show::Context(count) => {
                self.hold(event, count);
                return ControlFlow::Continue(());
            }
        }
        if self.limit == 0 {
            return ControlFlow::Break(Stop::Enough);
        }
        self.limit -= 1;
        self.write_event(event, true);
        let is_done = self.limit == 0 && self.following == 0;
        if is_done { ControlFlow::Break(Stop::Enough) } else { self.flush_if_full() }
    }
}
