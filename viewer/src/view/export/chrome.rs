//! The Trace Event format, which Perfetto's page, Speedscope and chrome://tracing open.
//!
//! An object with a list of events: `X` is a slice of a thread, `i` a moment, `C` a counter, `M` a name; `b` and `e` begin and
//! end a span of a request, whose spans have the same `id` and category, as viewers nest them by these. Times are in
//! microseconds with up to three decimals. They begin at 0, because viewers keep them as doubles, in which microseconds
//! since 1970 have no room for nanoseconds; `otherData` says when that was.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::nest::{Nest, Placed};
use super::sorter::{Entry, Shape, Sorter};
use ltt_analysis::datum::Datum;
use ltt_analysis::incidents::Incident;
use ltt_analysis::text::amount::counted;
use ltt_analysis::timeline::{Part, Process, Timeline, TimelineRequest, Work};

/// The tracks of incidents and of blocked time, beside those of threads and processes.
const INCIDENTS: u32 = u32::MAX;

/// Ids that no process on Linux has.
const FIRST_FREE_ID: i64 = (1 << 22) + 1;

/// About what an event takes, besides its name and its arguments.
const FRAME: u64 = 64;

/// The argument that says how much of a slice was clipped.
const CLIPPED: &str = "clipped by ltt-top (us)";

/// A file in the making.
pub struct ChromeTrace {
    sorter: Sorter,
    origin: i64,
    order: u64,
    bytes: u64,
    most_bytes: u64,
}

/// What was written.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// The number of slices that seemed to cross another one by at most 100 µs, and were clipped.
    pub clipped: u64,
    /// The number of bytes, before compression.
    pub bytes: u64,
}

impl ChromeTrace {
    /// Gathers a file of about `most_bytes` at most, with temporary files in this folder.
    pub fn new(folder: &Path, most_bytes: u64) -> Self {
        ChromeTrace { sorter: Sorter::new(folder), origin: i64::MAX, order: 0, bytes: 0, most_bytes }
    }

    /// Adds a part of a timeline.
    ///
    /// # Errors
    ///
    /// [`FileTooLarge`](io::ErrorKind::FileTooLarge) if the file would be larger than allowed.
    pub fn add(&mut self, part: &Part<'_>) -> io::Result<()> {
        let record = match part {
            Part::Interval(work) => {
                let span = (work.begin_ns, work.end_ns.max(work.begin_ns));
                match work.request {
                    None => self.record(Shape::Slice, work.thread as u32, span, &slice(work)),
                    Some(request) => {
                        let mut body = slice(work);
                        if let Some(Value::Object(arguments)) = body.get_mut("args") {
                            arguments.insert("event".into(), json!(work.event));
                        }
                        body.insert("cat".into(), json!("span"));
                        self.record(Shape::Async, request, span, &body)
                    }
                }
            }
            Part::Sum(work) => {
                let mut body = slice(work);
                if let Some(Value::Object(arguments)) = body.get_mut("args") {
                    arguments.insert("total_us".into(), json!(work.length()));
                }
                body.insert("s".into(), json!("t"));
                self.record(Shape::Instant, work.thread as u32, (work.end_ns, work.end_ns), &body)
            }
            Part::Rate { process, at_ns, per_second } => {
                let body = object(json!({"name": "intervals per second", "args": {"rate": per_second}}));
                self.record(Shape::Counter, *process as u32, (*at_ns, *at_ns), &body)
            }
            Part::Blocked { at_ns, share } => {
                let percent = (share * 1e6).round() / 1e4;
                let body = object(json!({"name": "blocked (%)", "args": {"share": percent}}));
                self.record(Shape::Counter, INCIDENTS, (*at_ns, *at_ns), &body)
            }
            Part::Incident(incident) => {
                let span = (incident.begin_ns, incident.end_ns.max(incident.begin_ns));
                self.record(Shape::Slice, INCIDENTS, span, &of_incident(incident))
            }
        };
        self.bytes += FRAME + record.body.len() as u64;
        if self.bytes > self.most_bytes {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!(
                    "the file would be larger than {} MiB: narrow it by --since, --until, --around, --event or \
                     --where, or raise --max-size; Speedscope and chrome://tracing open up to about 500 MiB, \
                     Perfetto's page up to about 2 GiB",
                    self.most_bytes >> 20
                ),
            ));
        }
        self.sorter.push(record)
    }

    fn record(&mut self, shape: Shape, track: u32, span: (i64, i64), body: &Map<String, Value>) -> Entry {
        let (begin, end) = span;
        self.origin = self.origin.min(begin);
        self.order += 1;
        // The writer puts the braces.
        let body = serde_json::to_vec(body).unwrap_or_default();
        Entry { begin, end, shape, track, order: self.order, body }
    }

    /// Writes the file.
    pub fn finish(self, timeline: &Timeline, out: &mut dyn Write) -> io::Result<Written> {
        let origin = if self.order == 0 { 0 } else { self.origin };
        let tracks = Tracks::new(timeline);
        let mut file =
            File { out, origin, bytes: 0, tracks, is_first: true, ends: BinaryHeap::new(), begun: 0 };
        file.put(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        let mut nest = Nest::default();
        self.sorter.sorted(|mut record| {
            if record.shape == Shape::Async {
                record.track = timeline.requests[record.track as usize].number;
            }
            nest.push(record, |placed| file.event(placed))
        })?;
        nest.finish(|placed| file.event(placed))?;
        file.end_spans(i64::MAX)?;
        file.names(timeline)?;
        let other = json!({
            "origin_ns": origin,
            "clock": "nanoseconds since 1970",
            "writer": concat!("ltt-top ", env!("CARGO_PKG_VERSION")),
            "clipped_slices": nest.clipped,
        });
        file.put(b"\n],\"otherData\":")?;
        file.put(other.to_string().as_bytes())?;
        file.put(b"}\n")?;
        Ok(Written { clipped: nest.clipped, bytes: file.bytes })
    }
}

