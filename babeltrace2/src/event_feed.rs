//! Feeds the events of graphs to a collector.

use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use ctf_reader::{ClassIndex, Collect, Decoded, Progress, Report, Value, Window};

use crate::classes::{FieldSlot, ReadableClass, describe};
use crate::ffi::{self, BtConstant, Graph, Loss, Message, MessageView};
use crate::fields;
use crate::packets::ScannedPacket;

/// One reading of all traces.
pub struct EventFeed<'p, C> {
    pub collector: C,
    pub report: Report,
    window: Window,
    progress: &'p Progress,
    /// How to read the wanted fields of each class; `None` where the class's events are stepped over.
    classes: Vec<Option<Vec<FieldSlot>>>,
    /// Reused from event to event.
    values: Vec<Value<'static>>,
}

/// What is known of the trace being read.
#[derive(Default)]
pub struct TraceState {
    /// Its index in the report.
    pub index: usize,
    pub environment: Vec<(String, BtConstant)>,
    /// Its classes, by the numbers of the stream class and of the event class.
    classes: HashMap<(u64, u64), ClassIndex>,
}

impl TraceState {
    /// A trace with this index in the report.
    pub fn new(index: usize) -> Self {
        Self { index, ..Self::default() }
    }
}

/// What is known of a stream being read.
#[derive(Clone, Default)]
pub struct StreamState<'s> {
    /// The numbers of its class and of itself.
    id: (u64, u64),
    /// Its packets, where they are known.
    packets: &'s [ScannedPacket],
    /// The number of packets that have begun.
    begun: usize,
    /// Whether the last packet was counted as one of the window.
    is_counted: bool,
    /// The class of the last event, by its number: most events are of the same class as the one before.
    last: Option<(u64, ClassIndex)>,
}

/// A stream that could not be read to its end.
pub struct StreamFailure<'s> {
    /// The packet in which it failed, where that is known.
    pub packet: Option<&'s ScannedPacket>,
    /// The packets after it, and the one before the first of them.
    pub unread: &'s [ScannedPacket],
    /// Babeltrace's causes.
    pub reason: String,
}

impl<'p, C: Collect<Stop = Infallible>> EventFeed<'p, C> {
    /// Begins a feed.
    pub fn new(collector: C, window: Window, progress: &'p Progress) -> Self {
        let (report, classes, values) = (Report::default(), Vec::new(), Vec::new());
        Self { collector, report, window, progress, classes, values }
    }

