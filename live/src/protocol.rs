//! The messages of LTTng's viewer protocol, version 2.4: TCP, one request, one reply.
//!
//! ```text
//! request  │ u64 size of what follows the header │ u32 command │ u32 0 │ …
//! reply    │ …   (no header: its layout follows from the command)
//! ```
//!
//! All integers are big-endian and nothing is padded. Names are arrays of a fixed size that end at their first NUL. Every
//! length and count in a reply is checked against a limit before anything is read or reserved for it.

use std::time::Duration;

use crate::{Error, Seek};

/// The version of the protocol that is asked for: later ones add to it.
pub const VERSION: (u32, u32) = (2, 4);

/// The largest packet that is taken, in bytes. A tracer's packet is one of its sub-buffers.
pub const MAX_PACKET: u64 = 128 << 20;
/// The most metadata that a trace may have, in bytes.
pub const MAX_METADATA: usize = 32 << 20;
/// The most sessions that a list may have.
pub const MAX_SESSIONS: u32 = 10_000;
/// The most streams that a session may have at a time.
pub const MAX_STREAMS: usize = 10_000;

const HOSTNAME: usize = 64;
const SESSION: usize = 255;
const PATH: usize = 4096;
const CHANNEL: usize = 255;

/// What a viewer can ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    Connect,
    List,
    Attach { session: u64, seek: Seek },
    NextIndex { stream: u64 },
    Packet { stream: u64, offset: u64, length: u32 },
    Metadata { stream: u64 },
    NewStreams { session: u64 },
    CreateSession,
    Detach { session: u64 },
}

impl Request {
    /// The bytes to send.
    pub fn encode(self) -> Vec<u8> {
        let mut body = Vec::new();
        let command: u32 = match self {
            Request::Connect => {
                let (major, minor) = VERSION;
                body.extend(0_u64.to_be_bytes());
                // The last number says that we are a viewer that wants commands and data on one connection.
                [major, minor, 1].iter().for_each(|number| body.extend(number.to_be_bytes()));
                1
            }
            Request::List => 2,
            Request::Attach { session, seek } => {
                body.extend(session.to_be_bytes());
                body.extend(0_u64.to_be_bytes());
                let seek: u32 = if seek == Seek::Beginning { 1 } else { 2 };
                body.extend(seek.to_be_bytes());
                3
            }
            Request::NextIndex { stream } => {
                body.extend(stream.to_be_bytes());
                4
            }
            Request::Packet { stream, offset, length } => {
                body.extend(stream.to_be_bytes());
                body.extend(offset.to_be_bytes());
                body.extend(length.to_be_bytes());
                5
            }
            Request::Metadata { stream } => {
                body.extend(stream.to_be_bytes());
                6
            }
            Request::NewStreams { session } => {
                body.extend(session.to_be_bytes());
                7
            }
            Request::CreateSession => 8,
            Request::Detach { session } => {
                body.extend(session.to_be_bytes());
                9
            }
        };
        let mut bytes = (body.len() as u64).to_be_bytes().to_vec();
        bytes.extend(command.to_be_bytes());
        bytes.extend(0_u32.to_be_bytes());
        bytes.extend(body);
        bytes
    }
}

/// Where the bytes of a reply come from.
pub trait Input {
    /// The next `length` bytes, in memory that is used again.
    fn take_into(&mut self, memory: Vec<u8>, length: usize) -> Result<Vec<u8>, Error>;

    /// The next `length` bytes.
    fn take(&mut self, length: usize) -> Result<Vec<u8>, Error> {
        self.take_into(Vec::new(), length)
    }

    /// A 32-bit number.
    fn u32(&mut self) -> Result<u32, Error> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes(bytes.try_into().unwrap_or_default()))
    }

    /// A 64-bit number.
    fn u64(&mut self) -> Result<u64, Error> {
        let bytes = self.take(8)?;
        Ok(u64::from_be_bytes(bytes.try_into().unwrap_or_default()))
    }

    /// A name in an array of this size.
    fn name(&mut self, size: usize) -> Result<String, Error> {
        let bytes = self.take(size)?;
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(size);
        Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }
}

