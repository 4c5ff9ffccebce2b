//! Traces and streams that take part in a merge.

use std::sync::Arc;

use super::ahead::Place;
use super::packet_source::{PacketSource, Storage};
use crate::decode::stream_plan::StreamPlan;
use crate::layout::Layout;
use crate::metadata::GrowingMetadata;
use crate::packets::LocatedPacket;
use crate::packets::continuity::Predecessors;

/// A trace whose packets are merged.
pub struct MergedTrace<'r> {
    pub source: Box<dyn PacketSource + 'r>,
    pub layout: Arc<Layout>,
    pub plans: Vec<Arc<StreamPlan>>,
    /// The metadata that the source has delivered.
    pub metadata: GrowingMetadata,
    /// The number of streams that are known.
    pub streams: usize,
    /// Events are in order among those of the same lane.
    pub lane: usize,
}

/// A packet that has arrived and is not open yet.
pub struct Next {
    pub storage: Storage,
    pub packet: LocatedPacket,
    /// Where its first events will be, if they are read ahead.
    pub place: Option<Arc<Place>>,
}

/// A stream whose packets are merged.
pub struct MergedStream {
    pub trace: usize,
    /// Its number in the trace's source.
    pub number: usize,
    /// The class of its last packet.
    pub class: usize,
    /// The next packet, if it has arrived.
    pub next: Option<Next>,
    /// The number of packets that have been opened so far.
    pub packets: u64,
    /// The number of packets that are open now.
    pub open: usize,
    /// The time up to which the stream is complete.
    pub watermark: i64,
    /// Whether it is among the floors.
    pub has_floor: bool,
    /// What its packets so far say about losses before the next.
    pub predecessors: Predecessors,
}

impl MergedStream {
    /// A stream of which nothing has been read, by the numbers of its trace and its own in the trace's source.
    pub fn new(trace: usize, number: usize) -> MergedStream {
        MergedStream {
            trace,
            number,
            class: 0,
            next: None,
            packets: 0,
            open: 0,
            watermark: i64::MIN,
            has_floor: false,
            predecessors: Predecessors::default(),
        }
    }
}
