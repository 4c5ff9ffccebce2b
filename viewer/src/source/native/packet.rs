//! Packets: their headers, and whether these can be right.
//!
//! ```text
//! │ packet header │ packet context │ event │ event │ … │ padding │ next packet
//! │ magic, uuid,  │ times, sizes,  │                   │         │
//! │ stream_id, …  │ counters, …    │                   │         │
//! 0               └─ content ──────┘  … ── content_size┘         └ packet_size
//! ```
//!
//! All fields are optional. A tracer fills `timestamp_end` and the sizes when it closes a packet; before, the
//! end is 0 and the sizes are all ones.

use super::bits::{Bits, Fault};
use super::decode::{self, Slots};
use super::metadata::{Metadata, StreamClass, Type};
use crate::source::Value;

/// What each packet header begins with, where it has a magic number.
pub const MAGIC: u32 = 0xC1FC_1FC1;

/// What a packet's header and context say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketHeader {
    /// The class of the packet's stream, as an index into [`Metadata::streams`].
    pub stream: usize,
    /// Which of the streams of this class, where the header says it.
    pub instance: Option<u64>,
    /// The clock's count when the packet was begun; 0 where it is not known.
    pub begin: u64,
    /// The clock's count when the packet was closed, if it was.
    pub end: Option<u64>,
    /// Where the first event may begin, in bits.
    pub events_at: u64,
    /// Where the content ends, in bits, if the packet was closed and says it.
    pub content_size: Option<u64>,
    /// Where the packet ends, in bytes, if the packet was closed and says it.
    pub packet_size: Option<u64>,
    /// Whether the tracer left the packet open.
    pub is_open: bool,
    /// The packet's number in its stream.
    pub sequence: Option<u64>,
    /// How many events the stream had discarded when the packet was closed, and the counter's size in bits.
    pub discarded: Option<(u64, u32)>,
}

/// The fields of a packet context that describe the packet, not what was traced.
pub const OWN_FIELDS: [&str; 6] =
    ["timestamp_begin", "timestamp_end", "content_size", "packet_size", "packet_seq_num", "events_discarded"];

/// Why a packet's header cannot be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsound {
    /// The bytes end within it.
    Short,
    /// It contradicts the metadata or itself.
    Wrong(String),
}

impl PacketHeader {
    /// Decodes the header and the context that a packet begins with, and checks them.
    pub fn decode(metadata: &Metadata, bytes: &[u8], slots: &mut Slots) -> Result<PacketHeader, Unsound> {
        let no_packet = || Unsound::Wrong("no packet of this trace begins here".into());
        let mut bits = Bits::new(bytes, 0, usize::MAX);
        let mut stream_id = None;
        let mut instance = None;
        for (name, value) in members(metadata.packet_header.as_ref(), &mut bits, slots)? {
            match (name, &value) {
                ("magic", Value::Unsigned(magic)) if *magic != u64::from(MAGIC) => return Err(no_packet()),
                ("uuid", Value::List(uuid)) => {
                    let matches = |expected: &[u8; 16]| {
                        let bytes = expected.iter().map(|&byte| Value::Unsigned(byte.into()));
                        bytes.eq(uuid.iter().cloned())
                    };
                    if !metadata.uuid.as_ref().is_none_or(matches) {
                        return Err(no_packet());
                    }
                }
                ("stream_id", Value::Unsigned(id)) => stream_id = Some(*id),
                ("stream_instance_id", Value::Unsigned(id)) => instance = Some(*id),
                _ => {}
            }
        }
        let stream = match (stream_id, metadata.streams.as_slice()) {
            (None, [_]) => 0,
            (id, streams) => {
                let id = id.unwrap_or(0);
                let found = streams.binary_search_by_key(&id, |stream| stream.id);
                found.map_err(|_| Unsound::Wrong(format!("the metadata describes no stream {id}")))?
            }
        };
        let mut header = PacketHeader {
            stream,
            instance,
            begin: 0,
            end: None,
            events_at: 0,
            content_size: None,
            packet_size: None,
            is_open: false,
            sequence: None,
            discarded: None,
        };
        header.decode_context(&metadata.streams[stream], &mut bits, slots)?;
        header.events_at = bits.at() as u64;
        header.check()?;
        Ok(header)
    }

