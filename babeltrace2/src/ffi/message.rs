//! Messages: what a graph hands to a sink.

use std::marker::PhantomData;

use super::bindings::*;
use super::bt;
use super::field::Field;
use super::trace::Trace;

/// A message of a stream.
pub struct Message<'a> {
    /// The stream.
    pub stream: Stream<'a>,
    /// What it says.
    pub content: Content<'a>,
}

/// What a message says. Times are in cycles of the stream's clock, where they are known.
pub enum Content<'a> {
    /// Events of the stream follow.
    StreamBegins,
    /// No more events of it follow.
    StreamEnds,
    /// A packet begins, with this context.
    PacketBegins(Option<u64>, Option<Field<'a>>),
    /// A packet ends.
    PacketEnds(Option<u64>),
    /// An event: the number of its class, and its fields (the context that all events of the stream have, that of its class,
    /// and its own).
    Event(u64, Option<u64>, [Option<Field<'a>>; 3]),
    /// Events were lost, this number if that is known.
    EventsLost(Option<u64>),
    /// Packets were lost.
    PacketsLost(Option<u64>),
}

/// A message that is ours.
pub(super) struct OwnedMessage(pub *const bt_message);

impl OwnedMessage {
    /// What it says, if that is recorded.
    pub fn view(&self) -> Option<Message<'_>> {
        let message = self.0;
        // SAFETY: the message is alive, and each function is called for its type alone. Snapshots are there where the class says
        // so, and for events where it has a clock.
        unsafe {
            let time = |snapshot| bt().bt_clock_snapshot_get_value(snapshot);
            let count = |get: &dyn Fn(*mut u64) -> bt_property_availability| {
                let mut count = 0;
                (get(&mut count) == BT_PROPERTY_AVAILABILITY_AVAILABLE).then_some(count)
            };
            let (stream, content) = match bt().bt_message_get_type(message) {
                BT_MESSAGE_TYPE_EVENT => {
                    let event = bt().bt_message_event_borrow_event_const(message);
                    let stream = Stream::of(bt().bt_event_borrow_stream_const(event));
                    let time = stream
                        .has_clock()
                        .then(|| time(bt().bt_message_event_borrow_default_clock_snapshot_const(message)));
                    let fields = [
                        bt().bt_event_borrow_common_context_field_const(event),
                        bt().bt_event_borrow_specific_context_field_const(event),
                        bt().bt_event_borrow_payload_field_const(event),
                    ];
                    let class = bt().bt_event_class_get_id(bt().bt_event_borrow_class_const(event));
                    (stream, Content::Event(class, time, fields.map(|field| Field::from_raw(field))))
                }
                BT_MESSAGE_TYPE_STREAM_BEGINNING => {
                    let stream = bt().bt_message_stream_beginning_borrow_stream_const(message);
                    (Stream::of(stream), Content::StreamBegins)
                }
                BT_MESSAGE_TYPE_STREAM_END => {
                    let stream = bt().bt_message_stream_end_borrow_stream_const(message);
                    (Stream::of(stream), Content::StreamEnds)
                }
                BT_MESSAGE_TYPE_PACKET_BEGINNING => {
                    let packet = bt().bt_message_packet_beginning_borrow_packet_const(message);
                    let stream = Stream::of(bt().bt_packet_borrow_stream_const(packet));
                    let is_timed =
                        bt().bt_stream_class_packets_have_beginning_default_clock_snapshot(stream.class());
                    let time = (is_timed != 0).then(|| {
                        time(bt().bt_message_packet_beginning_borrow_default_clock_snapshot_const(message))
                    });
                    let context = Field::from_raw(bt().bt_packet_borrow_context_field_const(packet));
                    (stream, Content::PacketBegins(time, context))
                }
                BT_MESSAGE_TYPE_PACKET_END => {
                    let packet = bt().bt_message_packet_end_borrow_packet_const(message);
                    let stream = Stream::of(bt().bt_packet_borrow_stream_const(packet));
                    let is_timed =
                        bt().bt_stream_class_packets_have_end_default_clock_snapshot(stream.class());
                    let time = (is_timed != 0).then(|| {
                        time(bt().bt_message_packet_end_borrow_default_clock_snapshot_const(message))
                    });
                    (stream, Content::PacketEnds(time))
                }
                BT_MESSAGE_TYPE_DISCARDED_EVENTS => {
                    let stream = bt().bt_message_discarded_events_borrow_stream_const(message);
                    let count = count(&|count| bt().bt_message_discarded_events_get_count(message, count));
                    (Stream::of(stream), Content::EventsLost(count))
                }
                BT_MESSAGE_TYPE_DISCARDED_PACKETS => {
                    let stream = bt().bt_message_discarded_packets_borrow_stream_const(message);
                    let count = count(&|count| bt().bt_message_discarded_packets_get_count(message, count));
                    (Stream::of(stream), Content::PacketsLost(count))
                }
                _ => return None,
            };
            Some(Message { stream, content })
        }
    }
}

impl Drop for OwnedMessage {
    fn drop(&mut self) {
        // SAFETY: our own reference; nothing borrowed from the message outlives it.
        unsafe { bt().bt_message_put_ref(self.0) };
    }
}

/// A stream.
#[derive(Clone, Copy)]
pub struct Stream<'a> {
    stream: *const bt_stream,
    lifetime: PhantomData<&'a ()>,
}

impl Stream<'_> {
    /// # Safety
    ///
    /// The pointer leads to a stream that lives as long as its message.
    unsafe fn of(stream: *const bt_stream) -> Self {
        Stream { stream, lifetime: PhantomData }
    }

    fn class(self) -> *const bt_stream_class {
        // SAFETY: the stream is alive and has a class.
        unsafe { bt().bt_stream_borrow_class_const(self.stream) }
    }

    /// What it is known by while its trace is alive.
    pub fn address(self) -> usize {
        self.stream.addr()
    }

    /// Its trace, kept alive.
    pub fn trace(self) -> Trace {
        // SAFETY: the stream is alive and has a trace.
        unsafe { Trace::from_raw(bt().bt_stream_borrow_trace_const(self.stream)) }
    }

    /// The number of its class.
    pub fn class_id(self) -> u64 {
        // SAFETY: the class is alive with its stream.
        unsafe { bt().bt_stream_class_get_id(self.class()) }
    }

    /// Whether its events have times.
    pub fn has_clock(self) -> bool {
        // SAFETY: the class is alive with its stream.
        unsafe { !bt().bt_stream_class_borrow_default_clock_class_const(self.class()).is_null() }
    }
}