/// The name, the category and the arguments of what a thread did.
fn slice(work: &Work<'_>) -> Map<String, Value> {
    let mut arguments = Map::new();
    // The track says these.
    let is_shown = |name: &str| !matches!(name, "vpid" | "vtid" | "procname") || work.request.is_some();
    for (field, value) in work.fields.iter().filter(|(field, _)| is_shown(&field.name)) {
        arguments.entry(field.name.clone()).or_insert_with(|| json!(value));
    }
    // Of a pair of events, the first may have the key.
    for (name, value) in work.key.0.iter().filter(|(name, _)| is_shown(name)) {
        arguments.entry(name.clone()).or_insert_with(|| json!(value));
    }
    named(work.event, work.key.0.iter().map(|(_, value)| value), arguments)
}

/// What is shown of an incident.
fn of_incident(incident: &Incident) -> Map<String, Value> {
    let mut arguments = Map::new();
    let process = &incident.process;
    arguments.insert("kind".into(), json!(incident.kind));
    arguments.insert("process".into(), json!(process));
    arguments.insert("unexplained_us".into(), json!(incident.unexplained));
    arguments.insert("clients that waited".into(), json!(incident.waited.clients));
    arguments
        .insert("chain".into(), json!(incident.chain.iter().map(|link| &link.event).collect::<Vec<_>>()));
    arguments.extend(incident.advice.iter().map(|advice| ("advice".to_owned(), json!(advice))));
    match &incident.cause {
        Some(cause) => named(&cause.event, cause.key.0.iter().map(|(_, value)| value), arguments),
        None => named("unexplained", std::iter::empty(), arguments),
    }
}

