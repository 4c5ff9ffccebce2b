//! Perfetto's own format: packets of Protocol Buffers, with a track for each thread, each client and the incidents.
//!
//! A file is a `Trace` of `TracePacket`s. A `TrackDescriptor` names a track before its first `TrackEvent`, which begins or ends a
//! slice, is a moment, or the value of a counter. Names and texts are interned: the first packet with one has it, later ones have its
//! number. Times are nanoseconds since 1970, exactly; a snapshot says that the trace's clock is the real time. The numbers of fields are
//! those of Perfetto's `protos/perfetto/trace/*.proto`.

use std::collections::{HashMap, HashSet};
use std::io;

use serde_json::{Map, Value};

use super::chrome::CLIPPED;
use super::nest::Placed;
use super::protobuf::Message;
use super::sorter::{Entry, Shape};
use super::tracks::{Tracks, lane_name, process_name, thread_name};
use super::writer::{Counted, Ends, INCIDENTS, Writer, parsed, text};
use ltt_analysis::timeline::Timeline;

/// `TracePacket`.
const CLOCK_SNAPSHOT: u32 = 6;
const TIMESTAMP: u32 = 8;
const SEQUENCE: u32 = 10;
const TRACK_EVENT: u32 = 11;
const INTERNED_DATA: u32 = 12;
const SEQUENCE_FLAGS: u32 = 13;
const TRACK_DESCRIPTOR: u32 = 60;
/// `TrackEvent`.
const CATEGORY_IIDS: u32 = 3;
const DEBUG_ANNOTATIONS: u32 = 4;
const TYPE: u32 = 9;
const NAME_IID: u32 = 10;
const TRACK_UUID: u32 = 11;
const NAME: u32 = 23;
const DOUBLE_COUNTER_VALUE: u32 = 44;
/// `TrackEvent.Type`.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

/// The most texts of a kind that are interned; later ones are written in full.
const MOST_INTERNED: usize = 1 << 16;

/// The tracks of the file: incidents, processes, and the groups of clients. All others are numbered as they come.
const INCIDENTS_TRACK: u64 = 1;
const FIRST_PROCESS: u64 = 2;

/// A file that is being written.
pub struct Perfetto<'f> {
    out: Counted<'f>,
    timeline: &'f Timeline,
    /// The process and the number of each client with a track.
    clients: &'f [(usize, u32)],
    ids: Tracks,
    tracks: HashMap<(Shape, u32, u32), u64>,
    /// The tracks that were described.
    described: HashSet<u64>,
    next: u64,
    names: Interned,
    categories: Interned,
    arguments: Interned,
    texts: Interned,
    /// The tracks on which slices end.
    ends: Ends<u64>,
}

/// Texts that were written before, with their numbers, and those that the next packet must write.
struct Interned {
    /// The field of `InternedData`.
    field: u32,
    known: HashMap<String, u64>,
    new: Vec<(u64, String)>,
}

impl Interned {
    fn new(field: u32) -> Self {
        Interned { field, known: HashMap::new(), new: Vec::new() }
    }

    /// The number of a text; none if there are too many.
    fn number(&mut self, text: &str) -> Option<u64> {
        if let Some(known) = self.known.get(text) {
            return Some(*known);
        }
        if self.known.len() >= MOST_INTERNED {
            return None;
        }
        let number = self.known.len() as u64 + 1;
        self.known.insert(text.to_owned(), number);
        self.new.push((number, text.to_owned()));
        Some(number)
    }

    fn write(&mut self, data: &mut Message) {
        for (number, text) in self.new.drain(..) {
            data.message(self.field, |entry| {
                entry.number(1, number).text(2, &text);
            });
        }
    }
}