/// A part of a reply that has arrived.
impl Input for &[u8] {
    fn take_into(&mut self, mut memory: Vec<u8>, length: usize) -> Result<Vec<u8>, Error> {
        let (taken, rest) =
            self.split_at_checked(length).ok_or_else(|| Error::protocol("the reply is too short"))?;
        *self = rest;
        memory.clear();
        memory.extend_from_slice(taken);
        Ok(memory)
    }
}

/// A session that a relay has.
///
/// ```no_run
/// for session in lttng_live::sessions(&"net://localhost".parse()?, &Default::default())? {
///     println!("{}/{}, a packet every {:?}", session.hostname, session.name, session.live_timer);
/// }
/// # Ok::<(), lttng_live::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Session {
    /// Its number at the relay.
    pub id: u64,
    /// How often its tracer closes packets, if it is live.
    pub live_timer: Option<Duration>,
    /// The number of viewers that are attached.
    pub viewers: u32,
    /// The number of streams that it has.
    pub streams: u32,
    /// The host that it is recorded on.
    pub hostname: String,
    /// What it is called there.
    pub name: String,
}

/// Checks the reply to [`Request::Connect`].
pub fn connected(input: &mut impl Input) -> Result<(), Error> {
    let _id = input.u64()?;
    let (major, minor, _type) = (input.u32()?, input.u32()?, input.u32()?);
    match major == VERSION.0 {
        true => Ok(()),
        false => Err(Error::protocol(format!(
            "the relay speaks version {major}.{minor} of the protocol, and this program 2.4"
        ))),
    }
}

/// Checks the reply to [`Request::CreateSession`].
pub fn created(input: &mut impl Input) -> Result<(), Error> {
    match input.u32()? {
        1 => Ok(()),
        status => Err(Error::protocol(format!("the relay refuses a viewer (status {status})"))),
    }
}

/// The reply to [`Request::List`].
pub fn sessions(input: &mut impl Input) -> Result<Vec<Session>, Error> {
    let count = input.u32()?;
    if count > MAX_SESSIONS {
        return Err(Error::protocol(format!("the relay claims to have {count} sessions")));
    }
    // All of them at once: the deadline of a reply depends on its length.
    let bytes = input.take(count as usize * (8 + 3 * 4 + HOSTNAME + SESSION))?;
    let mut input = &*bytes;
    let session = |_| {
        Ok(Session {
            id: input.u64()?,
            live_timer: Some(input.u32()?).filter(|&us| us > 0).map(|us| Duration::from_micros(us.into())),
            viewers: input.u32()?,
            streams: input.u32()?,
            hostname: input.name(HOSTNAME)?,
            name: input.name(SESSION)?,
        })
    };
    (0..count).map(session).collect()
}

/// A stream of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    pub id: u64,
    /// Streams with the same number share metadata.
    pub trace: u64,
    pub is_metadata: bool,
    /// Where the relay writes it, which identifies the trace.
    pub path: String,
    pub channel: String,
}

/// Reads the reply to [`Request::Attach`].
pub fn attached(input: &mut impl Input) -> Result<AttachReply, Error> {
    let status = input.u32()?;
    let streams = streams(input)?;
    match status {
        1 => Ok(AttachReply::Streams(streams)),
        2 => Ok(AttachReply::Taken),
        3 => Ok(AttachReply::Unknown),
        4 => Err(Error::protocol("the session is not live: create it with `lttng create --live`")),
        status => Err(Error::protocol(format!("the relay refuses to attach (status {status})"))),
    }
}

/// The reply to [`Request::Attach`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttachReply {
    Streams(Vec<Stream>),
    /// Another viewer has it.
    Taken,
    /// It is gone.
    Unknown,
}

/// The reply to [`Request::NewStreams`]; `None` if the session has ended.
pub fn new_streams(input: &mut impl Input) -> Result<Option<Vec<Stream>>, Error> {
    let status = input.u32()?;
    let streams = streams(input)?;
    match status {
        1 | 2 => Ok(Some(streams)),
        4 => Ok(None),
        status => Err(Error::protocol(format!("the relay refuses to list new streams (status {status})"))),
    }
}

