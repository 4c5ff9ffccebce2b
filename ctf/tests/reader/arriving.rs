//! A trace that arrives piece by piece, as over a network.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;

use ctf_reader::{NextPacket, Packet, PacketSource};

/// What has arrived of a trace, and what comes next.
#[derive(Default)]
pub struct Arriving {
    pub pieces: VecDeque<Piece>,
    metadata: Vec<u8>,
    pub streams: Vec<VecDeque<NextPacket>>,
}

/// What comes next: metadata, a new stream, or what a stream has.
pub enum Piece {
    Metadata(Vec<u8>),
    Stream,
    Next(usize, NextPacket),
}

/// The merge owns its source, so the test keeps a handle to it.
#[derive(Clone, Default)]
pub struct Shared(pub Rc<RefCell<Arriving>>);

impl Arriving {
    /// Lets the next piece arrive.
    pub fn arrive(&mut self) -> bool {
        match self.pieces.pop_front() {
            None => return false,
            Some(Piece::Metadata(text)) => self.metadata.extend(text),
            Some(Piece::Stream) => self.streams.push(VecDeque::new()),
            Some(Piece::Next(stream, next)) => self.streams[stream].push_back(next),
        }
        true
    }
}

impl Shared {
    /// A source whose pieces have not arrived yet.
    pub fn new(pieces: impl IntoIterator<Item = Piece>) -> Shared {
        let arriving = Arriving { pieces: pieces.into_iter().collect(), ..Arriving::default() };
        Shared(Rc::new(RefCell::new(arriving)))
    }

    /// A source whose pieces have all arrived.
    pub fn arrived(pieces: impl IntoIterator<Item = Piece>) -> Shared {
        let shared = Shared::new(pieces);
        while shared.0.borrow_mut().arrive() {}
        shared
    }

    /// A trace of one stream that has all of its packets.
    pub fn stream(metadata: &str, packets: impl IntoIterator<Item = Vec<u8>>) -> Shared {
        let packets = packets.into_iter().map(|bytes| Piece::Next(0, packet(bytes)));
        let begin = [Piece::Metadata(metadata.into()), Piece::Stream];
        Shared::arrived(begin.into_iter().chain(packets).chain([Piece::Next(0, NextPacket::End)]))
    }
}

/// A packet that has arrived.
pub fn packet(bytes: Vec<u8>) -> NextPacket {
    NextPacket::Packet(Packet::from_bytes("net", bytes))
}

impl PacketSource for Shared {
    fn metadata(&mut self) -> io::Result<Vec<u8>> {
        Ok(std::mem::take(&mut self.0.borrow_mut().metadata))
    }

    fn streams(&mut self) -> io::Result<usize> {
        Ok(self.0.borrow().streams.len())
    }

    fn next_packet(&mut self, stream: usize) -> io::Result<NextPacket> {
        Ok(self.0.borrow_mut().streams[stream].pop_front().unwrap_or(NextPacket::Quiet(None)))
    }

    fn is_complete(&self) -> bool {
        self.0.borrow().pieces.is_empty()
    }
}