impl<'f> Perfetto<'f> {
    pub fn new(
        out: Counted<'f>,
        origin: i64,
        timeline: &'f Timeline,
        clients: &'f [(usize, u32)],
    ) -> io::Result<Self> {
        let mut file = Perfetto {
            out,
            timeline,
            clients,
            ids: Tracks::new(timeline),
            tracks: HashMap::new(),
            described: HashSet::new(),
            next: FIRST_PROCESS + 2 * timeline.processes.len() as u64,
            names: Interned::new(2),
            categories: Interned::new(1),
            arguments: Interned::new(3),
            texts: Interned::new(29),
            ends: Ends::new(),
        };
        file.packet(|packet| {
            // The state of what is interned begins here.
            packet.number(SEQUENCE_FLAGS, 1).message(CLOCK_SNAPSHOT, |snapshot| {
                // The real time, and the clock since the boot, in which a trace's times are.
                for clock in [1, 6] {
                    snapshot.message(1, |pair| {
                        pair.number(1, clock).number(2, origin.max(0) as u64);
                    });
                }
            });
        })?;
        Ok(file)
    }

    fn packet(&mut self, fill: impl FnOnce(&mut Message)) -> io::Result<()> {
        let mut packet = Message::default();
        fill(packet.number(SEQUENCE, 1));
        let mut trace = Message::default();
        trace.bytes(1, &packet.0);
        self.out.put(&trace.0)
    }

    /// Writes an event of a track, with whatever its texts need.
    fn track_event(&mut self, at: i64, track: u64, kind: u64, more: &Message) -> io::Result<()> {
        let mut data = Message::default();
        for interned in [&mut self.categories, &mut self.names, &mut self.arguments, &mut self.texts] {
            interned.write(&mut data);
        }
        self.packet(|packet| {
            packet.number(TIMESTAMP, at.max(0) as u64).number(SEQUENCE_FLAGS, 2);
            if !data.0.is_empty() {
                packet.bytes(INTERNED_DATA, &data.0);
            }
            packet.message(TRACK_EVENT, |event| {
                event.number(TYPE, kind).number(TRACK_UUID, track);
                event.0.extend(&more.0);
            });
        })
    }

    /// The number of a record's track, which is described first if it is new.
    fn track(&mut self, record: &Entry, lane: u32) -> io::Result<u64> {
        let (shape, track) = match record.shape {
            Shape::Instant => (Shape::Slice, record.track),
            shape => (shape, record.track),
        };
        if let Some(known) = self.tracks.get(&(shape, track, lane)) {
            return Ok(*known);
        }
        let timeline = self.timeline;
        let number = match (shape, track, lane) {
            (Shape::Slice, INCIDENTS, 0) => INCIDENTS_TRACK,
            _ => {
                self.next += 1;
                self.next
            }
        };
        self.tracks.insert((shape, track, lane), number);
        if track == INCIDENTS {
            self.describe(INCIDENTS_TRACK, None, "Incidents", |_| {})?;
            match shape {
                Shape::Counter => self.describe(number, Some(INCIDENTS_TRACK), "blocked (%)", counter)?,
                _ if lane > 0 => {
                    self.describe(number, Some(INCIDENTS_TRACK), &lane_name("incidents", lane), |_| {})?;
                }
                _ => {}
            }
            return Ok(number);
        }
        match shape {
            Shape::Counter => {
                let process = self.process(track as usize)?;
                self.describe(number, Some(process), "intervals per second", counter)?;
            }
            Shape::Async => {
                // Tracks of one name are drawn as one.
                let process = self.process(timeline.requests[track as usize].process)?;
                self.describe(number, Some(process), "requests", |_| {})?;
            }
            Shape::Client => {
                let (process, client) = self.clients[track as usize];
                let group = FIRST_PROCESS + (timeline.processes.len() + process) as u64;
                let process = self.process(process)?;
                self.describe(group, Some(process), "Clients", |_| {})?;
                let name = timeline.clients.get(client as usize).map(text).unwrap_or_default();
                self.describe(number, Some(group), &lane_name(&name, lane), |_| {})?;
            }
            Shape::Slice | Shape::Instant => {
                let thread = &timeline.threads[track as usize];
                let process = self.process(thread.process)?;
                let name = lane_name(&thread_name(thread.tid), lane);
                if lane == 0 {
                    let (pid, tid) = self.ids.threads[track as usize];
                    self.describe(number, Some(process), "", |descriptor| {
                        descriptor.message(4, |thread| {
                            thread.number(1, pid as u64).number(2, tid as u64).text(5, &name);
                        });
                    })?;
                } else {
                    self.describe(number, Some(process), &name, |_| {})?;
                }
            }
        }
        Ok(number)
    }

