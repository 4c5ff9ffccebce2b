//! What has been received of a session, over all connections to its relay.
//!
//! A connection that is lost is made again, and the relay then sends everything from the beginning. What is known here is
//! skipped.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::inbox::Inbox;
use crate::protocol::MAX_METADATA;
use crate::{Error, Url};

/// The most traces that a session may have from its beginning to its end: one for each process or user.
const MAX_TRACES_EVER: usize = 100_000;

/// The most streams that a session may have from its beginning to its end.
const MAX_STREAMS_EVER: usize = 1 << 20;

/// The number of bytes at the beginning of metadata that identify a trace: its magic number and its UUID.
pub const IDENTITY: usize = 20;

/// What identifies a trace on another connection too: its path at the relay, and the [beginning](IDENTITY) of its metadata.
pub type TraceKey = (String, Vec<u8>);

/// What identifies a stream: its trace's number in the inbox, and its channel.
pub type StreamKey = (usize, String);

/// A trace, and how much of its metadata is in the inbox.
struct KnownTrace {
    number: usize,
    metadata: usize,
}

/// A stream, and up to where its packets are in the inbox.
struct KnownStream {
    number: usize,
    end: Option<u64>,
    has_ended: bool,
}

/// What has been received of a session.
pub struct Received {
    pub inbox: Arc<Inbox>,
    /// The session's number in the inbox.
    pub session: usize,
    pub url: Url,
    traces: HashMap<TraceKey, KnownTrace>,
    streams: HashMap<StreamKey, KnownStream>,
}

impl Received {
    /// Nothing yet.
    pub fn new(inbox: Arc<Inbox>, session: usize, url: Url) -> Received {
        Received { inbox, session, url, traces: HashMap::new(), streams: HashMap::new() }
    }

    /// Whether nothing has been received.
    pub fn is_empty(&self) -> bool {
        self.traces.is_empty()
    }

    /// Refuses a relay that announces more than a session can have.
    pub fn check_room(&self, new_streams: usize) -> Result<(), Error> {
        match self.streams.len() + new_streams > MAX_STREAMS_EVER || self.traces.len() > MAX_TRACES_EVER {
            true => Err(Error::protocol("the relay announces too many streams")),
            false => Ok(()),
        }
    }

    /// The number of a trace in the inbox, if it is known.
    pub fn trace(&self, key: &TraceKey) -> Option<usize> {
        self.traces.get(key).map(|trace| trace.number)
    }

    /// Registers a trace. Returns the number of bytes of its metadata that are in the inbox.
    pub fn add_trace(&mut self, key: &TraceKey) -> usize {
        let Received { inbox, session, url, .. } = self;
        let known = self.traces.entry(key.clone()).or_insert_with(|| {
            let number = inbox.add_trace(*session, name(url, &key.0, None));
            KnownTrace { number, metadata: 0 }
        });
        known.metadata
    }

    /// The number of bytes that a trace's metadata may still grow by.
    pub fn metadata_room(&self, key: Option<&TraceKey>) -> usize {
        let known = key.and_then(|key| self.traces.get(key));
        MAX_METADATA.saturating_sub(known.map_or(0, |known| known.metadata))
    }

    /// Adds what the metadata of a known trace has grown by.
    pub fn add_metadata(&mut self, key: &TraceKey, bytes: &[u8]) {
        if let Some(known) = self.traces.get_mut(key) {
            known.metadata += bytes.len();
            self.inbox.add_metadata(known.number, bytes);
        }
    }

    /// Registers a stream. Returns its number in the inbox, unless it has ended.
    pub fn add_stream(&mut self, key: &StreamKey) -> Option<usize> {
        let inbox = &self.inbox;
        let known = self.streams.entry(key.clone()).or_insert_with(|| KnownStream {
            number: inbox.add_stream(key.0),
            end: None,
            has_ended: false,
        });
        (!known.has_ended).then_some(known.number)
    }

    /// Whether a packet with this end was received on another connection.
    pub fn has_packet(&self, key: &StreamKey, end: u64) -> bool {
        self.streams.get(key).and_then(|known| known.end).is_some_and(|known| end <= known)
    }

    /// Adds a packet of a known stream, with its end.
    pub fn add_packet(
        &mut self,
        key: &StreamKey,
        name: PathBuf,
        end: u64,
        bytes: Vec<u8>,
    ) -> Result<(), Error> {
        if let Some(known) = self.streams.get_mut(key) {
            self.inbox.add_packet(key.0, known.number, name, bytes)?;
            known.end = Some(end);
        }
        Ok(())
    }

    /// Marks a stream as ended.
    pub fn end_stream(&mut self, key: &StreamKey) {
        if let Some(known) = self.streams.get_mut(key) {
            known.has_ended = true;
            self.inbox.end_stream(key.0, known.number);
        }
    }

    /// Lets the merge continue without any streams but these: nothing is received from the others.
    pub fn leave_all_but(&self, open: &HashSet<&StreamKey>) {
        for (key, stream) in self.streams.iter().filter(|(_, stream)| !stream.has_ended) {
            if !open.contains(key) {
                self.inbox.set_away(key.0, stream.number);
            }
        }
    }
}

/// What a trace, or a stream of it, is called in messages.
pub fn name(url: &Url, path: &str, channel: Option<&str>) -> PathBuf {
    let parts = [Some(path), channel].into_iter().flatten().map(|part| part.trim_matches('/'));
    PathBuf::from([&*url.to_string()].into_iter().chain(parts).collect::<Vec<_>>().join("/"))
}
