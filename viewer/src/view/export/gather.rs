//! Gathers the parts of a timeline, and writes them in order in one of the formats.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::chrome::ChromeTrace;
use super::nest::Nest;
use super::perfetto::Perfetto;
use super::room::{self, Room};
use super::sorter::{Entry, Shape, Sorter};
use super::speedscope::Speedscope;
use super::writer::{Counted, INCIDENTS, Writer, object, text};
use crate::view::table::{incident_cause, incident_name};
use ltt_analysis::finding::Ns;
use ltt_analysis::incidents::Incident;
use ltt_analysis::text::amount::counted;
use ltt_analysis::text::short_name;
use ltt_analysis::timeline::{Part, Timeline, Work};

/// The most clients that have a track.
const MOST_CLIENTS: usize = 1000;

/// A format for timelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimelineFormat {
    ChromeTrace,
    Speedscope,
    Perfetto,
}

impl TimelineFormat {
    /// About what a record takes in a file.
    fn cost(self, shape: Shape, body: usize) -> u64 {
        match self {
            TimelineFormat::ChromeTrace => 64 + body as u64,
            TimelineFormat::Speedscope if shape.nests() => 88,
            TimelineFormat::Speedscope => 0,
            // Names and texts are written once, and numbers are short.
            TimelineFormat::Perfetto => 40 + body as u64 / 6,
        }
    }
}

/// A file in the making.
pub struct TimelineFile {
    format: TimelineFormat,
    sorter: Sorter,
    room: Room,
    origin: i64,
    order: u64,
    /// The threads and clients that have a track.
    clients: HashMap<(usize, u32), u32>,
    /// Whether there were more.
    has_more_clients: bool,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    /// The number of slices that seemed to cross another one by at most 100 µs, and were clipped.
    pub clipped: u64,
    /// The number of bytes, before compression.
    pub bytes: u64,
    /// The number of intervals for which there was no room, and the length below which all others were left out.
    pub left_out: u64,
    pub shortest_ns: u64,
    /// Whether only some clients have a track.
    pub has_more_clients: bool,
}

impl Written {
    /// What the reader of the file must know, in sentences.
    pub fn notes(&self) -> Vec<String> {
        let clipped = (self.clipped > 0).then(|| {
            format!(
                "{} clipped by at most 100 µs, because recorded durations are truncated and the format needs slices \
                 that nest",
                counted(self.clipped, "slice")
            )
        });
        let left_out = (self.left_out > 0).then(|| {
            format!(
                "{} shorter than {} left out, to keep within --max-size; around incidents far shorter ones are kept; all are \
                 written with a larger --max-size, or of less: --since, --until, --around, --event, --where",
                counted(self.left_out, "interval"),
                Ns::from(self.shortest_ns).in_words()
            )
        });
        let clients = self
            .has_more_clients
            .then(|| format!("{MOST_CLIENTS} clients have a track; others are on the threads' tracks only"));
        clipped.into_iter().chain(left_out).chain(clients).collect()
    }
}

impl TimelineFile {
    /// Gathers a file of about `most_bytes` at most, with temporary files in this folder.
    pub fn new(format: TimelineFormat, folder: &Path, most_bytes: u64) -> Self {
        TimelineFile {
            format,
            sorter: Sorter::new(folder),
            room: Room::new(most_bytes),
            origin: i64::MAX,
            order: 0,
            clients: HashMap::new(),
            has_more_clients: false,
        }
    }

    /// About the number of bytes of the file so far.
    pub fn bytes(&self) -> u64 {
        self.room.total
    }

    /// Adds a part of a timeline.
    pub fn add(&mut self, part: &Part<'_>) -> io::Result<()> {
        match part {
            Part::Interval(work) => {
                let span = (work.begin_ns, work.end_ns.max(work.begin_ns));
                let mut body = self.slice(work);
                self.client(work, span, &body)?;
                let Some(request) = work.request else {
                    return self.record(Shape::Slice, work.thread as u32, span, &body);
                };
                if let Some(Value::Object(arguments)) = body.get_mut("args") {
                    arguments.insert("event".into(), json!(work.event));
                }
                body.insert("cat".into(), json!("span"));
                self.record(Shape::Async, request, span, &body)
            }
            Part::Sum(work) => {
                let mut body = self.slice(work);
                if let Some(Value::Object(arguments)) = body.get_mut("args") {
                    arguments.insert("total_us".into(), json!(work.length()));
                }
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
                self.room.favour(span);
                self.record(Shape::Slice, INCIDENTS, span, &of_incident(incident))
            }
        }
    }

