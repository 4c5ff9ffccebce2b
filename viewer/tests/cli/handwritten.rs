//! Traces written by hand, for what no tracer is asked to record: CTF 1.8, one stream, one packet.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// The time of a trace's first event, unless a test says otherwise: nanoseconds since 1970.
pub const BEGIN: u64 = 1_700_000_000_000_000_000;

/// A trace in the making.
pub struct Handwritten {
    metadata: String,
    events: Vec<u8>,
    classes: u32,
    times: Vec<u64>,
}

impl Handwritten {
    /// A trace that was recorded on this host.
    pub fn new(host: &str) -> Self {
        let metadata = format!(
            r#"/* CTF 1.8 */
typealias integer {{ size = 8; align = 8; signed = false; }} := u8;
typealias integer {{ size = 32; align = 8; signed = false; }} := u32;
typealias integer {{ size = 64; align = 8; signed = false; }} := u64;
typealias integer {{ size = 64; align = 8; signed = true; }} := i64;
trace {{ major = 1; minor = 8; byte_order = le; packet.header := struct {{ u32 magic; u32 stream_id; }}; }};
env {{ hostname = "{host}"; tracer_name = "by-hand"; }};
clock {{ name = c; freq = 1000000000; }};
typealias integer {{ size = 64; align = 8; map = clock.c.value; }} := time;
stream {{
  id = 0;
  packet.context := struct {{ time timestamp_begin; time timestamp_end; u64 content_size; u64 packet_size; }};
  event.header := struct {{ u32 id; time timestamp; }};
  event.context := struct {{ u32 _vpid; }};
}};
"#
        );
        Handwritten { metadata, events: Vec::new(), classes: 0, times: Vec::new() }
    }

    /// Says when the session was created, as LTTng does.
    pub fn created(mut self, time: &str) -> Self {
        let with_time = format!("env {{ trace_creation_datetime = \"{time}\";");
        self.metadata = self.metadata.replace("env {", &with_time);
        self
    }

    /// Adds an event class of these fields, as TSDL has them, and says its number.
    pub fn class(&mut self, name: &str, fields: &str) -> u32 {
        let id = self.classes;
        writeln!(
            self.metadata,
            r#"event {{ name = "{name}"; id = {id}; stream_id = 0; fields := struct {{ {fields} }}; }};"#
        )
        .unwrap();
        self.classes += 1;
        id
    }

    /// Adds an event of process 42, a microsecond after the last.
    pub fn event(&mut self, class: u32, payload: &[&[u8]]) {
        self.event_at(BEGIN + 1000 * self.times.len() as u64, class, payload);
    }

    /// Adds an event of process 42.
    pub fn event_at(&mut self, time: u64, class: u32, payload: &[&[u8]]) {
        self.event_of(42, time, class, payload);
    }

    /// Adds an event of a process.
    pub fn event_of(&mut self, process: u32, time: u64, class: u32, payload: &[&[u8]]) {
        self.times.push(time);
        self.events.extend(class.to_le_bytes());
        self.events.extend(time.to_le_bytes());
        self.events.extend(process.to_le_bytes());
        payload.iter().for_each(|bytes| self.events.extend(*bytes));
    }

    /// Writes the trace into a folder, which is made if need be.
    pub fn write_to(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("metadata"), &self.metadata).unwrap();
        let (begin, end) =
            (self.times.iter().min().unwrap_or(&BEGIN), self.times.iter().max().unwrap_or(&BEGIN));
        let bits = (40 + self.events.len() as u64) * 8;
        let mut packet = Vec::new();
        packet.extend(0xC1FC_1FC1_u32.to_le_bytes());
        packet.extend(0_u32.to_le_bytes());
        [*begin, *end, bits, bits].iter().for_each(|number| packet.extend(number.to_le_bytes()));
        packet.extend(&self.events);
        fs::write(folder.join("stream_0"), packet).unwrap();
    }

    /// Writes the trace into a folder that goes when it is dropped.
    pub fn write(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        self.write_to(folder.path());
        folder
    }
}

/// Requests of these names and durations in microseconds, recorded on a host.
pub fn requests(host: &str, requests: &[(&str, u64)]) -> Handwritten {
    let mut trace = Handwritten::new(host);
    let class = trace.class("app:request", "string _name; u64 _latency_us;");
    for (name, latency) in requests {
        trace.event(class, &[name.as_bytes(), b"\0", &latency.to_le_bytes()]);
    }
    trace
}
