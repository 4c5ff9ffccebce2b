//! Where the packets that are merged come from: files, memory, or a network.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Damage;
use crate::packets::LocatedPacket;
use crate::packets::bytes::{Bytes, Location};
use crate::packets::pool::FilePool;

/// The packets of one trace, as they become available, stream by stream.
///
/// Files and memory have everything from the start. Over a network metadata grows, streams come, and packets arrive when
/// the tracer closes them: the merge asks again for what it needs next.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use std::io;
///
/// use ctf_reader::{InOrder, NextPacket, Packet, PacketSource, Step, Window, all_fields};
///
/// /// One stream, whose packets are made up.
/// struct SyntheticSource {
///     metadata: Vec<u8>,
///     packets: Vec<Vec<u8>>,
/// }
///
/// impl PacketSource for SyntheticSource {
///     fn metadata(&mut self) -> io::Result<Vec<u8>> {
///         Ok(std::mem::take(&mut self.metadata))
///     }
///
///     fn streams(&mut self) -> io::Result<usize> {
///         Ok(1)
///     }
///
///     fn next_packet(&mut self, _: usize) -> io::Result<NextPacket> {
///         Ok(self.packets.pop().map_or(NextPacket::End, |bytes| NextPacket::Packet(Packet::from_bytes("synthetic", bytes))))
///     }
/// }
///
/// let packets = vec![example_packet(0, &[(30, "Edsger", 0)]), example_packet(0, &[(10, "Ada", 12)])];
/// let source = SyntheticSource { metadata: EXAMPLE_METADATA.into(), packets };
/// let mut events = InOrder::new(vec![Box::new(source)], Window::default(), all_fields);
/// let mut times = Vec::new();
/// loop {
///     match events.next_event() {
///         Step::Event(event) => times.push(event.timestamp()),
///         Step::Wait => unreachable!("it has everything from the start"),
///         Step::End => break,
///     }
/// }
/// assert_eq!(times, [10, 30]);
/// ```
pub trait PacketSource {
    /// The bytes that metadata has grown by since the last call; empty if there are none.
    fn metadata(&mut self) -> io::Result<Vec<u8>>;

    /// The number of streams so far. They are numbered from 0 in the order in which they came.
    fn streams(&mut self) -> io::Result<usize>;

    /// The next packet of a stream. The packets of a stream come in the order of their earliest times.
    fn next_packet(&mut self, stream: usize) -> io::Result<NextPacket>;

    /// Whether no more streams will come.
    fn is_complete(&self) -> bool {
        true
    }
}

/// What a stream has next.
#[derive(Debug)]
#[non_exhaustive]
pub enum NextPacket {
    /// A packet.
    Packet(Packet),
    /// Nothing yet, and nothing before this count of its clock, where that is known.
    Quiet(Option<u64>),
    /// Nothing, and it is not known when there will be more, as when a connection is lost. The merge does not wait for
    /// the stream until [`InOrder::look_for_more`](crate::InOrder::look_for_more) finds something; the events that it has
    /// then may come late.
    Away,
    /// Nothing more.
    End,
}

/// A packet, before it is opened.
#[derive(Clone, Debug)]
pub struct Packet {
    pub(crate) storage: Storage,
    /// Where it begins there, in bytes.
    pub(crate) offset: u64,
    /// How long it is, in bytes.
    pub(crate) length: u64,
    /// What is known of it, if its header has been decoded.
    pub(crate) located: Option<Box<LocatedPacket>>,
}

/// Where the bytes of a packet are.
#[derive(Clone, Debug)]
pub(crate) enum Storage {
    /// In a file, which has these numbers: its trace's, and its own there.
    File { trace: usize, file: usize, location: Arc<Location> },
    /// In memory, under a name.
    Memory { name: Arc<Path>, bytes: Arc<Vec<u8>> },
}

impl Packet {
    /// A packet in memory. Damage in it is reported under the name.
    pub fn from_bytes(name: impl Into<PathBuf>, bytes: impl Into<Arc<Vec<u8>>>) -> Packet {
        let (name, bytes) = (Arc::from(name.into()), bytes.into());
        Packet {
            offset: 0,
            length: bytes.len() as u64,
            storage: Storage::Memory { name, bytes },
            located: None,
        }
    }
}

impl Storage {
    /// Whether the bytes are in a file.
    pub fn is_file(&self) -> bool {
        matches!(self, Storage::File { .. })
    }

    /// Opens it for reading, or finds it open.
    pub fn open(&self, files: &mut FilePool) -> io::Result<Arc<Bytes>> {
        match self {
            Storage::File { trace, file, location } => files.get(*trace, *file, location),
            Storage::Memory { bytes, .. } => Ok(Arc::new(Bytes::packet(Arc::clone(bytes)))),
        }
    }

    /// Damage in it at an offset.
    pub fn damage(&self, offset: u64, reason: String) -> Damage {
        Damage::new(self.path(), reason).at(offset)
    }

    /// Damage at an offset: it cannot be read.
    pub fn unreadable(&self, offset: u64, error: &io::Error) -> Damage {
        Damage::io(self.path(), "read", error).at(offset)
    }

    /// The name of the bytes in messages.
    fn path(&self) -> &Path {
        match self {
            Storage::File { location, .. } => &location.path,
            Storage::Memory { name, .. } => name,
        }
    }
}
