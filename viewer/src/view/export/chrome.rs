//! The Trace Event format, which Perfetto's page, Speedscope and chrome://tracing open.
//!
//! An object with a list of events: `X` is a slice of a thread, `i` a moment, `C` a counter, `M` a name; `b` and `e` begin and
//! end a span of a request, whose spans have the same `id` and category, as viewers nest them by these. Times are in
//! microseconds with up to three decimals. They begin at 0, because viewers keep them as doubles, in which microseconds
//! since 1970 have no room for nanoseconds; `otherData` says when that was.

use std::io;

use serde_json::{Map, Value, json};

use super::nest::Placed;
use super::sorter::Shape;
use super::tracks::{Tracks, lane_name, process_name, thread_name};
use super::writer::{Counted, Ends, INCIDENTS, Writer};
use ltt_analysis::timeline::Timeline;

/// The argument that says how much of a slice was clipped.
pub const CLIPPED: &str = "clipped by ltt-top (us)";

/// A file that is being written.
pub struct ChromeTrace<'f> {
    out: Counted<'f>,
    timeline: &'f Timeline,
    origin: i64,
    tracks: Tracks,
    is_first: bool,
    /// The ends of spans of requests: the lines as they will be written.
    ends: Ends<(String, Vec<u8>)>,
}