    fn process(&mut self, process: usize) -> io::Result<u64> {
        let number = FIRST_PROCESS + process as u64;
        let pid = self.ids.processes[process] as u64;
        let name = process_name(&self.timeline.processes[process]);
        self.describe(number, None, "", |descriptor| {
            descriptor.message(3, |process| {
                process.number(1, pid).text(6, &name);
            });
        })?;
        Ok(number)
    }

    /// Describes a track, unless that was done before.
    fn describe(
        &mut self,
        number: u64,
        parent: Option<u64>,
        name: &str,
        more: impl FnOnce(&mut Message),
    ) -> io::Result<()> {
        if !self.described.insert(number) {
            return Ok(());
        }
        self.packet(|packet| {
            packet.message(TRACK_DESCRIPTOR, |descriptor| {
                descriptor.number(1, number);
                if !name.is_empty() {
                    descriptor.text(2, name);
                }
                if let Some(parent) = parent {
                    descriptor.number(5, parent);
                }
                more(descriptor);
            });
        })
    }

    /// The name, the category and the arguments of a slice or a moment.
    fn body(&mut self, name: &str, category: &str, arguments: &Map<String, Value>) -> Message {
        let mut event = Message::default();
        match self.names.number(name) {
            Some(number) => event.number(NAME_IID, number),
            None => event.text(NAME, name),
        };
        if let Some(number) = self.categories.number(category) {
            event.number(CATEGORY_IIDS, number);
        }
        for (name, value) in arguments {
            let mut argument = Message::default();
            match self.arguments.number(name) {
                Some(number) => argument.number(1, number),
                None => argument.text(10, name),
            };
            match value {
                Value::Bool(truth) => argument.number(2, u64::from(*truth)),
                Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                    (Some(number), _) => argument.number(3, number),
                    (_, Some(number)) => argument.number(4, number as u64),
                    _ => argument.double(5, number.as_f64().unwrap_or(f64::NAN)),
                },
                value => {
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    match self.texts.number(&text) {
                        Some(number) => argument.number(17, number),
                        None => argument.text(6, &text),
                    }
                }
            };
            event.bytes(DEBUG_ANNOTATIONS, &argument.0);
        }
        event
    }

    /// Writes the ends of slices up to a time.
    fn end_slices(&mut self, until: i64) -> io::Result<()> {
        while let Some((end, track)) = self.ends.pop(until) {
            self.track_event(end, track, END, &Message::default())?;
        }
        Ok(())
    }
}

/// Makes a track one of a counter.
fn counter(descriptor: &mut Message) {
    descriptor.message(8, |_| {});
}

impl Writer for Perfetto<'_> {
    fn event(&mut self, placed: Placed) -> io::Result<()> {
        let Placed { record, lane, clipped } = placed;
        self.end_slices(record.begin)?;
        let track = self.track(&record, lane)?;
        let (name, category, mut arguments) = parsed(&record.body);
        if record.shape == Shape::Counter {
            let value = arguments.values().next().and_then(Value::as_f64).unwrap_or_default();
            let mut event = Message::default();
            event.double(DOUBLE_COUNTER_VALUE, value);
            return self.track_event(record.begin, track, COUNTER, &event);
        }
        if clipped > 0 {
            arguments.insert(CLIPPED.into(), Value::from(clipped as f64 / 1000.0));
        }
        let event = self.body(&name, &category, &arguments);
        if record.shape == Shape::Instant {
            return self.track_event(record.begin, track, INSTANT, &event);
        }
        self.track_event(record.begin, track, BEGIN, &event)?;
        self.ends.push(record.end, track);
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: u64) -> io::Result<u64> {
        self.end_slices(i64::MAX)?;
        Ok(self.out.bytes)
    }
}
