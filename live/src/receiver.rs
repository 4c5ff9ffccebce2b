//! The thread that receives one session: it connects, attaches, asks for what there is, and connects again.
//!
//! The protocol has no call that waits, so streams are asked in turns, and after a turn that brought nothing there is a
//! pause of a fraction of the session's live timer. New streams are asked for in every turn, whether the relay says that
//! there are any or not: packets wait for that (see `inbox`).

use std::collections::{HashMap, HashSet};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::connection::Connection;
use crate::inbox::Inbox;
use crate::protocol::{
    AttachReply, IndexReply, MAX_METADATA, MAX_STREAMS, PacketIndex, PacketReply, Session, Stream, Updates,
};
use crate::{Error, Options, State, Status, Url};

/// The pause before connecting again, the first time and at most.
const RETRY: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];

/// The pause after a turn that brought nothing, at least and at most.
const IDLE: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(50)];

/// How often a trace is asked for metadata in one turn.
const METADATA_TURNS: usize = 64;

/// The most traces that a session may have from its beginning to its end: one for each process or user.
const MAX_TRACES_EVER: usize = 100_000;

/// The most streams that a session may have from its beginning to its end.
const MAX_STREAMS_EVER: usize = 1 << 20;

/// Receives one session into the inbox.
pub struct Receiver {
    inbox: Arc<Inbox>,
    /// Its number in the inbox.
    number: usize,
    url: Url,
    options: Options,
    /// The connection that is open, to be shut down from outside.
    handle: Arc<Mutex<Option<TcpStream>>>,
    /// What has been received of each trace.
    traces: HashMap<TraceKey, KnownTrace>,
    /// What has been received of each stream, by its trace's number in the inbox and its channel.
    streams: HashMap<(usize, String), KnownStream>,
}

/// What identifies a trace on another connection too: its path at the relay, and how its metadata begins, which has its
/// UUID.
type TraceKey = (String, Vec<u8>);

/// How many bytes at the beginning of metadata identify a trace: its magic number and its UUID.
const IDENTITY: usize = 20;

/// A trace, and how much of its metadata is in the inbox.
#[derive(Clone, Copy)]
struct KnownTrace {
    number: usize,
    metadata: usize,
}

/// A stream, and up to where its packets are in the inbox.
#[derive(Clone, Copy)]
struct KnownStream {
    number: usize,
    end: Option<u64>,
    has_ended: bool,
}

/// What the streams of one connection are about.
#[derive(Default)]
struct Attachment {
    session: u64,
    patience: Duration,
    idle: Duration,
    metadata: Vec<MetadataStream>,
    /// Streams of traces that have no metadata yet.
    waiting: Vec<Stream>,
    streams: Vec<OpenStream>,
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
    /// How much of it has been received before, on another connection, and comes again.
    to_skip: usize,
    is_due: bool,
}

struct OpenStream {
    id: u64,
    /// The trace's number at the relay, and in the inbox.
    relay_trace: u64,
    trace: usize,
    number: usize,
    key: (usize, String),
    name: PathBuf,
    /// A packet that has been announced and could not be fetched yet.
    announced: Option<PacketIndex>,
    last_progress: Instant,
    is_away: bool,
    has_ended: bool,
}

/// How a connection ended.
enum Ending {
    /// The session was destroyed.
    Session,
    /// Whoever reads wants no more.
    Closed,
}

impl Receiver {
    pub fn new(
        inbox: Arc<Inbox>,
        url: Url,
        options: Options,
        handle: Arc<Mutex<Option<TcpStream>>>,
    ) -> Receiver {
        let number = inbox.add_session(Status::new(&url, State::Connecting));
        let (traces, streams) = (HashMap::new(), HashMap::new());
        Receiver { inbox, number, url, options, handle, traces, streams }
    }