/// A name for people, with the full name as the category.
fn named<'d>(
    event: &str,
    key: impl Iterator<Item = &'d Datum>,
    arguments: Map<String, Value>,
) -> Map<String, Value> {
    let mut name = event.rsplit(':').next().unwrap_or(event).to_owned();
    for value in key {
        name.push(' ');
        match json!(value) {
            Value::String(text) => name.push_str(&text),
            other => name.push_str(&other.to_string()),
        }
    }
    object(json!({"name": name, "cat": event, "args": arguments}))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// The ids of processes and threads in the file.
struct Tracks {
    /// Of each thread, by its number.
    threads: Vec<(i64, i64)>,
    processes: Vec<i64>,
    /// The process of each request.
    requests: Vec<i64>,
    incidents: i64,
    /// Those of further lanes.
    lanes: BTreeMap<(u32, u32), (i64, i64)>,
    used: HashSet<i64>,
    free: i64,
}

impl Tracks {
    /// Ids as they were recorded, where those are unique and possible.
    fn new(timeline: &Timeline) -> Self {
        let mut tracks = Tracks {
            threads: Vec::new(),
            processes: Vec::new(),
            requests: Vec::new(),
            incidents: 0,
            lanes: BTreeMap::new(),
            used: HashSet::new(),
            free: FIRST_FREE_ID,
        };
        tracks.processes = timeline.processes.iter().map(|process| tracks.id(process.pid)).collect();
        let of_request = |request: &TimelineRequest| tracks.processes[request.process];
        tracks.requests = timeline.requests.iter().map(of_request).collect();
        tracks.incidents = tracks.id(None);
        tracks.used.clear();
        for thread in &timeline.threads {
            let pid = tracks.processes[thread.process];
            let tid = tracks.id(thread.tid.or(Some(pid)));
            tracks.threads.push((pid, tid));
        }
        tracks
    }

    fn id(&mut self, recorded: Option<i64>) -> i64 {
        let recorded = recorded.filter(|id| (1..FIRST_FREE_ID + (1 << 20)).contains(id));
        match recorded.filter(|id| self.used.insert(*id)) {
            Some(id) => id,
            None => {
                self.free += 1;
                self.used.insert(self.free);
                self.free
            }
        }
    }

    /// The process and the thread of a lane of a track.
    fn of(&mut self, track: u32, lane: u32) -> (i64, i64) {
        let first = match track {
            INCIDENTS => (self.incidents, self.incidents),
            thread => self.threads.get(thread as usize).copied().unwrap_or_default(),
        };
        if lane == 0 {
            return first;
        }
        match self.lanes.get(&(track, lane)) {
            Some(known) => *known,
            None => {
                let of_lane = (first.0, self.id(None));
                self.lanes.insert((track, lane), of_lane);
                of_lane
            }
        }
    }
}

/// The end of a span: when, the number of the span, and the line as it will be written.
type SpanEnd = (i64, Reverse<u64>, String, Vec<u8>);

struct File<'o> {
    out: &'o mut dyn Write,
    origin: i64,
    bytes: u64,
    tracks: Tracks,
    is_first: bool,
    /// The ends of spans of requests that have begun, the next one first, of the same time that of the last to begin.
    ends: BinaryHeap<Reverse<SpanEnd>>,
    /// The number of those spans so far.
    begun: u64,
}

impl File<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Writes an event: what comes first, and the rest of an object.
    fn line(&mut self, begin: &str, body: &[u8]) -> io::Result<()> {
        let comma = if std::mem::take(&mut self.is_first) { "\n{" } else { ",\n{" };
        self.put(comma.as_bytes())?;
        self.put(begin.as_bytes())?;
        self.put(b",")?;
        self.put(body.strip_prefix(b"{").unwrap_or(body))
    }

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
                self.line(&format!("\"ph\":\"i\",\"ts\":{at},\"pid\":{pid},\"tid\":{tid}"), &record.body)
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
                self.begun += 1;
                self.ends.push(Reverse((record.end, Reverse(self.begun), begin, body)));
                Ok(())
            }
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

    /// Writes the ends of spans up to a time.
    fn end_spans(&mut self, until: i64) -> io::Result<()> {
        while self.ends.peek().is_some_and(|Reverse((end, ..))| *end <= until) {
            if let Some(Reverse((_, _, begin, body))) = self.ends.pop() {
                self.line(&begin, &body)?;
            }
        }
        Ok(())
    }

    /// Names processes and threads.
    fn names(&mut self, timeline: &Timeline) -> io::Result<()> {
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
            self.name("thread_name", pid, tid, &format!("{of}, at the same time ({lane})"))?;
        }
        Ok(())
    }

    fn name(&mut self, what: &str, pid: i64, tid: i64, name: &str) -> io::Result<()> {
        let body = json!({"name": what, "args": {"name": name}}).to_string();
        self.line(&format!("\"ph\":\"M\",\"pid\":{pid},\"tid\":{tid}"), body.as_bytes())
    }
}

fn process_name(process: &Process) -> String {
    let name = process.name.as_deref().unwrap_or("process");
    let pid = process.pid.map_or(String::new(), |pid| format!(" {pid}"));
    let host = process.host_name.as_ref().map_or(String::new(), |host| format!(" on {host}"));
    format!("{name}{pid}{host}")
}

fn thread_name(tid: Option<i64>) -> String {
    tid.map_or("all threads".into(), |tid| format!("thread {tid}"))
}

/// Nanoseconds as microseconds, exactly.
fn microseconds(nanoseconds: i64) -> String {
    let (whole, rest) = (nanoseconds / 1000, nanoseconds % 1000);
    match rest {
        0 => whole.to_string(),
        rest => format!("{whole}.{rest:03}").trim_end_matches('0').to_owned(),
    }
}

impl Written {
    /// What the reader of the file must know, in a sentence.
    pub fn note(&self) -> Option<String> {
        (self.clipped > 0).then(|| {
            format!(
                "{} clipped by at most 100 µs, because recorded durations are truncated and the format needs slices \
                 that nest",
                counted(self.clipped, "slice")
            )
        })
    }
}
