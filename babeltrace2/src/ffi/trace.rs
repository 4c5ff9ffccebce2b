//! Traces, and the metadata that describes them in CTF 2.

use std::ptr;

use serde_json::{Map, Value, json};

use super::bindings::*;
use super::class::{Scopes, fixed, member, structure};
use super::value::parameter;
use super::{bt, text};

/// The namespace of log levels and URIs, which LTTng's reader and ours know.
const LTTNG: &str = "lttng.org,2009";

/// A trace, kept alive, and with it the addresses of its classes.
#[derive(PartialEq)]
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

    /// The metadata of all classes that are known now.
    pub fn metadata(&self) -> String {
        let mut preamble = json!({"type": "preamble", "version": 2});
        if let Some(uuid) = self.uuid() {
            preamble["uuid"] = json!(uuid);
        }
        let mut fragments = vec![
            preamble,
            json!({
                "type": "trace-class",
                "environment": self.environment(),
                "packet-header-field-class": structure(packet_header(self.uuid().is_some())),
            }),
        ];
        // SAFETY: the trace is alive, and so are its classes; indexes are below their counts.
        unsafe {
            let class = bt().bt_trace_borrow_class_const(self.0);
            for index in 0..bt().bt_trace_class_get_stream_class_count(class) {
                let stream = bt().bt_trace_class_borrow_stream_class_by_index_const(class, index);
                let clock = bt().bt_stream_class_borrow_default_clock_class_const(stream);
                let clock = (!clock.is_null()).then(|| clock_class(clock, index));
                let described = stream_class(stream, clock.as_ref().map(|clock| &clock["id"]));
                fragments.extend(clock.into_iter().chain([described]));
                for index in 0..bt().bt_stream_class_get_event_class_count(stream) {
                    let event = bt().bt_stream_class_borrow_event_class_by_index_const(stream, index);
                    fragments.push(event_class(event, stream));
                }
            }
        }
        fragments.iter().map(|fragment| format!("\u{1e}{fragment}\n")).collect()
    }

    fn environment(&self) -> Map<String, Value> {
        // SAFETY: the trace is alive, and indexes are below the count.
        unsafe {
            let entry = |index| {
                let (mut name, mut value) = (ptr::null(), ptr::null());
                bt().bt_trace_borrow_environment_entry_by_index_const(self.0, index, &mut name, &mut value);
                let value = parameter(value).filter(|value| value.is_number() || value.is_string())?;
                Some((text(name), value))
            };
            (0..bt().bt_trace_get_environment_entry_count(self.0)).filter_map(entry).collect()
        }
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // SAFETY: our own reference.
        unsafe { bt().bt_trace_put_ref(self.0) };
    }
}

fn packet_header(has_uuid: bool) -> Vec<Value> {
    let mut members = vec![member("magic", number(32, "packet-magic-number"))];
    if has_uuid {
        let uuid = json!({"type": "static-length-blob", "length": 16, "roles": ["metadata-stream-uuid"]});
        members.push(member("uuid", uuid));
    }
    members.push(member("stream_id", number(64, "data-stream-class-id")));
    members.push(member("stream_instance_id", number(64, "data-stream-id")));
    members
}

/// A number that the reader needs.
fn number(bits: usize, role: &str) -> Value {
    let mut class = fixed("unsigned-integer", bits);
    class["roles"] = json!([role]);
    class
}

/// # Safety
///
/// The pointer leads to a clock.
unsafe fn clock_class(class: *const bt_clock_class, index: u64) -> Value {
    // SAFETY: the caller vouches for it; its name may be null.
    unsafe {
        let (mut seconds, mut cycles) = (0_i64, 0_u64);
        bt().bt_clock_class_get_offset(class, &mut seconds, &mut cycles);
        let name = text(bt().bt_clock_class_get_name(class));
        let frequency = bt().bt_clock_class_get_frequency(class).max(1);
        let is_unix_time = bt().bt_clock_class_origin_is_unix_epoch(class) != 0;
        json!({
            "type": "clock-class",
            "id": match (name.as_str(), index) {
                ("", _) => format!("clock-{index}"),
                (name, 0) => name.to_owned(),
                (name, _) => format!("{name}-{index}"),
            },
            "name": name,
            "frequency": frequency,
            "origin": if is_unix_time { "unix-epoch" } else { "unknown" },
            // CTF 2 wants less than a second of cycles.
            "offset-from-origin": {
                "seconds": seconds.saturating_add_unsigned(cycles / frequency),
                "cycles": cycles % frequency,
            },
        })
    }
}

