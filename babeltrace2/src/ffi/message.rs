//! Messages: what a graph hands to a sink.

use std::marker::PhantomData;

use super::bindings::*;
use super::bt;
use super::field::Field;
use super::trace::Trace;

/// What a message says.
pub enum Message<'a> {
    /// Events of a stream follow.
    StreamBegins(Stream<'a>),
    /// No more events of it follow.
    StreamEnds(Stream<'a>),
    /// A packet begins, at this time of the stream's clock if that is known, with this context.
    PacketBegins(Stream<'a>, Option<u64>, Option<Field<'a>>),
    /// A packet ends, at this time if that is known.
    PacketEnds(Stream<'a>, Option<u64>),
    /// An event.
    Event(Event<'a>),
    /// Events were lost, this number if that is known.
    EventsLost(Stream<'a>, Option<u64>),
    /// Packets were lost.
    PacketsLost(Stream<'a>, Option<u64>),
    /// Nothing that is recorded.
    Other,
}

/// A message that is ours.
pub(super) struct OwnedMessage(*const bt_message);

impl OwnedMessage {
    /// # Safety
    ///
    /// The pointer leads to a message, whose reference is handed over.
    pub unsafe fn from_raw(message: *const bt_message) -> Self {
        Self(message)
    }

    /// What it says.
    pub fn view(&self) -> Message<'_> {
        let message = self.0;
        // SAFETY: the message is alive, and each function is called for its type alone.
        unsafe {
            match bt().bt_message_get_type(message) {
                BT_MESSAGE_TYPE_EVENT => Message::Event(Event {
                    message,
                    event: bt().bt_message_event_borrow_event_const(message),
                    lifetime: PhantomData,
                }),
                BT_MESSAGE_TYPE_STREAM_BEGINNING => Message::StreamBegins(Stream::of(
                    bt().bt_message_stream_beginning_borrow_stream_const(message),
                )),
                BT_MESSAGE_TYPE_STREAM_END => {
                    Message::StreamEnds(Stream::of(bt().bt_message_stream_end_borrow_stream_const(message)))
                }
                BT_MESSAGE_TYPE_PACKET_BEGINNING => {
                    let packet = bt().bt_message_packet_beginning_borrow_packet_const(message);
                    let stream = Stream::of(bt().bt_packet_borrow_stream_const(packet));
                    let timed = bt()
                        .bt_stream_class_packets_have_beginning_default_clock_snapshot(stream.class())
                        != 0;
                    let time = timed.then(|| {
                        value(bt().bt_message_packet_beginning_borrow_default_clock_snapshot_const(message))
                    });
                    let context = Field::from_raw(bt().bt_packet_borrow_context_field_const(packet));
                    Message::PacketBegins(stream, time, context)
                }
                BT_MESSAGE_TYPE_PACKET_END => {
                    let packet = bt().bt_message_packet_end_borrow_packet_const(message);
                    let stream = Stream::of(bt().bt_packet_borrow_stream_const(packet));
                    let timed =
                        bt().bt_stream_class_packets_have_end_default_clock_snapshot(stream.class()) != 0;
                    let time = timed.then(|| {
                        value(bt().bt_message_packet_end_borrow_default_clock_snapshot_const(message))
                    });
                    Message::PacketEnds(stream, time)
                }
                BT_MESSAGE_TYPE_DISCARDED_EVENTS => {
                    let mut count = 0;
                    let known = bt().bt_message_discarded_events_get_count(message, &mut count);
                    let stream = Stream::of(bt().bt_message_discarded_events_borrow_stream_const(message));
                    Message::EventsLost(
                        stream,
                        (known == BT_PROPERTY_AVAILABILITY_AVAILABLE).then_some(count),
                    )
                }
                BT_MESSAGE_TYPE_DISCARDED_PACKETS => {
                    let mut count = 0;
                    let known = bt().bt_message_discarded_packets_get_count(message, &mut count);
                    let stream = Stream::of(bt().bt_message_discarded_packets_borrow_stream_const(message));
                    Message::PacketsLost(
                        stream,
                        (known == BT_PROPERTY_AVAILABILITY_AVAILABLE).then_some(count),
                    )
                }
                _ => Message::Other,
            }
        }
    }
}

impl Drop for OwnedMessage {
    fn drop(&mut self) {
        // SAFETY: our own reference; nothing borrowed from the message outlives it.
        unsafe { bt().bt_message_put_ref(self.0) };
    }
}

/// The time of a snapshot, in cycles of its clock.
///
/// # Safety
///
/// The pointer leads to a snapshot.
unsafe fn value(snapshot: *const bt_clock_snapshot) -> u64 {
    // SAFETY: the caller vouches for it.
    unsafe { bt().bt_clock_snapshot_get_value(snapshot) }
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

    /// What its trace is known by.
    pub fn trace_address(self) -> usize {
        // SAFETY: the stream is alive and has a trace.
        unsafe { bt().bt_stream_borrow_trace_const(self.stream) }.addr()
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

/// An event in a message.
#[derive(Clone, Copy)]
pub struct Event<'a> {
    message: *const bt_message,
    event: *const bt_event,
    lifetime: PhantomData<&'a ()>,
}

impl<'a> Event<'a> {
    /// Its stream.
    pub fn stream(self) -> Stream<'a> {
        // SAFETY: the event is alive and has a stream.
        unsafe { Stream::of(bt().bt_event_borrow_stream_const(self.event)) }
    }

    /// The time, in cycles of the stream's clock, which it must have.
    pub fn time(self) -> u64 {
        // SAFETY: the message has a snapshot where its stream has a clock.
        unsafe { value(bt().bt_message_event_borrow_default_clock_snapshot_const(self.message)) }
    }

    /// The number of its class.
    pub fn class_id(self) -> u64 {
        // SAFETY: the event is alive and has a class.
        unsafe { bt().bt_event_class_get_id(bt().bt_event_borrow_class_const(self.event)) }
    }

    /// Its fields: the context that all events of the stream have, that of its class, and its own.
    pub fn fields(self) -> [Option<Field<'a>>; 3] {
        // SAFETY: the event is alive; each may be null.
        unsafe {
            [
                bt().bt_event_borrow_common_context_field_const(self.event),
                bt().bt_event_borrow_specific_context_field_const(self.event),
                bt().bt_event_borrow_payload_field_const(self.event),
            ]
            .map(|field| Field::from_raw(field))
        }
    }
}
