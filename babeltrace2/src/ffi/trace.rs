//! Traces, with all their classes.

use super::bindings::*;
use super::class::scope;
use super::value::constant;
use super::{bt, text};
use crate::parameters::Parameter;
use crate::shape::{Clock, Constant, EventShape, StreamShape, TraceShape};

/// A trace, kept alive, and with it the addresses of its classes.
pub struct Trace(*const bt_trace);

impl Trace {
    /// # Safety
    ///
    /// The pointer leads to a trace.
    pub(super) unsafe fn from_raw(trace: *const bt_trace) -> Self {
        // SAFETY: the caller vouches for it.
        unsafe { bt().bt_trace_get_ref(trace) };
        Self(trace)
    }

    /// Its UUID, if it has one.
    pub fn uuid(&self) -> Option<[u8; 16]> {
        // SAFETY: the trace is alive; the UUID may be null, and has 16 bytes.
        unsafe {
            let uuid = bt().bt_trace_get_uuid(self.0);
            (!uuid.is_null()).then(|| *uuid.cast::<[u8; 16]>())
        }
    }

    /// All that is known of it now.
    pub fn shape(&self) -> TraceShape {
        // SAFETY: the trace is alive, and indexes are below their counts.
        unsafe {
            let class = bt().bt_trace_borrow_class_const(self.0);
            let stream = |index| stream(bt().bt_trace_class_borrow_stream_class_by_index_const(class, index));
            let entry = |index| {
                let (mut name, mut value) = (std::ptr::null(), std::ptr::null());
                bt().bt_trace_borrow_environment_entry_by_index_const(self.0, index, &mut name, &mut value);
                let value = match constant(value)? {
                    Parameter::Integer(value) => Constant::Integer(value),
                    Parameter::Text(value) => Constant::Text(value),
                    _ => return None,
                };
                Some((text(name), value))
            };
            TraceShape {
                uuid: self.uuid(),
                environment: (0..bt().bt_trace_get_environment_entry_count(self.0))
                    .filter_map(entry)
                    .collect(),
                streams: (0..bt().bt_trace_class_get_stream_class_count(class)).map(stream).collect(),
            }
        }
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // SAFETY: our own reference.
        unsafe { bt().bt_trace_put_ref(self.0) };
    }
}

/// # Safety
///
/// The pointer leads to a class.
unsafe fn stream(class: *const bt_stream_class) -> StreamShape {
    // SAFETY: the caller vouches for it; indexes are below their counts.
    unsafe {
        let event = |index| event(bt().bt_stream_class_borrow_event_class_by_index_const(class, index));
        let events = (0..bt().bt_stream_class_get_event_class_count(class)).map(event).collect();
        StreamShape { events, ..stream_without_events(class) }
    }
}

/// # Safety
///
/// The pointer leads to a class.
pub unsafe fn stream_without_events(class: *const bt_stream_class) -> StreamShape {
    // SAFETY: the caller vouches for it; a context is asked for only where there are packets, and may be null.
    unsafe {
        let has_packets = bt().bt_stream_class_supports_packets(class) != 0;
        let packet_context =
            has_packets.then(|| scope(bt().bt_stream_class_borrow_packet_context_field_class_const(class)));
        StreamShape {
            id: bt().bt_stream_class_get_id(class),
            clock: clock(bt().bt_stream_class_borrow_default_clock_class_const(class)),
            packet_context: packet_context.flatten(),
            common_context: scope(bt().bt_stream_class_borrow_event_common_context_field_class_const(class)),
            events: Vec::new(),
        }
    }
}

/// # Safety
///
/// The pointer leads to a class.
pub unsafe fn event(class: *const bt_event_class) -> EventShape {
    // SAFETY: the caller vouches for it; texts and fields may be null.
    unsafe {
        let mut level = BT_EVENT_CLASS_LOG_LEVEL_DEBUG;
        let known = bt().bt_event_class_get_log_level(class, &mut level);
        let uri = bt().bt_event_class_get_emf_uri(class);
        EventShape {
            id: bt().bt_event_class_get_id(class),
            name: text(bt().bt_event_class_get_name(class)),
            log_level: (known == BT_PROPERTY_AVAILABILITY_AVAILABLE).then(|| level.0.into()),
            emf_uri: (!uri.is_null()).then(|| text(uri)),
            specific_context: scope(bt().bt_event_class_borrow_specific_context_field_class_const(class)),
            payload: scope(bt().bt_event_class_borrow_payload_field_class_const(class)),
        }
    }
}

/// # Safety
///
/// The pointer is null, or leads to a clock.
unsafe fn clock(class: *const bt_clock_class) -> Option<Clock> {
    if class.is_null() {
        return None;
    }
    // SAFETY: the clock is not null; its name may be.
    unsafe {
        let (mut seconds, mut cycles) = (0, 0);
        bt().bt_clock_class_get_offset(class, &mut seconds, &mut cycles);
        Some(Clock {
            name: text(bt().bt_clock_class_get_name(class)),
            frequency: bt().bt_clock_class_get_frequency(class),
            offset_seconds: seconds,
            offset_cycles: cycles,
            is_unix_time: bt().bt_clock_class_origin_is_unix_epoch(class) != 0,
        })
    }
}
