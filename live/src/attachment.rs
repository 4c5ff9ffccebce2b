//! A session that is attached on one connection: its streams, asked in turns.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::Error;
use crate::connection::Connection;
use crate::protocol::{IndexReply, MAX_STREAMS, PacketIndex, PacketReply, Stream, Updates};
use crate::received::{IDENTITY, Received, StreamKey, TraceKey, name};

/// The pause after a turn that brought nothing, at least and at most.
const IDLE: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(50)];

/// When a session is stopped or destroyed, all of its streams are flushed: the times at which their last packets end do not
/// differ by more than this, or by more than two live timers.
const FLUSH: Duration = Duration::from_secs(2);

/// The number of requests for a trace's metadata in one turn.
const METADATA_TURNS: usize = 64;

/// The streams of one connection.
pub struct Attachment {
    connection: Connection,
    /// The session's number at the relay.
    session: u64,
    /// How long the merge waits for a stream that says nothing.
    patience: Duration,
    idle: Duration,
    metadata: Vec<MetadataStream>,
    /// Streams of traces that have no metadata yet, and since when there are some.
    waiting: Vec<Stream>,
    waiting_since: Instant,
    streams: Vec<OpenStream>,
    /// The first and the last of the times at which the last packets of streams end that last as long as the session.
    last_ends: Option<(u64, u64)>,
    /// The lowest and the highest number of a stream at the relay, and the number of streams.
    ids: Option<(u64, u64)>,
    announced: u64,
    flush: Duration,
}

struct MetadataStream {
    id: u64,
    /// The trace's number at the relay.
    relay_trace: u64,
    path: String,
    /// Its beginning, while that is too short to identify it.
    beginning: Vec<u8>,
    /// The trace, once it is identified.
    key: Option<TraceKey>,
    /// How much of it was received on another connection, and comes again.
    to_skip: usize,
    is_due: bool,
}

struct OpenStream {
    id: u64,
    /// The trace's number at the relay.
    relay_trace: u64,
    /// The stream's number in the inbox.
    number: usize,
    key: StreamKey,
    name: PathBuf,
    /// A packet that has been announced and could not be fetched yet.
    announced: Option<PacketIndex>,
    /// When its last packet ends.
    last_end: Option<u64>,
    last_progress: Instant,
    is_away: bool,
    has_ended: bool,
}

/// How a connection ended.
pub enum Ending {
    /// The session was destroyed.
    Session,
    /// The session ended although it was neither stopped nor destroyed.
    Interruption,
    /// The inbox was closed.
    Closed,
}

impl Attachment {
    /// A session that has just been attached, with its number at the relay and its live timer.
    pub fn new(connection: Connection, session: u64, timer: Duration, patience: Duration) -> Attachment {
        Attachment {
            connection,
            session,
            patience: patience.max(timer * 4),
            idle: (timer / 8).clamp(IDLE[0], IDLE[1]),
            metadata: Vec::new(),
            waiting: Vec::new(),
            waiting_since: Instant::now(),
            streams: Vec::new(),
            last_ends: None,
            ids: None,
            announced: 0,
            flush: FLUSH.max(timer * 2),
        }
    }

    /// Receives until the session or the connection ends.
    pub fn receive(&mut self, received: &mut Received) -> Result<Ending, Error> {
        let mut is_settled = false;
        loop {
            if received.inbox.is_closing() {
                self.connection.detach(self.session);
                return Ok(Ending::Closed);
            }
            let mut has_progress = self.fetch_metadata(received)?;
            if !is_settled && self.knows_all_streams() {
                is_settled = true;
                // Streams that this connection does not have are of a session that went away with its relay.
                received.leave_all_but(&self.streams.iter().map(|open| &open.key).collect());
            }
            let mut is_full = false;
            received.inbox.count_held();
            for place in 0..self.streams.len() {
                let OpenStream { key, number, .. } = &self.streams[place];
                if !received.inbox.has_room(key.0, *number) {
                    is_full = true;
                    continue;
                }
                has_progress |= self.fetch_packet(place, received)?;
            }
            self.remove_ended();
            let asked = Instant::now();
            match self.connection.new_streams(self.session)? {
                Some(streams) if streams.is_empty() => {}
                Some(streams) => {
                    has_progress |= self.add_streams(streams, received)?;
                    self.count_unseen(received)?;
                    self.fetch_metadata(received)?;
                }
                // The relay keeps a destroyed session until its streams have been read.
                None if self.streams.is_empty() && !has_progress => return Ok(self.ending()),
                None => {}
            }
            if self.knows_all_streams() {
                received.inbox.set_asked(received.session, asked);
            }
            let is_closing = match (has_progress, is_full) {
                (true, _) => false,
                (false, true) => received.inbox.wait_for_room(self.idle),
                (false, false) => received.inbox.pause(self.idle),
            };
            if is_closing {
                self.connection.detach(self.session);
                return Ok(Ending::Closed);
            }
        }
    }