    /// Reads all that a graph has. `packets` gives the packets of a stream, by the numbers of its class and
    /// of itself.
    pub fn graph<'s>(
        &mut self,
        graph: &mut Graph,
        trace: &mut TraceState,
        packets: impl Fn((u64, u64)) -> &'s [ScannedPacket],
    ) -> Result<Vec<StreamFailure<'s>>, String> {
        let mut streams = vec![StreamState::default(); graph.streams()];
        let mut failures = Vec::new();
        let mut messages = Vec::new();
        while let Some(step) = graph.step(&mut messages)? {
            let stream = &mut streams[step.stream];
            for message in &messages {
                self.message(message, stream, trace, &packets);
            }
            if let Some(reason) = step.failure {
                let (read, unread) = stream.packets.split_at(stream.begun.min(stream.packets.len()));
                failures.push(StreamFailure { packet: read.last(), unread, reason });
            }
        }
        Ok(failures)
    }

    fn message<'s>(
        &mut self,
        message: &Message,
        stream: &mut StreamState<'s>,
        trace: &mut TraceState,
        packets: impl Fn((u64, u64)) -> &'s [ScannedPacket],
    ) {
        match message.view() {
            MessageView::Event(event) => self.event(event, stream, trace),
            MessageView::StreamBeginning(beginning) => {
                stream.id = beginning.id();
                stream.packets = packets(stream.id);
                if trace.environment.is_empty() {
                    trace.environment = beginning.environment();
                }
            }
            MessageView::PacketBeginning(begin) => {
                let size = stream.packets.get(stream.begun).map_or(0, |packet| packet.size);
                self.progress.done.fetch_add(size, Relaxed);
                stream.begun += 1;
                stream.is_counted = begin.zip(self.window.until).is_none_or(|(begin, until)| begin <= until);
                self.report.traces[trace.index].packets += u64::from(stream.is_counted);
            }
            MessageView::PacketEnd(end) => {
                let is_before = end.zip(self.window.since).is_some_and(|(end, since)| end < since);
                self.report.traces[trace.index].packets -= u64::from(is_before && stream.is_counted);
            }
            MessageView::DiscardedEvents(loss) if overlaps(self.window, &loss) => {
                self.report.discarded_events += loss.count.unwrap_or_else(|| first_discarded(stream.packets));
            }
            MessageView::DiscardedPackets(loss) if overlaps(self.window, &loss) => {
                self.report.lost_packets += loss.count.unwrap_or(0);
            }
            _ => {}
        }
    }

    fn event(&mut self, event: ffi::BtEvent<'_>, stream: &mut StreamState<'_>, trace: &mut TraceState) {
        // Without a clock, or out of its range, the origin is the best guess.
        let timestamp = event.timestamp().unwrap_or(0);
        if self.window.since.is_some_and(|since| timestamp < since)
            || self.window.until.is_some_and(|until| timestamp > until)
        {
            return;
        }
        self.report.events += 1;
        self.report.span = Some(widen(self.report.span.take(), timestamp));
        let id = event.class().id();
        let class = match stream.last {
            Some((last, class)) if last == id => class,
            _ => self.class(event.class(), stream.id.0, trace),
        };
        stream.last = Some((id, class));
        let Some(Some(wanted)) = self.classes.get(class) else { return };
        let mut values = recycle(std::mem::take(&mut self.values));
        fields::read(wanted, &trace.environment, event, &mut values);
        let decoded = Decoded { timestamp, values: &values };
        let ControlFlow::Continue(()) = self.collector.events(&decoded.events(class));
        self.values = recycle(values);
    }

    /// The index of a class, which is shown to the collector the first time it is met.
    fn class(
        &mut self,
        class: ffi::BtEventClass<'_>,
        stream_class: u64,
        trace: &mut TraceState,
    ) -> ClassIndex {
        let index = self.classes.len();
        let known = *trace.classes.entry((stream_class, class.id())).or_insert(index);
        if known == index {
            let ReadableClass { class, slots } = describe(class, &trace.environment, index, trace.index);
            let wanted = self.collector.want(&Arc::new(class));
            let slots_of =
                |fields: Vec<usize>| fields.iter().filter_map(|&i| slots.get(i).cloned()).collect();
            self.classes.push(wanted.map(slots_of));
        }
        known
    }
}

/// The number of events that were discarded until the end of a stream's first packet.
///
/// Babeltrace 2.0 leaves this out, because it takes the tracer's counter for a difference only. The counter
/// begins with packet 0; in a later packet it also holds what was discarded before this trace's data.
fn first_discarded(packets: &[ScannedPacket]) -> u64 {
    packets.first().map_or(0, |first| if first.sequence == 0 { first.discarded } else { 0 })
}

fn overlaps(window: Window, loss: &Loss) -> bool {
    let Some(time) = &loss.time else { return true };
    window.since.is_none_or(|since| *time.end() >= since)
        && window.until.is_none_or(|until| *time.start() <= until)
}

fn widen(span: Option<RangeInclusive<i64>>, timestamp: i64) -> RangeInclusive<i64> {
    match span {
        Some(span) => timestamp.min(*span.start())..=timestamp.max(*span.end()),
        None => timestamp..=timestamp,
    }
}

/// Empties a vector and keeps its memory for values of another lifetime.
fn recycle<'a>(mut values: Vec<Value<'_>>) -> Vec<Value<'a>> {
    values.clear();
    values.into_iter().map(|_| Value::Unsigned(0)).collect()
}
