//! Messages: events, and what happens to streams between them.

use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeInclusive;

use super::bindings::*;
use super::class::BtEventClass;
use super::field::BtField;
use super::text;

/// A message; dropping it gives it back.
#[derive(Debug)]
pub struct Message(*const bt_message);

/// What a message says.
pub enum MessageView<'a> {
    /// An event.
    Event(BtEvent<'a>),
    /// A stream begins.
    StreamBeginning(BtStream<'a>),
    /// A packet begins, at this time if it says so.
    PacketBeginning(Option<i64>),
    /// A packet ends, at this time if it says so.
    PacketEnd(Option<i64>),
    /// The tracer discarded events.
    DiscardedEvents(Loss),
    /// Packets are missing.
    DiscardedPackets(Loss),
    /// Nothing that matters here.
    Other,
}

/// Something lost.
#[derive(Debug)]
pub struct Loss {
    /// How much, where that is known.
    pub count: Option<u64>,
    /// When, in nanoseconds since the clock's origin, where that is known.
    pub time: Option<RangeInclusive<i64>>,
}

impl Message {
    /// Takes over a reference.
    ///
    /// # Safety
    ///
    /// The pointer leads to a message, and the caller gives its reference away.
    pub(super) unsafe fn from_raw(message: *const bt_message) -> Self {
        Self(message)
    }

    /// What the message says.
    pub fn view(&self) -> MessageView<'_> {
        // SAFETY: the message is alive, and each function is called for its type alone.
        unsafe {
            match bt_message_get_type(self.0) {
                BT_MESSAGE_TYPE_EVENT => MessageView::Event(BtEvent {
                    message: self.0,
                    event: bt_message_event_borrow_event_const(self.0),
                    lifetime: PhantomData,
                }),
                BT_MESSAGE_TYPE_STREAM_BEGINNING => MessageView::StreamBeginning(BtStream {
                    stream: bt_message_stream_beginning_borrow_stream_const(self.0),
                    lifetime: PhantomData,
                }),
                BT_MESSAGE_TYPE_PACKET_BEGINNING => MessageView::PacketBeginning(packet_beginning(self.0)),
                BT_MESSAGE_TYPE_PACKET_END => MessageView::PacketEnd(packet_end(self.0)),
                BT_MESSAGE_TYPE_DISCARDED_EVENTS => MessageView::DiscardedEvents(discarded_events(self.0)),
                BT_MESSAGE_TYPE_DISCARDED_PACKETS => MessageView::DiscardedPackets(discarded_packets(self.0)),
                _ => MessageView::Other,
            }
        }
    }
}

/// # Safety
///
/// The message is a packet's beginning.
unsafe fn packet_beginning(message: *const bt_message) -> Option<i64> {
    // SAFETY: the caller vouches for the type; there is a clock snapshot if the class says so.
    unsafe {
        let packet = bt_message_packet_beginning_borrow_packet_const(message);
        let class = bt_stream_borrow_class_const(bt_packet_borrow_stream_const(packet));
        let timed = bt_stream_class_packets_have_beginning_default_clock_snapshot(class) != 0;
        let snapshot =
            || nanoseconds(bt_message_packet_beginning_borrow_default_clock_snapshot_const(message));
        timed.then(snapshot).flatten()
    }
}

/// # Safety
///
/// The message is a packet's end.
unsafe fn packet_end(message: *const bt_message) -> Option<i64> {
    // SAFETY: as above.
    unsafe {
        let packet = bt_message_packet_end_borrow_packet_const(message);
        let class = bt_stream_borrow_class_const(bt_packet_borrow_stream_const(packet));
        let timed = bt_stream_class_packets_have_end_default_clock_snapshot(class) != 0;
        let snapshot = || nanoseconds(bt_message_packet_end_borrow_default_clock_snapshot_const(message));
        timed.then(snapshot).flatten()
    }
}

/// Reads a message of discarded events or packets: the same functions under two names.
macro_rules! loss {
    ($message:expr, $count:ident, $stream:ident, $timed:ident, $begin:ident, $end:ident) => {{
        let mut count = 0;
        let known = $count($message, &mut count) == BT_PROPERTY_AVAILABILITY_AVAILABLE;
        let timed = $timed(bt_stream_borrow_class_const($stream($message))) != 0;
        let time = || Some(nanoseconds($begin($message))?..=nanoseconds($end($message))?);
        Loss { count: known.then_some(count), time: timed.then(time).flatten() }
    }};
}

/// # Safety
///
/// The message is one of discarded events.
unsafe fn discarded_events(message: *const bt_message) -> Loss {
    // SAFETY: the caller vouches for the type; there are clock snapshots if the class says so.
    unsafe {
        loss!(
            message,
            bt_message_discarded_events_get_count,
            bt_message_discarded_events_borrow_stream_const,
            bt_stream_class_discarded_events_have_default_clock_snapshots,
            bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const,
            bt_message_discarded_events_borrow_end_default_clock_snapshot_const
        )
    }
}