    /// Receives until the session ends or the inbox is closed.
    pub fn run(mut self) {
        let mut retry = RETRY[0];
        let mut lost_at: Option<Instant> = None;
        loop {
            let was_known = !self.traces.is_empty();
            let error = match self.receive(&mut retry) {
                Ok(Ending::Session) => {
                    return self.inbox.end_session(self.number, Status::new(&self.url, State::Ended));
                }
                Ok(Ending::Closed) => return,
                Err(error) => error,
            };
            if matches!(error, Error::Protocol(_)) && !was_known && self.traces.is_empty() {
                // It will not get better.
                let status = Status::new(&self.url, State::Failed(error.to_string()));
                return self.inbox.end_session(self.number, status);
            }
            // A connection that brought nothing is the same loss as before.
            if retry == RETRY[0] {
                lost_at = None;
            }
            let since = *lost_at.get_or_insert_with(Instant::now);
            self.inbox.set_status(self.number, Status::new(&self.url, State::Lost(error.to_string())));
            if since.elapsed() >= self.options.patience {
                self.give_up_waiting();
            }
            if self.inbox.pause(retry) {
                return;
            }
            retry = (retry * 2).min(RETRY[1]);
        }
    }

    /// Lets others go on without the streams that nothing is received of.
    fn give_up_waiting(&self) {
        let lasting = self.streams.iter().filter(|(_, stream)| !stream.has_ended);
        for ((trace, _), stream) in lasting {
            self.inbox.set_away(*trace, stream.number);
        }
    }

    /// Lets others go on without the streams that this connection does not have: they are of a session that went away
    /// with its relay.
    fn leave_others(&self, attachment: &Attachment) {
        let open: HashSet<_> = attachment.streams.iter().map(|open| &open.key).collect();
        for (key, stream) in self.streams.iter().filter(|(_, stream)| !stream.has_ended) {
            if !open.contains(key) {
                self.inbox.set_away(key.0, stream.number);
            }
        }
    }

    /// Connects, attaches, and receives for as long as that works.
    fn receive(&mut self, retry: &mut Duration) -> Result<Ending, Error> {
        let mut connection = Connection::open(&self.url, self.options.timeout)?;
        *self.handle.lock().unwrap_or_else(PoisonError::into_inner) = Some(connection.handle()?);
        if self.inbox.is_closing() {
            return Ok(Ending::Closed);
        }
        let sessions = connection.sessions()?;
        let session =
            newest(sessions, &self.url).ok_or_else(|| Error::protocol("the session is not there"))?;
        // What was missed while the connection was lost comes again, and what was received is skipped.
        let streams = match connection.attach(session.id, self.options.seek)? {
            AttachReply::Streams(streams) => streams,
            AttachReply::Taken => return Err(Error::protocol("another viewer is attached to the session")),
            AttachReply::Unknown => return Err(Error::protocol("the session is not there")),
        };
        let timer = Duration::from_micros(session.live_timer_us.into());
        let mut attachment = Attachment {
            session: session.id,
            patience: self.options.patience.max(timer * 4),
            idle: (timer / 8).clamp(IDLE[0], IDLE[1]),
            ..Attachment::default()
        };
        *retry = RETRY[0];
        let mut status = Status::new(&self.url, State::Attached);
        status.live_timer = timer;
        self.inbox.set_status(self.number, status);
        self.add_streams(&mut attachment, streams)?;
        self.turns(&mut connection, &mut attachment)
    }

    fn turns(&mut self, connection: &mut Connection, attachment: &mut Attachment) -> Result<Ending, Error> {
        let attached = Instant::now();
        let mut is_settled = false;
        loop {
            if self.inbox.is_closing() {
                connection.detach(attachment.session);
                return Ok(Ending::Closed);
            }
            let mut has_progress = self.metadata(connection, attachment)?;
            if !is_settled && (attachment.waiting.is_empty() || attached.elapsed() > attachment.patience) {
                is_settled = true;
                self.leave_others(attachment);
            }
            let mut is_full = false;
            for place in 0..attachment.streams.len() {
                let OpenStream { trace, number, .. } = attachment.streams[place];
                if !self.inbox.has_room(trace, number) {
                    is_full = true;
                    continue;
                }
                has_progress |= self.stream(connection, attachment, place)?;
            }
            attachment.streams.retain(|stream| !stream.has_ended);
            let asked = Instant::now();
            match connection.new_streams(attachment.session)? {
                Some(streams) if streams.is_empty() => {}
                Some(streams) => {
                    has_progress |= self.add_streams(attachment, streams)?;
                    self.metadata(connection, attachment)?;
                }
                // The relay keeps a destroyed session until its streams have been read.
                None if attachment.streams.is_empty() && !has_progress => return Ok(Ending::Session),
                None => {}
            }
            if attachment.waiting.is_empty() || is_settled {
                self.inbox.set_asked(self.number, asked);
            }
            let is_closing = match (has_progress, is_full) {
                (true, _) => false,
                (false, true) => self.inbox.wait_for_room(attachment.idle),
                (false, false) => self.inbox.pause(attachment.idle),
            };
            if is_closing {
                connection.detach(attachment.session);
                return Ok(Ending::Closed);
            }
        }
    }