impl<'f> ChromeTrace<'f> {
    pub fn new(mut out: Counted<'f>, origin: i64, timeline: &'f Timeline) -> io::Result<Self> {
        out.put(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        let tracks = Tracks::new(timeline);
        Ok(ChromeTrace { out, timeline, origin, tracks, is_first: true, ends: Ends::new() })
    }

    /// Writes an event: what comes first, and the rest of an object.
    fn line(&mut self, begin: &str, body: &[u8]) -> io::Result<()> {
        let comma = if std::mem::take(&mut self.is_first) { "\n{" } else { ",\n{" };
        self.out.put(comma.as_bytes())?;
        self.out.put(begin.as_bytes())?;
        self.out.put(b",")?;
        self.out.put(body.strip_prefix(b"{").unwrap_or(body))
    }

    /// Writes the ends of spans up to a time.
    fn end_spans(&mut self, until: i64) -> io::Result<()> {
        while let Some((_, (begin, body))) = self.ends.pop(until) {
            self.line(&begin, &body)?;
        }
        Ok(())
    }

    /// Names processes and threads.
    fn names(&mut self) -> io::Result<()> {
        let timeline = self.timeline;
        for (number, process) in timeline.processes.iter().enumerate() {
            let pid = self.tracks.processes[number];
            self.name("process_name", pid, pid, &process_name(process))?;
        }
        for (number, thread) in timeline.threads.iter().enumerate() {
            let (pid, tid) = self.tracks.threads[number];
            self.name("thread_name", pid, tid, &thread_name(thread.tid))?;
        }
        let incidents = self.tracks.incidents;
        if timeline.incidents > 0 {
            self.name("process_name", incidents, incidents, "Incidents")?;
            self.name("thread_name", incidents, incidents, "incidents")?;
            self.line(
                &format!("\"ph\":\"M\",\"pid\":{incidents},\"tid\":{incidents}"),
                b"{\"name\":\"process_sort_index\",\"args\":{\"sort_index\":-1}}",
            )?;
        }
        for ((track, lane), (pid, tid)) in std::mem::take(&mut self.tracks.lanes) {
            let of = match track {
                INCIDENTS => "incidents".to_owned(),
                thread => thread_name(timeline.threads.get(thread as usize).and_then(|thread| thread.tid)),
            };
            self.name("thread_name", pid, tid, &lane_name(&of, lane))?;
        }
        Ok(())
    }

    fn name(&mut self, what: &str, pid: i64, tid: i64, name: &str) -> io::Result<()> {
        let body = json!({"name": what, "args": {"name": name}}).to_string();
        self.line(&format!("\"ph\":\"M\",\"pid\":{pid},\"tid\":{tid}"), body.as_bytes())
    }
}

impl Writer for ChromeTrace<'_> {
    fn event(&mut self, placed: Placed) -> io::Result<()> {
        let Placed { record, lane, clipped } = placed;
        self.end_spans(record.begin)?;
        let at = microseconds(record.begin.saturating_sub(self.origin));
        match record.shape {
            Shape::Counter => {
                let pid = match record.track {
                    INCIDENTS => self.tracks.incidents,
                    process => self.tracks.processes.get(process as usize).copied().unwrap_or_default(),
                };
                self.line(&format!("\"ph\":\"C\",\"ts\":{at},\"pid\":{pid},\"tid\":{pid}"), &record.body)
            }
            Shape::Instant => {
                let (pid, tid) = self.tracks.of(record.track, 0);
                let begin = format!("\"ph\":\"i\",\"s\":\"t\",\"ts\":{at},\"pid\":{pid},\"tid\":{tid}");
                self.line(&begin, &record.body)
            }
            Shape::Async => {
                let mut body: Map<String, Value> = serde_json::from_slice(&record.body).unwrap_or_default();
                if let Some(arguments) = body.get_mut("args").and_then(Value::as_object_mut)
                    && clipped > 0
                {
                    arguments.insert(CLIPPED.into(), json!(clipped as f64 / 1000.0));
                }
                let pid = self.tracks.requests[record.track as usize];
                // Spans of a request that were open at the same time, neither within the other.
                let beside = if lane == 0 { String::new() } else { format!(".{lane}") };
                let id = format!("\"id\":\"{}{beside}\",\"pid\":{pid},\"tid\":{pid}", record.track + 1);
                self.line(
                    &format!("\"ph\":\"b\",\"ts\":{at},{id}"),
                    &serde_json::to_vec(&body).unwrap_or_default(),
                )?;
                body.remove("args");
                let end = microseconds(record.end.saturating_sub(self.origin));
                let begin = format!("\"ph\":\"e\",\"ts\":{end},{id}");
                let body = serde_json::to_vec(&body).unwrap_or_default();
                self.ends.push(record.end, (begin, body));
                Ok(())
            }
            // What a client's track would show is on the threads' tracks.
            Shape::Client => Ok(()),
            Shape::Slice => {
                let (pid, tid) = self.tracks.of(record.track, lane);
                let length = microseconds(record.end.saturating_sub(record.begin));
                let begin = format!("\"ph\":\"X\",\"ts\":{at},\"dur\":{length},\"pid\":{pid},\"tid\":{tid}");
                match clipped {
                    0 => self.line(&begin, &record.body),
                    clipped => {
                        let mut body: Map<String, Value> =
                            serde_json::from_slice(&record.body).unwrap_or_default();
                        if let Some(Value::Object(arguments)) = body.get_mut("args") {
                            arguments.insert(CLIPPED.into(), json!(clipped as f64 / 1000.0));
                        }
                        self.line(&begin, &serde_json::to_vec(&body).unwrap_or_default())
                    }
                }
            }
        }
    }

    fn finish(mut self: Box<Self>, clipped: u64) -> io::Result<u64> {
        self.end_spans(i64::MAX)?;
        self.names()?;
        let other = json!({
            "origin_ns": self.origin,
            "clock": "nanoseconds since 1970",
            "writer": concat!("ltt-top ", env!("CARGO_PKG_VERSION")),
            "clipped_slices": clipped,
        });
        self.out.put(b"\n],\"otherData\":")?;
        self.out.put(other.to_string().as_bytes())?;
        self.out.put(b"}\n")?;
        Ok(self.out.bytes)
    }
}

/// Nanoseconds as microseconds, exactly.
fn microseconds(nanoseconds: i64) -> String {
    let (whole, rest) = (nanoseconds / 1000, nanoseconds % 1000);
    match rest {
        0 => whole.to_string(),
        rest => format!("{whole}.{rest:03}").trim_end_matches('0').to_owned(),
    }
}