    /// Whether all streams that were announced can be read. One whose metadata does not come is not waited for.
    fn knows_all_streams(&self) -> bool {
        self.waiting.is_empty() || self.waiting_since.elapsed() > self.patience
    }

    /// Removes the streams that have ended.
    fn remove_ended(&mut self) {
        for stream in self.streams.iter().filter(|stream| stream.has_ended) {
            // Those of a process end with it.
            let of_process = stream.name.components().any(|part| part.as_os_str() == "pid");
            if let Some(end) = stream.last_end.filter(|_| !of_process) {
                let (first, last) = self.last_ends.unwrap_or((end, end));
                self.last_ends = Some((first.min(end), last.max(end)));
            }
        }
        self.streams.retain(|stream| !stream.has_ended);
    }

    /// How a session ended that the relay has closed. The clock counts nanoseconds, unless a plugin provides another one.
    fn ending(&self) -> Ending {
        let apart = self.last_ends.map_or(0, |(first, last)| last - first);
        match u128::from(apart) > self.flush.as_nanos() {
            true => Ending::Interruption,
            false => Ending::Session,
        }
    }

    /// Adds streams that the relay has announced. Returns whether there were any.
    pub fn add_streams(&mut self, streams: Vec<Stream>, received: &Received) -> Result<bool, Error> {
        let is_new = !streams.is_empty();
        let open = self.streams.len() + self.waiting.len() + self.metadata.len();
        if open + streams.len() > 2 * MAX_STREAMS {
            return Err(Error::protocol("the relay announces too many streams"));
        }
        received.check_room(streams.len())?;
        self.announced += streams.len() as u64;
        for stream in streams {
            let (first, last) = self.ids.unwrap_or((stream.id, stream.id));
            self.ids = Some((first.min(stream.id), last.max(stream.id)));
            if stream.is_metadata {
                self.metadata.push(MetadataStream {
                    id: stream.id,
                    relay_trace: stream.trace,
                    path: stream.path,
                    beginning: Vec::new(),
                    key: None,
                    to_skip: 0,
                    is_due: true,
                });
            } else {
                if self.waiting.is_empty() {
                    self.waiting_since = Instant::now();
                }
                self.waiting.push(stream);
            }
        }
        Ok(is_new)
    }

    /// Counts only streams that are announced from now on: others may have been received on another connection, or not be
    /// asked for.
    pub fn ignore_earlier_streams(&mut self) {
        if let Some((_, last)) = self.ids {
            (self.ids, self.announced) = (Some((last, last)), 1);
        }
    }

    /// Counts the streams that the relay never announced: it numbers the streams of all sessions, and forgets those of
    /// a process that ends before they were asked for.
    fn count_unseen(&mut self, received: &Received) -> Result<(), Error> {
        let numbers = self.ids.map_or(0, |(first, last)| (last - first).saturating_add(1));
        let unseen = numbers.saturating_sub(self.announced);
        // With other sessions it is not known whose they are.
        if unseen > 0 && self.connection.sessions()?.len() == 1 {
            received.inbox.set_unseen(received.session, unseen);
        }
        Ok(())
    }

    /// Opens the streams whose traces have been identified.
    fn open_streams(&mut self, received: &mut Received) {
        let Attachment { metadata, waiting, streams, .. } = self;
        waiting.retain(|stream| {
            let of_trace = metadata.iter().find(|metadata| metadata.relay_trace == stream.trace);
            let key = of_trace.and_then(|metadata| metadata.key.as_ref());
            let Some(trace) = key.and_then(|key| received.trace(key)) else { return true };
            let key = (trace, stream.channel.clone());
            if let Some(number) = received.add_stream(&key) {
                streams.push(OpenStream {
                    id: stream.id,
                    relay_trace: stream.trace,
                    number,
                    key,
                    name: name(&received.url, &stream.path, Some(&stream.channel)),
                    announced: None,
                    last_end: None,
                    last_progress: Instant::now(),
                    is_away: false,
                    has_ended: false,
                });
            }
            false
        });
    }