    /// Takes in streams that have come. Returns whether there were any.
    fn add_streams(&mut self, attachment: &mut Attachment, streams: Vec<Stream>) -> Result<bool, Error> {
        let is_new = !streams.is_empty();
        let open = attachment.streams.len() + attachment.waiting.len() + attachment.metadata.len();
        if open + streams.len() > 2 * MAX_STREAMS
            || self.streams.len() + streams.len() > MAX_STREAMS_EVER
            || self.traces.len() > MAX_TRACES_EVER
        {
            return Err(Error::protocol("the relay announces streams without end"));
        }
        for stream in streams {
            if stream.is_metadata {
                attachment.metadata.push(MetadataStream {
                    id: stream.id,
                    relay_trace: stream.trace,
                    path: stream.path,
                    beginning: Vec::new(),
                    key: None,
                    to_skip: 0,
                    is_due: true,
                });
            } else {
                attachment.waiting.push(stream);
            }
        }
        Ok(is_new)
    }

    /// Opens the streams whose traces have been identified.
    fn open_streams(&mut self, attachment: &mut Attachment) {
        let Attachment { metadata, waiting, streams, .. } = attachment;
        waiting.retain(|stream| {
            let of_trace = metadata.iter().find(|metadata| metadata.relay_trace == stream.trace);
            let key = of_trace.and_then(|metadata| metadata.key.as_ref());
            let Some(trace) = key.and_then(|key| self.traces.get(key)).map(|trace| trace.number) else {
                return true;
            };
            let name = name(&self.url, &stream.path, Some(&stream.channel));
            let key = (trace, stream.channel.clone());
            let known = self.streams.entry(key.clone()).or_insert_with(|| KnownStream {
                number: self.inbox.add_stream(trace),
                end: None,
                has_ended: false,
            });
            if !known.has_ended {
                streams.push(OpenStream {
                    id: stream.id,
                    relay_trace: stream.trace,
                    trace,
                    number: known.number,
                    key,
                    name,
                    announced: None,
                    last_progress: Instant::now(),
                    is_away: false,
                    has_ended: false,
                });
            }
            false
        });
    }

    /// Asks for metadata where some is due. Returns whether there was any.
    fn metadata(&mut self, connection: &mut Connection, attachment: &mut Attachment) -> Result<bool, Error> {
        let mut has_progress = false;
        for stream in attachment.metadata.iter_mut().filter(|stream| stream.is_due) {
            // A stream of metadata without end must not keep the others waiting.
            let mut is_complete = false;
            for _ in 0..METADATA_TURNS {
                let known = stream.key.as_ref().and_then(|key| self.traces.get(key));
                let room = MAX_METADATA - known.map_or(0, |known| known.metadata) + stream.to_skip;
                let bytes = connection.metadata(stream.id, room)?;
                if bytes.is_empty() {
                    is_complete = true;
                    break;
                }
                has_progress = true;
                self.take_metadata(stream, bytes);
            }
            // A trace without any is asked again: without metadata nothing can be decoded.
            stream.is_due = stream.key.is_none() || !is_complete;
        }
        self.open_streams(attachment);
        Ok(has_progress)
    }

    /// Takes in what metadata has grown by.
    fn take_metadata(&mut self, stream: &mut MetadataStream, mut bytes: Vec<u8>) {
        if stream.key.is_none() {
            stream.beginning.append(&mut bytes);
            if stream.beginning.len() < IDENTITY {
                return;
            }
            bytes = std::mem::take(&mut stream.beginning);
            let key = (stream.path.clone(), bytes[..IDENTITY].to_vec());
            let (inbox, url) = (&self.inbox, &self.url);
            let known = self.traces.entry(key.clone()).or_insert_with(|| {
                let number = inbox.add_trace(self.number, name(url, &stream.path, None));
                KnownTrace { number, metadata: 0 }
            });
            (stream.key, stream.to_skip) = (Some(key), known.metadata);
        }
        if let Some(known) = stream.key.as_ref().and_then(|key| self.traces.get_mut(key)) {
            let skipped = stream.to_skip.min(bytes.len());
            stream.to_skip -= skipped;
            known.metadata += bytes.len() - skipped;
            self.inbox.add_metadata(known.number, &bytes[skipped..]);
        }
    }

