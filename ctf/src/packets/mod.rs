//! Where packets are: in which files, at which offsets, and which of them count.
//!
//! ```text
//! files or memory ──bytes──> scan ──header──> packets ──continuity──> each once, with what was lost between them
//!                             └ index: hints where to continue after damage
//! ```

pub mod bytes;
pub mod continuity;
pub mod header;
pub mod index;
mod located_packet;
pub mod marks;
pub mod notes;
pub mod pool;
pub mod scan;
mod trace_packets;

pub use located_packet::LocatedPacket;
pub use trace_packets::TracePackets;