    /// Asks for metadata where some is due. Returns whether there was any.
    fn fetch_metadata(&mut self, received: &mut Received) -> Result<bool, Error> {
        let mut has_progress = false;
        for stream in self.metadata.iter_mut().filter(|stream| stream.is_due) {
            // Metadata that never ends must not keep the other streams waiting.
            let mut is_complete = false;
            for _ in 0..METADATA_TURNS {
                let room = received.metadata_room(stream.key.as_ref()) + stream.to_skip;
                let room = room.saturating_sub(stream.beginning.len());
                let bytes = self.connection.metadata(stream.id, room)?;
                if bytes.is_empty() {
                    is_complete = true;
                    break;
                }
                has_progress = true;
                stream.take(bytes, received);
            }
            // A trace that has none yet is asked again: without metadata nothing can be decoded.
            stream.is_due = stream.key.is_none() || !is_complete;
        }
        self.open_streams(received);
        Ok(has_progress)
    }

    /// Asks for the metadata that a stream needs.
    fn fetch_metadata_of(&mut self, place: usize, received: &mut Received) -> Result<(), Error> {
        let trace = self.streams[place].relay_trace;
        let of_trace = self.metadata.iter_mut().filter(|metadata| metadata.relay_trace == trace);
        of_trace.for_each(|metadata| metadata.is_due = true);
        self.fetch_metadata(received).map(|_| ())
    }

    /// Asks a stream for its next packet. Returns whether it made progress.
    fn fetch_packet(&mut self, place: usize, received: &mut Received) -> Result<bool, Error> {
        let stream = &mut self.streams[place];
        let (next, updates) = match stream.announced.take() {
            Some(index) => (IndexReply::Packet(index), Updates::default()),
            None => self.connection.next_index(stream.id)?,
        };
        if updates.metadata {
            self.fetch_metadata_of(place, received)?;
        }
        let stream = &mut self.streams[place];
        if let IndexReply::Packet(index) = &next {
            stream.last_end = Some(index.end);
        }
        let is_progress = match next {
            IndexReply::Retry => {
                if stream.last_progress.elapsed() > self.patience && !stream.is_away {
                    stream.is_away = true;
                    received.inbox.set_away(stream.key.0, stream.number);
                }
                false
            }
            IndexReply::Inactive(until) => {
                received.inbox.set_quiet(stream.key.0, stream.number, until);
                stream.made_progress();
                false
            }
            IndexReply::End => {
                stream.end(received);
                true
            }
            IndexReply::Packet(index) if received.has_packet(&stream.key, index.end) => true,
            IndexReply::Packet(index) => {
                let memory = received.inbox.spare_memory(index.length as usize);
                match self.connection.packet(stream.id, index.offset, index.length, memory)? {
                    PacketReply::Packet(bytes) => {
                        received.add_packet(&stream.key, stream.name.clone(), index.end, bytes)?;
                        stream.made_progress();
                        true
                    }
                    PacketReply::Retry(updates) => {
                        stream.announced = Some(index);
                        if updates.metadata {
                            self.fetch_metadata_of(place, received)?;
                        }
                        false
                    }
                    // The relay overwrote it; the gap in the sequence numbers counts as a loss.
                    PacketReply::Missing => true,
                    PacketReply::End => {
                        stream.end(received);
                        true
                    }
                }
            }
        };
        Ok(is_progress)
    }
}

impl MetadataStream {
    /// Adds what metadata has grown by.
    fn take(&mut self, mut bytes: Vec<u8>, received: &mut Received) {
        if self.key.is_none() {
            self.beginning.append(&mut bytes);
            if self.beginning.len() < IDENTITY {
                return;
            }
            bytes = std::mem::take(&mut self.beginning);
            let key = (self.path.clone(), bytes[..IDENTITY].to_vec());
            self.to_skip = received.add_trace(&key);
            self.key = Some(key);
        }
        if let Some(key) = &self.key {
            let skipped = self.to_skip.min(bytes.len());
            self.to_skip -= skipped;
            received.add_metadata(key, &bytes[skipped..]);
        }
    }
}

impl OpenStream {
    fn made_progress(&mut self) {
        (self.last_progress, self.is_away) = (Instant::now(), false);
    }

    fn end(&mut self, received: &mut Received) {
        self.has_ended = true;
        received.end_stream(&self.key);
    }
}