fn streams(input: &mut impl Input) -> Result<Vec<Stream>, Error> {
    let count = input.u32()?;
    if count as usize > MAX_STREAMS {
        return Err(Error::protocol(format!("the relay claims to have {count} streams")));
    }
    let bytes = input.take(count as usize * (8 + 8 + 4 + PATH + CHANNEL))?;
    let mut input = &*bytes;
    let stream = |_| {
        Ok(Stream {
            id: input.u64()?,
            trace: input.u64()?,
            is_metadata: input.u32()? != 0,
            path: input.name(PATH)?,
            channel: input.name(CHANNEL)?,
        })
    };
    (0..count).map(stream).collect()
}

/// The reply to [`Request::Metadata`]: what metadata has grown by, and nothing if it has not. `room` is the most that is
/// taken.
pub fn metadata(input: &mut impl Input, room: usize) -> Result<Vec<u8>, Error> {
    let (length, status) = (input.u64()?, input.u32()?);
    match status {
        1 if length > room as u64 => {
            Err(Error::protocol(format!("the metadata of a trace is larger than {} MiB", MAX_METADATA >> 20)))
        }
        1 => input.take(length as usize),
        2 => Ok(Vec::new()),
        status => Err(Error::protocol(format!("the relay refuses to send metadata (status {status})"))),
    }
}

/// What the relay says must be fetched first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Updates {
    pub metadata: bool,
    pub streams: bool,
}

impl Updates {
    fn of(flags: u32) -> Updates {
        Updates { metadata: flags & 1 != 0, streams: flags & 2 != 0 }
    }

    pub fn is_some(self) -> bool {
        self.metadata || self.streams
    }
}

/// Where a packet is at the relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketIndex {
    pub offset: u64,
    /// In bytes.
    pub length: u32,
    /// The clock's count when the packet was closed.
    pub end: u64,
}

/// The reply to [`Request::NextIndex`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexReply {
    Packet(PacketIndex),
    /// Nothing yet.
    Retry,
    /// Nothing was recorded up to this count of the clock.
    Inactive(u64),
    End,
}

/// The reply to [`Request::NextIndex`], and what must be fetched before its packet is decoded.
pub fn next_index(input: &mut impl Input) -> Result<(IndexReply, Updates), Error> {
    let (offset, packet_size) = (input.u64()?, input.u64()?);
    let (_content_size, _begin, end) = (input.u64()?, input.u64()?, input.u64()?);
    let (_discarded, _class) = (input.u64()?, input.u64()?);
    let (status, flags) = (input.u32()?, input.u32()?);
    let next = match status {
        1 => {
            let length = packet_size / 8;
            if length == 0 || length > MAX_PACKET {
                return Err(Error::protocol(format!("the relay announces a packet of {length} bytes")));
            }
            IndexReply::Packet(PacketIndex { offset, length: length as u32, end })
        }
        2 => IndexReply::Retry,
        5 => IndexReply::Inactive(end),
        3 | 6 => IndexReply::End,
        status => return Err(Error::protocol(format!("the relay cannot read its index (status {status})"))),
    };
    Ok((next, Updates::of(flags)))
}

/// The reply to [`Request::Packet`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PacketReply {
    Packet(Vec<u8>),
    /// Not yet, perhaps because something must be fetched first.
    Retry(Updates),
    /// The relay does not have it any more.
    Missing,
    End,
}

/// The reply to [`Request::Packet`] for this number of bytes, in memory that is used again.
pub fn packet(input: &mut impl Input, asked_for: u32, memory: Vec<u8>) -> Result<PacketReply, Error> {
    let (status, length, flags) = (input.u32()?, input.u32()?, input.u32()?);
    let updates = Updates::of(flags);
    match status {
        1 if length != asked_for => {
            Err(Error::protocol(format!("the relay gives {length} bytes of a packet instead of {asked_for}")))
        }
        1 => Ok(PacketReply::Packet(input.take_into(memory, length as usize)?)),
        2 => Ok(PacketReply::Retry(updates)),
        3 if updates.is_some() => Ok(PacketReply::Retry(updates)),
        3 => Ok(PacketReply::Missing),
        4 => Ok(PacketReply::End),
        status => Err(Error::protocol(format!("the relay answers with the unknown status {status}"))),
    }
}
