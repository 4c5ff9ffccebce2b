//! Packets: their headers, and whether these can be right.
//!
//! ```text
//! │ packet header │ packet context │ event │ event │ … │ padding │ next packet
//! │ magic, uuid,  │ times, sizes,  │                   │         │
//! │ ids, …        │ counters, …    │                   │         │
//! 0               └─ content ──────┘  … ── content_size┘         └ packet_size
//! ```
//!
//! All fields are optional, and known by their [roles](Role). A tracer fills the end and the sizes when it closes a
//! packet; before, the end is 0 and the sizes are all ones.

use crate::Value;
use crate::decode::bits::{Bits, Fault};
use crate::decode::general::{self, Slots};
use crate::decode::roles::{RoleField, visit};
use crate::metadata::{Metadata, Role, StreamClass, Type};

/// What each packet header begins with, where it has a magic number.
pub const MAGIC: u32 = 0xC1FC_1FC1;

/// What a packet's header and context say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketHeader {
    /// The class of the packet's stream, as an index into [`Metadata::streams`].
    pub stream: usize,
    /// Which of the streams of this class, where the header says it.
    pub instance: Option<u64>,
    /// The clock's count when the packet was begun, where the header says it.
    pub begin: Option<u64>,
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
    /// The number of events that the stream had discarded when the packet was closed, and the counter's size in bits.
    pub discarded: Option<(u64, u32)>,
}

/// Whether a field of a packet context describes the packet, not what was traced.
pub fn describes_packet(kind: &Type) -> bool {
    kind.roles().iter().any(|role| {
        use Role::*;
        matches!(role, Timestamp | PacketEnd | ContentSize | PacketSize | Sequence | Discarded)
    })
}

/// Why a packet's header cannot be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// The bytes end within it.
    Short,
    /// It contradicts the metadata or itself.
    Wrong(String),
}

impl PacketHeader {
    /// Decodes the header and the context that a packet begins with, and checks them.
    pub fn decode(metadata: &Metadata, bytes: &[u8], slots: &mut Slots) -> Result<PacketHeader, HeaderError> {
        let mut bits = Bits::new(bytes, 0, usize::MAX);
        let mut is_packet = true;
        let mut is_of_trace = true;
        let mut stream_id = None;
        let mut instance = None;
        visit_scope(metadata.packet_header.as_ref(), &mut bits, slots, |field| match field {
            RoleField::Uuid(uuid) => is_of_trace &= metadata.uuid.is_none_or(|expected| *uuid == expected.0),
            RoleField::Number { roles, value, .. } => {
                for role in roles {
                    match role {
                        Role::Magic => is_packet &= value == u64::from(MAGIC),
                        Role::StreamClassId => stream_id = Some(value),
                        Role::StreamId => instance = Some(value),
                        _ => {}
                    }
                }
            }
        })?;
        if !is_packet {
            return Err(HeaderError::Wrong("no packet begins here: its magic number is missing".into()));
        }
        if !is_of_trace {
            return Err(HeaderError::Wrong("the packet's UUID is not that of the metadata".into()));
        }
        let stream = match (stream_id, metadata.streams.as_slice()) {
            (None, [_]) => 0,
            (id, streams) => {
                let id = id.unwrap_or(0);
                let found = streams.binary_search_by_key(&id, |stream| stream.id);
                found.map_err(|_| HeaderError::Wrong(format!("the metadata describes no stream {id}")))?
            }
        };
        let mut header = PacketHeader {
            stream,
            instance,
            begin: None,
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
    ) -> Result<(), HeaderError> {
        let mut sizes = [None, None];
        visit_scope(stream.packet_context.as_ref(), bits, slots, |field| {
            let RoleField::Number { roles, value, size, is_fixed } = field else { return };
            let size = if is_fixed { size } else { 64 };
            // All ones, in the field's size, mean a size that is not known yet.
            let closed = (value != u64::MAX >> (64 - size)).then_some(value);
            for role in roles {
                match role {
                    Role::Timestamp => self.begin = Some(value),
                    Role::PacketEnd => self.end = (value != 0).then_some(value),
                    Role::ContentSize => sizes[0] = Some(closed),
                    Role::PacketSize => sizes[1] = Some(closed),
                    Role::Sequence => self.sequence = Some(value),
                    Role::Discarded => self.discarded = Some((value, size)),
                    _ => {}
                }
            }
        })?;
        self.is_open = sizes.contains(&Some(None));
        self.content_size = sizes[0].flatten();
        if let Some(bits) = sizes[1].flatten() {
            if bits % 8 != 0 {
                return Err(HeaderError::Wrong(CONTRADICTION.into()));
            }
            self.packet_size = Some(bits / 8);
        }
        // A packet with only one of the sizes uses it for both.
        if self.content_size.is_none() && !self.is_open {
            self.content_size = self.packet_size.map(|bytes| bytes * 8);
        }
        Ok(())
    }

    /// Whether the clock was set back between the packet's beginning and its end.
    pub fn is_stepped(&self) -> bool {
        self.begin.zip(self.end).is_some_and(|(begin, end)| end < begin)
    }

    /// Whether the sizes can be right.
    fn check(&self) -> Result<(), HeaderError> {
        let content = self.content_size.unwrap_or(self.events_at);
        let packet = self.packet_size.map_or(u64::MAX, |bytes| bytes * 8);
        if content < self.events_at || packet < content {
            return Err(HeaderError::Wrong(CONTRADICTION.into()));
        }
        Ok(())
    }
}

const CONTRADICTION: &str = "the packet's sizes contradict each other";

/// Decodes the values of a packet's context, after its header has been checked, and fills the slots that
/// events may refer to.
pub fn context<'a>(
    metadata: &'a Metadata,
    stream: &'a StreamClass,
    bytes: &'a [u8],
    slots: &mut Slots,
) -> Result<Vec<Value<'a>>, HeaderError> {
    let mut bits = Bits::new(bytes, 0, usize::MAX);
    visit_scope(metadata.packet_header.as_ref(), &mut bits, slots, |_| {})?;
    let Some(context) = &stream.packet_context else { return Ok(Vec::new()) };
    bits.align(context.align()).map_err(|_| HeaderError::Short)?;
    let members = context.members().iter();
    let values = members.map(|member| general::value(&member.kind, &mut bits, slots));
    values.collect::<Result<_, Fault>>().map_err(HeaderError::from)
}

/// Visits the fields of a scope that have a role.
fn visit_scope<'t>(
    scope: Option<&'t Type>,
    bits: &mut Bits<'_>,
    slots: &mut Slots,
    mut found: impl FnMut(RoleField<'t>),
) -> Result<(), HeaderError> {
    scope.map_or(Ok(()), |scope| visit(scope, bits, slots, &mut found)).map_err(HeaderError::from)
}

impl From<Fault> for HeaderError {
    fn from(fault: Fault) -> HeaderError {
        match fault {
            Fault::Short => HeaderError::Short,
            other => HeaderError::Wrong(format!("the packet's header cannot be decoded ({other:?})")),
        }
    }
}
