#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod brief;
mod class;
mod collect;
mod decode;
mod deliver;
mod discover;
mod error;
mod events;
mod field;
mod layout;
mod metadata;
mod open_trace;
mod packet_info;
mod packets;
mod reader;
mod report;
mod sample;
mod uuid;
mod value;

pub use class::{Base, ClassIndex, EventClass, FieldClass, FieldClasses, FieldKind, Scope};
pub use collect::{Collect, Collected, Nothing};
pub use deliver::ahead::Helper;
pub use deliver::digest::{Digest, DigestedEvent, DigestedRun, Digester};
pub use deliver::ordered::InOrder;
pub use deliver::ordered_event::OrderedEvent;
pub use deliver::packet_source::{NextPacket, Packet, PacketSource};
pub use deliver::step::{Pause, Step};
pub use deliver::unordered::MAX_DAMAGE;
pub use discover::{Discovery, TraceFiles, discover, stream_files};
pub use error::{Damage, Error, ErrorKind};
pub use events::{Decoded, Event, Events, Selected};
pub use field::{Field, FieldType, Wanted, all_fields};
pub use packet_info::PacketInfo;
pub use packets::notes::NotedEvents;
pub use reader::Reader;
pub use report::{ClockSteps, Gap, Progress, Report, Trace, Window};
pub use sample::Sample;
pub use uuid::Uuid;
pub use value::{Enumeration, Integer, List, Value};

/// For the viewer, which looks values up by their bytes. Not part of the interface.
#[doc(hidden)]
pub use brief::Brief;