/// # Safety
///
/// The message is one of discarded packets.
unsafe fn discarded_packets(message: *const bt_message) -> Loss {
    // SAFETY: as above.
    unsafe {
        loss!(
            message,
            bt_message_discarded_packets_get_count,
            bt_message_discarded_packets_borrow_stream_const,
            bt_stream_class_discarded_packets_have_default_clock_snapshots,
            bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const,
            bt_message_discarded_packets_borrow_end_default_clock_snapshot_const
        )
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        // SAFETY: our own reference; nothing borrowed from the message outlives it.
        unsafe { bt_message_put_ref(self.0) };
    }
}

/// An event in a message.
#[derive(Clone, Copy)]
pub struct BtEvent<'a> {
    message: *const bt_message,
    event: *const bt_event,
    lifetime: PhantomData<&'a Message>,
}

impl<'a> BtEvent<'a> {
    /// When, in nanoseconds since the clock's origin; `None` without a clock, or out of range.
    pub fn timestamp(self) -> Option<i64> {
        // SAFETY: the message is an event's, and has a clock snapshot if its class has a clock.
        unsafe {
            if bt_message_event_borrow_stream_class_default_clock_class_const(self.message).is_null() {
                return None;
            }
            nanoseconds(bt_message_event_borrow_default_clock_snapshot_const(self.message))
        }
    }

    /// Its class.
    pub fn class(self) -> BtEventClass<'a> {
        // SAFETY: an event has a class, which lives as long as it.
        unsafe { BtEventClass::from_raw(bt_event_borrow_class_const(self.event)) }
    }

    /// The packet's context.
    pub fn packet_context(self) -> Option<BtField<'a>> {
        // SAFETY: a packet may be borrowed if the class supports packets; a field may be null.
        unsafe {
            let class = bt_stream_borrow_class_const(bt_event_borrow_stream_const(self.event));
            if bt_stream_class_supports_packets(class) == 0 {
                return None;
            }
            let packet = bt_event_borrow_packet_const(self.event);
            BtField::from_raw(bt_packet_borrow_context_field_const(packet))
        }
    }

    /// The context that all events of the stream have.
    pub fn common_context(self) -> Option<BtField<'a>> {
        // SAFETY: the event is alive; the field may be null.
        unsafe { BtField::from_raw(bt_event_borrow_common_context_field_const(self.event)) }
    }

    /// The context of this class's events.
    pub fn specific_context(self) -> Option<BtField<'a>> {
        // SAFETY: as above.
        unsafe { BtField::from_raw(bt_event_borrow_specific_context_field_const(self.event)) }
    }

    /// The event's own fields.
    pub fn payload(self) -> Option<BtField<'a>> {
        // SAFETY: as above.
        unsafe { BtField::from_raw(bt_event_borrow_payload_field_const(self.event)) }
    }
}

/// A value of a trace's environment.
#[derive(Clone, Debug, PartialEq)]
pub enum BtConstant {
    /// An integer.
    Integer(i64),
    /// Text.
    Text(String),
}

impl fmt::Display for BtConstant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => value.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// A stream.
#[derive(Clone, Copy)]
pub struct BtStream<'a> {
    stream: *const bt_stream,
    lifetime: PhantomData<&'a Message>,
}

impl BtStream<'_> {
    /// The number of its class, and its own.
    pub fn id(self) -> (u64, u64) {
        // SAFETY: a stream has a class.
        unsafe {
            let class = bt_stream_borrow_class_const(self.stream);
            (bt_stream_class_get_id(class), bt_stream_get_id(self.stream))
        }
    }

    /// The trace's environment, in its order.
    pub fn environment(self) -> Vec<(String, BtConstant)> {
        let mut entries = Vec::new();
        // SAFETY: a stream has a trace; indexes are below the count, and each value is read by its type.
        unsafe {
            let trace = bt_stream_borrow_trace_const(self.stream);
            for index in 0..bt_trace_get_environment_entry_count(trace) {
                let (mut name, mut value) = (std::ptr::null(), std::ptr::null());
                bt_trace_borrow_environment_entry_by_index_const(trace, index, &mut name, &mut value);
                let value = match bt_value_get_type(value) {
                    BT_VALUE_TYPE_STRING => BtConstant::Text(text(bt_value_string_get(value))),
                    BT_VALUE_TYPE_SIGNED_INTEGER => BtConstant::Integer(bt_value_integer_signed_get(value)),
                    _ => continue,
                };
                entries.push((text(name), value));
            }
        }
        entries
    }
}

/// A time in nanoseconds since the clock's origin, unless that is out of range.
///
/// # Safety
///
/// The pointer leads to a clock snapshot.
unsafe fn nanoseconds(snapshot: *const bt_clock_snapshot) -> Option<i64> {
    let mut time = 0;
    // SAFETY: the caller vouches for the pointer.
    let status = unsafe { bt_clock_snapshot_get_ns_from_origin(snapshot, &mut time) };
    if status == BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK {
        return Some(time);
    }
    // SAFETY: clears the error that the call may have left for the thread.
    unsafe { bt_current_thread_clear_error() };
    None
}
