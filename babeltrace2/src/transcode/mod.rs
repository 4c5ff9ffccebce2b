//! Messages, written down as traces of CTF 2 in files without names, which are gone when the last reader is, however it ends.

mod packet;

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Seek};
use std::path::PathBuf;

use ctf_reader::TraceFiles;

use crate::ffi::{Event, Message, Stream, Trace};
use packet::StreamWriter;

/// A trace, written down.
pub struct WrittenTrace {
    /// The text of its metadata.
    pub metadata: String,
    /// Its streams.
    pub streams: Vec<File>,
}

impl WrittenTrace {
    /// For a reader, under the names of the folders that it came from.
    pub fn files(self, folders: Vec<PathBuf>) -> io::Result<TraceFiles> {
        let named = self.streams.into_iter().enumerate();
        let streams = named.map(|(index, file)| (format!("stream {index} of Babeltrace 2").into(), file));
        TraceFiles::from_files(self.metadata.into_bytes(), folders, streams.collect())
    }
}

/// Writes messages down.
#[derive(Default)]
pub struct Transcoder {
    traces: Vec<OpenTrace>,
    /// The place of each trace by its address, which stays its own while the trace is kept.
    places: HashMap<usize, usize>,
    /// The streams that have begun and not ended, by their addresses.
    streams: HashMap<usize, OpenStream>,
}

struct OpenTrace {
    trace: Trace,
    /// The number of streams that have begun.
    begun: u64,
    /// Those that have ended, by their numbers.
    ended: BTreeMap<u64, File>,
}

struct OpenStream {
    writer: StreamWriter,
    trace: usize,
    has_clock: bool,
}

impl Transcoder {
    /// Writes a message down.
    pub fn add(&mut self, message: &Message<'_>) -> Result<(), String> {
        let written = match message {
            Message::Event(event) => self.event(*event),
            Message::StreamBegins(stream) => self.begin(*stream),
            Message::StreamEnds(stream) => match self.streams.remove(&stream.address()) {
                Some(open) => self.end(open),
                None => Ok(()),
            },
            Message::PacketBegins(stream, time, context) => {
                self.open(*stream).and_then(|OpenStream { writer, .. }| {
                    writer.begin(*time)?;
                    context.iter().for_each(|context| context.encode(writer.context()));
                    Ok(())
                })
            }
            Message::PacketEnds(stream, time) => self.open(*stream).and_then(|open| open.writer.end(*time)),
            // A loss of unknown size is at least one.
            Message::EventsLost(stream, count) => {
                self.open(*stream).map(|open| open.writer.lose_events(count.unwrap_or(1)))
            }
            Message::PacketsLost(stream, count) => {
                self.open(*stream).map(|open| open.writer.lose_packets(count.unwrap_or(1)))
            }
            Message::Other => Ok(()),
        };
        written.map_err(explained)
    }

    /// All traces, in the order in which they appeared.
    pub fn finish(mut self) -> Result<Vec<WrittenTrace>, String> {
        // Whoever stops early leaves streams open.
        let unfinished = std::mem::take(&mut self.streams);
        unfinished.into_values().try_for_each(|open| self.end(open)).map_err(explained)?;
        let traces = self.traces.into_iter().map(|OpenTrace { trace, ended, .. }| WrittenTrace {
            metadata: trace.metadata(),
            streams: ended.into_values().collect(),
        });
        Ok(traces.collect())
    }

    fn begin(&mut self, stream: Stream<'_>) -> io::Result<()> {
        let next = self.traces.len();
        let trace = *self.places.entry(stream.trace_address()).or_insert(next);
        if trace == next {
            self.traces.push(OpenTrace { trace: stream.trace(), begun: 0, ended: BTreeMap::new() });
        }
        let (of, has_clock) = (&mut self.traces[trace], stream.has_clock());
        of.begun += 1;
        let writer = StreamWriter::new(of.begun - 1, stream.class_id(), of.trace.uuid(), has_clock)?;
        self.streams.insert(stream.address(), OpenStream { writer, trace, has_clock });
        Ok(())
    }

    fn end(&mut self, open: OpenStream) -> io::Result<()> {
        let id = open.writer.id;
        let mut file = open.writer.finish()?;
        file.rewind()?;
        self.traces[open.trace].ended.insert(id, file);
        Ok(())
    }

    fn open(&mut self, stream: Stream<'_>) -> io::Result<&mut OpenStream> {
        let found = self.streams.get_mut(&stream.address());
        found.ok_or_else(|| io::Error::other("a message of a stream that has not begun"))
    }

    fn event(&mut self, event: Event<'_>) -> io::Result<()> {
        let found = self.streams.get_mut(&event.stream().address());
        let open = found.ok_or_else(|| io::Error::other("an event of a stream that has not begun"))?;
        let time = open.has_clock.then(|| event.time());
        let bytes = open.writer.event(event.class_id(), time)?;
        event.fields().into_iter().flatten().for_each(|field| field.encode(bytes));
        Ok(())
    }
}

fn explained(error: io::Error) -> String {
    let folder = std::env::temp_dir();
    match error.kind() {
        io::ErrorKind::StorageFull => {
            format!(
                "{}: no room for what Babeltrace 2 reads: set TMPDIR to a folder with more",
                folder.display()
            )
        }
        _ => format!("{}: what Babeltrace 2 reads cannot be written down: {error}", folder.display()),
    }
}
