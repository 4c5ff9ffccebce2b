//! Metadata that grows, as it arrives over a network.
//!
//! It grows by whole statements: once the streams are described, by event classes alone. These are added to what is known,
//! so that the time for all of them is linear in the size of the text. Anything else may change the meaning of what came
//! before, a clock for example, and all is read again; so are JSON and packets that are damaged. After some times that
//! waits until there is much more of it, so that time stays bounded whatever arrives.

use super::model::Metadata;
use super::packets;
use super::problem::{Position, Problem, Problems};
use super::tsdl::{self, Tail};
use super::{Language, json};

/// The number of times that all is read again at once; a trace has about one for each channel.
const MAX_READINGS: usize = 256;

/// After that, all is read again when its size has grown by this part of it.
const LEAST_GROWTH: usize = 8;

/// The metadata of a trace so far.
#[derive(Default)]
pub struct GrowingMetadata {
    bytes: Vec<u8>,
    /// Where the packets end whose text has been taken.
    taken: usize,
    /// The text that has been taken and not been read: the beginning of a statement.
    rest: String,
    /// What is needed to add events; without it, all is read again.
    tail: Option<Tail>,
    /// The number of times that all was read, and how much the last time.
    readings: usize,
    read: usize,
    /// Whether something has arrived that waits to be read.
    is_waiting: bool,
    problems: Problems,
    /// The number of problems that have been handed out.
    told: usize,
}

/// What metadata has grown by.
pub enum Growth {
    /// Event classes, each after the others of its stream.
    Events,
    /// Anything: this is all of it.
    All(Metadata),
}

impl GrowingMetadata {
    /// Whether something has arrived that waits until there is more of it, or until there will be no more.
    pub fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Adds bytes, and says whether they are the last. `known` is the metadata so far, to which events are added.
    pub fn grow(&mut self, bytes: &[u8], is_last: bool, known: Option<&mut Metadata>) -> Growth {
        self.bytes.extend_from_slice(bytes);
        self.problems.continue_text();
        let whole = packets::whole(&self.bytes, self.taken);
        let end = whole.unwrap_or(self.bytes.len());
        if let (Some(tail), Some(known), Some(_)) = (&mut self.tail, known, whole) {
            let more = packets::whole_text(&self.bytes, self.taken..end);
            self.taken = end;
            if let Some(more) = more {
                self.rest.push_str(&more);
                if tail.add(&self.rest, known, &mut self.problems).is_some() {
                    self.rest.drain(..tail.end());
                    return Growth::Events;
                }
            }
        }
        self.tail = None;
        self.is_waiting = self.readings >= MAX_READINGS
            && !is_last
            && self.bytes.len() - self.read < self.read / LEAST_GROWTH;
        if self.is_waiting { Growth::Events } else { self.read_again(end) }
    }

    /// Problems that have not been handed out yet.
    pub fn new_problems(&mut self) -> &[Problem] {
        let first = self.told;
        let new = self.problems.settled_from(first);
        self.told += new.len();
        new
    }

    /// What is wrong if no more comes.
    pub fn unfinished(&self) -> Option<Problem> {
        let reason = || "the metadata ends within this packet".to_owned();
        let packet = (self.taken < self.bytes.len())
            .then(|| Problem { position: Position::Packet(self.taken), reason: reason() });
        packet.or_else(|| self.problems.cut().cloned())
    }

    /// Reads all bytes up to a position again.
    fn read_again(&mut self, end: usize) -> Growth {
        let (text, mut problems) = packets::text(&self.bytes[..end]);
        (self.taken, self.read, self.readings) = (end, end, self.readings + 1);
        let metadata = match Language::of(&text) {
            Language::Json => json::read(&text, &mut problems),
            Language::Tsdl => {
                let (metadata, tail) = tsdl::read(&text, &mut problems);
                self.rest = tail.as_ref().map_or("", |tail| &text[tail.end()..]).to_owned();
                self.tail = tail;
                metadata
            }
        };
        self.problems = problems;
        Growth::All(metadata)
    }
}
