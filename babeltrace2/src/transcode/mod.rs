//! Messages, written down as traces of CTF 2 in files without names, which are gone when the last reader is, however it ends.

mod packet;

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Seek};
use std::path::PathBuf;

use ctf_reader::TraceFiles;

use crate::ffi::{Content, Message, Stream, Trace};
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
    /// The streams that have begun and not ended, by their addresses, and the trace of each.
    streams: HashMap<usize, (usize, StreamWriter)>,
}

struct OpenTrace {
    trace: Trace,
    /// The number of streams that have begun.
    begun: u64,
    /// Those that have ended, by their numbers.
    ended: BTreeMap<u64, File>,
}

impl Transcoder {
    /// Writes a message down.
    pub fn add(&mut self, message: &Message<'_>) -> Result<(), String> {
        self.write(message).map_err(explained)
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

    fn write(&mut self, message: &Message<'_>) -> io::Result<()> {
        let Message { stream, content } = message;
        match content {
            Content::StreamBegins => return self.begin(*stream),
            Content::StreamEnds => {
                return self.streams.remove(&stream.address()).map_or(Ok(()), |open| self.end(open));
            }
            _ => {}
        }
        let (_, writer) = self
            .streams
            .get_mut(&stream.address())
            .ok_or_else(|| io::Error::other("a message of a stream that has not begun"))?;
        match content {
            Content::PacketBegins(time, context) => {
                writer.begin(*time)?;
                context.iter().for_each(|context| context.encode(writer.context()));
            }
            Content::PacketEnds(time) => writer.end(*time)?,
            Content::Event(class, time, fields) => {
                let bytes = writer.event(*class, *time)?;
                fields.iter().flatten().for_each(|field| field.encode(bytes));
            }
            // A loss of unknown size is at least one.
            Content::EventsLost(count) => writer.lose_events(count.unwrap_or(1)),
            Content::PacketsLost(count) => writer.lose_packets(count.unwrap_or(1)),
            Content::StreamBegins | Content::StreamEnds => {}
        }
        Ok(())
    }

    fn begin(&mut self, stream: Stream<'_>) -> io::Result<()> {
        let trace = stream.trace();
        let place = self.traces.iter().position(|open| open.trace == trace).unwrap_or_else(|| {
            self.traces.push(OpenTrace { trace, begun: 0, ended: BTreeMap::new() });
            self.traces.len() - 1
        });
        let of = &mut self.traces[place];
        let writer = StreamWriter::new(of.begun, stream.class_id(), of.trace.uuid(), stream.has_clock())?;
        of.begun += 1;
        self.streams.insert(stream.address(), (place, writer));
        Ok(())
    }

    fn end(&mut self, (trace, writer): (usize, StreamWriter)) -> io::Result<()> {
        let id = writer.id;
        let mut file = writer.finish()?;
        file.rewind()?;
        self.traces[trace].ended.insert(id, file);
        Ok(())
    }
}

fn explained(error: io::Error) -> String {
    let folder = std::env::temp_dir();
    format!(
        "{}: what Babeltrace 2 reads cannot be written down ({error}): set TMPDIR to another folder",
        folder.display()
    )
}