    fn decode_context<'a>(
        &mut self,
        stream: &'a StreamClass,
        bits: &mut Bits<'a>,
        slots: &mut Slots,
    ) -> Result<(), Unsound> {
        let context = stream.packet_context.as_ref();
        let mut sizes = [None, None];
        let kinds = context.map_or(&[][..], Type::members).iter().map(|member| &member.kind);
        for ((name, value), kind) in members(context, bits, slots)?.into_iter().zip(kinds) {
            let Value::Unsigned(value) = value else { continue };
            let size = if let Type::Integer(integer) = kind { integer.size } else { 64 };
            // All ones, in whatever size the field has, stand for a size that is not known yet.
            let closed = (value != u64::MAX >> (64 - size)).then_some(value);
            match name {
                "timestamp_begin" => self.begin = value,
                "timestamp_end" => self.end = (value != 0).then_some(value),
                "content_size" => sizes[0] = Some(closed),
                "packet_size" => sizes[1] = Some(closed),
                "packet_seq_num" => self.sequence = Some(value),
                "events_discarded" => self.discarded = Some((value, size)),
                _ => {}
            }
        }
        self.is_open = sizes.contains(&Some(None));
        self.content_size = sizes[0].flatten();
        if let Some(bits) = sizes[1].flatten() {
            if bits % 8 != 0 {
                return Err(Unsound::Wrong(CONTRADICTION.into()));
            }
            self.packet_size = Some(bits / 8);
        }
        // Where only one of the sizes is there, it stands for both.
        if self.content_size.is_none() && !self.is_open {
            self.content_size = self.packet_size.map(|bytes| bytes * 8);
        }
        Ok(())
    }

    /// Whether times and sizes can be right.
    fn check(&self) -> Result<(), Unsound> {
        if self.end.is_some_and(|end| end < self.begin) {
            return Err(Unsound::Wrong("the packet ends before it begins".into()));
        }
        let content = self.content_size.unwrap_or(self.events_at);
        let packet = self.packet_size.map_or(u64::MAX, |bytes| bytes * 8);
        if content < self.events_at || packet < content {
            return Err(Unsound::Wrong(CONTRADICTION.into()));
        }
        Ok(())
    }
}

const CONTRADICTION: &str = "the packet's sizes contradict each other";

/// Decodes the values of a packet's context, once its header has been found sound, and fills the slots that
/// events may refer to.
pub fn context<'a>(
    metadata: &'a Metadata,
    stream: &'a StreamClass,
    bytes: &'a [u8],
    slots: &mut Slots,
) -> Result<Vec<Value<'a>>, Unsound> {
    let mut bits = Bits::new(bytes, 0, usize::MAX);
    members(metadata.packet_header.as_ref(), &mut bits, slots)?;
    let values = members(stream.packet_context.as_ref(), &mut bits, slots)?;
    Ok(values.into_iter().map(|(_, value)| value).collect())
}

/// The members of a scope, by their names.
fn members<'a>(
    scope: Option<&'a Type>,
    bits: &mut Bits<'a>,
    slots: &mut Slots,
) -> Result<Vec<(&'a str, Value<'a>)>, Unsound> {
    let Some(scope) = scope else { return Ok(Vec::new()) };
    bits.align(scope.align()).map_err(|_| Unsound::Short)?;
    let members = scope.members().iter();
    let values = members.map(|member| Ok((member.name.as_str(), decode::value(&member.kind, bits, slots)?)));
    values.collect::<Result<_, Fault>>().map_err(|fault| match fault {
        Fault::Short => Unsound::Short,
        other => Unsound::Wrong(format!("the packet's header cannot be decoded ({other:?})")),
    })
}