/// What the fields of a stream's events are within, but for what is an event's own.
///
/// # Safety
///
/// The pointer leads to a class.
unsafe fn scopes(stream: *const bt_stream_class) -> Scopes {
    // SAFETY: the caller vouches for it; a context is asked for only where there are packets, and may be null.
    unsafe {
        let has_packets = bt().bt_stream_class_supports_packets(stream) != 0;
        let packet_context =
            has_packets.then(|| bt().bt_stream_class_borrow_packet_context_field_class_const(stream));
        Scopes {
            packet_context: packet_context.unwrap_or(ptr::null()),
            common_context: bt().bt_stream_class_borrow_event_common_context_field_class_const(stream),
            specific_context: ptr::null(),
            payload: ptr::null(),
        }
    }
}

/// # Safety
///
/// The pointer leads to a class.
unsafe fn stream_class(stream: *const bt_stream_class, clock: Option<&Value>) -> Value {
    let times = [
        ("timestamp_begin", "default-clock-timestamp"),
        ("timestamp_end", "packet-end-default-clock-timestamp"),
    ];
    let others = [
        ("content_size", "packet-content-length"),
        ("packet_size", "packet-total-length"),
        ("packet_seq_num", "packet-sequence-number"),
        ("events_discarded", "discarded-event-record-counter-snapshot"),
    ];
    // SAFETY: the caller vouches for the class, and with it for its scopes.
    unsafe {
        let scopes = scopes(stream);
        let own = match scopes.packet_context.is_null() {
            true => Vec::new(),
            false => scopes.members(scopes.packet_context),
        };
        // A trace that has a field of this name keeps it.
        let ours = times.into_iter().filter(|_| clock.is_some()).chain(others).map(|(name, role)| {
            let is_taken = own.iter().any(|member| member["name"] == name);
            member(&format!("{}{name}", if is_taken { "babeltrace2_" } else { "" }), number(64, role))
        });
        let packet_context: Vec<Value> = ours.collect::<Vec<_>>().into_iter().chain(own).collect();
        let mut header = vec![member("id", number(64, "event-record-class-id"))];
        if clock.is_some() {
            header.push(member("timestamp", number(64, "default-clock-timestamp")));
        }
        let mut class = json!({
            "type": "data-stream-class",
            "id": bt().bt_stream_class_get_id(stream),
            "packet-context-field-class": structure(packet_context),
            "event-record-header-field-class": structure(header),
        });
        if let Some(clock) = clock {
            class["default-clock-class-id"] = clock.clone();
        }
        if !scopes.common_context.is_null() {
            class["event-record-common-context-field-class"] = scopes.field_class(scopes.common_context);
        }
        class
    }
}

/// # Safety
///
/// The pointers lead to a class and to that of its stream.
unsafe fn event_class(event: *const bt_event_class, stream: *const bt_stream_class) -> Value {
    // SAFETY: the caller vouches for both; texts and fields may be null.
    unsafe {
        let scopes = Scopes {
            specific_context: bt().bt_event_class_borrow_specific_context_field_class_const(event),
            payload: bt().bt_event_class_borrow_payload_field_class_const(event),
            ..scopes(stream)
        };
        let mut class = json!({
            "type": "event-record-class",
            "id": bt().bt_event_class_get_id(event),
            "data-stream-class-id": bt().bt_stream_class_get_id(stream),
            "name": text(bt().bt_event_class_get_name(event)),
        });
        let mut attributes = Map::new();
        let mut level = BT_EVENT_CLASS_LOG_LEVEL_DEBUG;
        if bt().bt_event_class_get_log_level(event, &mut level) == BT_PROPERTY_AVAILABILITY_AVAILABLE {
            attributes.insert("log-level".to_owned(), json!(level.0));
        }
        let uri = bt().bt_event_class_get_emf_uri(event);
        if !uri.is_null() {
            attributes.insert("emf-uri".to_owned(), json!(text(uri)));
        }
        if !attributes.is_empty() {
            class["attributes"] = json!({LTTNG: attributes});
        }
        let fields = [
            ("specific-context-field-class", scopes.specific_context),
            ("payload-field-class", scopes.payload),
        ];
        for (key, fields) in fields.into_iter().filter(|(_, fields)| !fields.is_null()) {
            class[key] = scopes.field_class(fields);
        }
        class
    }
}