    /// Asks a stream for its next packet. Returns whether it made progress.
    fn stream(
        &mut self,
        connection: &mut Connection,
        attachment: &mut Attachment,
        place: usize,
    ) -> Result<bool, Error> {
        let stream = &mut attachment.streams[place];
        let (next, updates) = match stream.announced.take() {
            Some(index) => (IndexReply::Packet(index), Updates::default()),
            None => connection.next_index(stream.id)?,
        };
        let known = self.streams.get(&stream.key).and_then(|known| known.end);
        if updates.metadata {
            self.metadata_of(connection, attachment, place)?;
        }
        let stream = &mut attachment.streams[place];
        let is_progress = match next {
            IndexReply::Retry => {
                if stream.last_progress.elapsed() > attachment.patience && !stream.is_away {
                    stream.is_away = true;
                    self.inbox.set_away(stream.trace, stream.number);
                }
                false
            }
            IndexReply::Inactive(until) => {
                self.inbox.set_quiet(stream.trace, stream.number, until);
                (stream.last_progress, stream.is_away) = (Instant::now(), false);
                false
            }
            IndexReply::End => {
                self.end(place, attachment);
                true
            }
            // It was received on another connection.
            IndexReply::Packet(index) if known.is_some_and(|end| index.end <= end) => true,
            IndexReply::Packet(index) => match connection.packet(stream.id, index.offset, index.length)? {
                PacketReply::Packet(bytes) => {
                    self.inbox.add_packet(stream.trace, stream.number, stream.name.clone(), bytes)?;
                    if let Some(known) = self.streams.get_mut(&stream.key) {
                        known.end = Some(index.end);
                    }
                    (stream.last_progress, stream.is_away) = (Instant::now(), false);
                    true
                }
                PacketReply::Retry(updates) => {
                    stream.announced = Some(index);
                    if updates.metadata {
                        self.metadata_of(connection, attachment, place)?;
                    }
                    false
                }
                // The relay overwrote it; the gap in the numbers is counted as a loss.
                PacketReply::Missing => true,
                PacketReply::End => {
                    self.end(place, attachment);
                    true
                }
            },
        };
        Ok(is_progress)
    }

    /// Asks for the metadata that a stream needs.
    fn metadata_of(
        &mut self,
        connection: &mut Connection,
        attachment: &mut Attachment,
        place: usize,
    ) -> Result<(), Error> {
        let trace = attachment.streams[place].relay_trace;
        let of_trace = attachment.metadata.iter_mut().filter(|metadata| metadata.relay_trace == trace);
        of_trace.for_each(|metadata| metadata.is_due = true);
        self.metadata(connection, attachment).map(|_| ())
    }

    fn end(&mut self, place: usize, attachment: &mut Attachment) {
        let stream = &mut attachment.streams[place];
        stream.has_ended = true;
        if let Some(known) = self.streams.get_mut(&stream.key) {
            known.has_ended = true;
        }
        self.inbox.end_stream(stream.trace, stream.number);
    }
}

/// The newest session that an address names.
fn newest(sessions: Vec<Session>, url: &Url) -> Option<Session> {
    let fits = |part: &Option<String>, name: &str| part.as_deref().is_none_or(|part| part == name);
    let named = sessions
        .into_iter()
        .filter(|session| fits(&url.hostname, &session.hostname) && fits(&url.session, &session.name));
    named.max_by_key(|session| session.id)
}

/// What a trace, or a stream of it, is called in messages.
fn name(url: &Url, path: &str, channel: Option<&str>) -> PathBuf {
    let parts = [Some(path), channel].into_iter().flatten().map(|part| part.trim_matches('/'));
    PathBuf::from([&*url.to_string()].into_iter().chain(parts).collect::<Vec<_>>().join("/"))
}