    /// Adds what was done for a client to its track, where the format has such.
    fn client(&mut self, work: &Work<'_>, span: (i64, i64), body: &Map<String, Value>) -> io::Result<()> {
        let Some(client) = work.client.filter(|_| self.format == TimelineFormat::Perfetto) else {
            return Ok(());
        };
        let next = self.clients.len() as u32;
        let known = self.clients.get(&(work.thread, client)).copied();
        if known.is_none() && self.clients.len() >= MOST_CLIENTS {
            self.has_more_clients = true;
            return Ok(());
        }
        let track = *self.clients.entry((work.thread, client)).or_insert(next);
        let body = object(json!({"name": body.get("name"), "cat": "client", "args": {}}));
        self.record(Shape::Client, track, span, &body)
    }

    fn record(
        &mut self,
        shape: Shape,
        track: u32,
        (begin, end): (i64, i64),
        body: &Map<String, Value>,
    ) -> io::Result<()> {
        let body = serde_json::to_vec(body).unwrap_or_default();
        let is_work = track != INCIDENTS && shape != Shape::Counter;
        let level = if is_work { self.room.level((begin, end)) } else { room::ALWAYS };
        if !self.room.admits(level, self.format.cost(shape, body.len())) {
            return Ok(());
        }
        self.origin = self.origin.min(begin);
        self.order += 1;
        self.sorter.push(Entry { begin, end, shape, track, level, order: self.order, body })
    }

    /// The name, the category and the arguments of what a thread did.
    fn slice(&self, work: &Work<'_>) -> Map<String, Value> {
        let mut arguments = Map::new();
        // The track says these.
        let is_shown = |name: &str| !matches!(name, "vpid" | "vtid" | "procname") || work.request.is_some();
        // Of a pair of events, the first may have the key.
        if self.format != TimelineFormat::Speedscope {
            for (field, value) in work.fields.iter().filter(|(field, _)| is_shown(&field.name)) {
                arguments.entry(field.name.clone()).or_insert_with(|| json!(value));
            }
            for (name, value) in work.key.0.iter().filter(|(name, _)| is_shown(name)) {
                arguments.entry(name.clone()).or_insert_with(|| json!(value));
            }
        }
        let mut name = short_name(work.event).to_owned();
        for (_, value) in &work.key.0 {
            name.push(' ');
            name.push_str(&text(value));
        }
        object(json!({"name": name, "cat": work.event, "args": arguments}))
    }

    /// Writes the file.
    pub fn finish(self, timeline: &Timeline, out: &mut dyn Write) -> io::Result<Written> {
        let origin = if self.order == 0 { 0 } else { self.origin };
        let out = Counted { out, bytes: 0 };
        // A client of several threads of a process has one track.
        let mut clients: Vec<(usize, u32)> = vec![(0, 0); self.clients.len()];
        for (&(thread, client), &track) in &self.clients {
            clients[track as usize] = (timeline.threads[thread].process, client);
        }
        let tracks: HashMap<(usize, u32), u32> = clients.iter().copied().zip(0..).collect();
        let mut writer: Box<dyn Writer + '_> = match self.format {
            TimelineFormat::ChromeTrace => Box::new(ChromeTrace::new(out, origin, timeline)?),
            TimelineFormat::Speedscope => Box::new(Speedscope::new(out, origin, timeline)),
            TimelineFormat::Perfetto => Box::new(Perfetto::new(out, origin, timeline, &clients)?),
        };
        let mut nest = Nest::default();
        let mut left_out = self.room.refused;
        self.sorter.sorted(|mut record| {
            if !self.room.keeps(record.level) {
                left_out += u64::from(record.shape != Shape::Client);
                return Ok(());
            }
            match record.shape {
                Shape::Async => record.track = timeline.requests[record.track as usize].number,
                Shape::Client => record.track = tracks[&clients[record.track as usize]],
                _ => {}
            }
            nest.push(record, |placed| writer.event(placed))
        })?;
        nest.finish(|placed| writer.event(placed))?;
        Ok(Written {
            clipped: nest.clipped,
            bytes: writer.finish(nest.clipped)?,
            left_out,
            shortest_ns: self.room.shortest_ns(),
            has_more_clients: self.has_more_clients,
        })
    }
}

/// What is shown of an incident.
fn of_incident(incident: &Incident) -> Map<String, Value> {
    let mut arguments = Map::new();
    arguments.insert("cause".into(), json!(incident_cause(incident)));
    arguments.insert("kind".into(), json!(incident.kind));
    arguments.insert("process".into(), json!(incident.process));
    arguments.insert("unexplained_us".into(), json!(incident.unexplained));
    arguments.insert("clients that waited".into(), json!(incident.waited.map(|waited| waited.clients)));
    arguments
        .insert("chain".into(), json!(incident.chain.iter().map(|link| &link.event).collect::<Vec<_>>()));
    arguments.extend(incident.advice.iter().map(|advice| ("advice".to_owned(), json!(advice))));
    let event = incident.cause.as_ref().map_or("incident", |cause| &cause.event);
    object(json!({"name": incident_name(incident), "cat": event, "args": arguments}))
}
