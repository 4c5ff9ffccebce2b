//! The packets of a trace, each once, and what their counters tell.
//!
//! Snapshots of one session overlap and repeat packets: one is known by its stream and its number there.
//! `events_discarded` counts from the stream's beginning, so what was discarded before a packet is the
//! difference to the packet before it, and all of it if the packet is the stream's first. Where the first
//! packets are missing, as in a later chunk of a rotated trace, what was discarded in their time is not known
//! and not counted. A gap in the numbers is a loss, but a beginning above 0 is not, for the same reason.

use std::ops::RangeInclusive;

use super::scan::Packet;

/// A packet with the file that it is in.
#[derive(Clone, Debug)]
pub struct Filed {
    /// The number of the file, within the trace.
    pub file: usize,
    /// The packet.
    pub packet: Packet,
}

/// What the packets of a trace tell.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How many streams there are.
    pub streams: usize,
    /// How many events were discarded.
    pub discarded_events: u64,
    /// How many packets are missing.
    pub lost_packets: u64,
}

impl Filed {
    /// The stream: packets without an instance number belong to their file's stream.
    fn stream(&self) -> (usize, Result<u64, usize>) {
        (self.packet.header.stream, self.packet.header.instance.ok_or(self.file))
    }

    fn is_repeat_of(&self, other: &Filed) -> bool {
        let (header, others) = (&self.packet.header, &other.packet.header);
        self.stream() == other.stream() && header.sequence.is_some() && header.sequence == others.sequence
    }

    /// Whether the tracer or the file left something of it out, so that another copy is better.
    fn is_incomplete(&self) -> bool {
        self.packet.is_cut || self.packet.header.is_open
    }
}

/// Puts packets into the order of their streams, drops those that are repeated, and counts what was lost in
/// the time window. `in_window` says for a stream class's index and two counts whether it reaches into it.
pub fn settle(packets: &mut Vec<Filed>, in_window: &dyn Fn(usize, RangeInclusive<u64>) -> bool) -> Counts {
    packets.sort_by_key(|filed| {
        let header = &filed.packet.header;
        (
            filed.stream(),
            header.sequence,
            header.begin,
            filed.is_incomplete(),
            filed.file,
            filed.packet.offset,
        )
    });
    packets.dedup_by(|later, earlier| later.is_repeat_of(earlier));
    let mut counts = Counts::default();
    for stream in packets.chunk_by(|a, b| a.stream() == b.stream()) {
        counts.streams += 1;
        let mut before: Option<&Filed> = None;
        // The last one whose counter was written: an open packet has a number, but no counts.
        let mut closed: Option<&Filed> = None;
        for filed in stream {
            let header = &filed.packet.header;
            let since = before.and_then(|before| before.packet.header.end).unwrap_or(header.begin);
            if in_window(header.stream, since..=header.begin) {
                counts.lost_packets = counts.lost_packets.saturating_add(lost(before, filed));
            }
            before = Some(filed);
            if header.is_open {
                continue;
            }
            if in_window(header.stream, since..=header.end.unwrap_or(u64::MAX)) {
                counts.discarded_events = counts.discarded_events.saturating_add(discarded(closed, filed));
            }
            closed = Some(filed);
        }
    }
    counts
}

/// Keeps of each stream the first and the last packet that have events.
pub fn keep_ends(packets: &mut Vec<Filed>) {
    packets.retain(|filed| {
        let header = &filed.packet.header;
        header.content_size.is_none_or(|size| size > header.events_at)
    });
    let ends = packets.chunk_by(|a, b| a.stream() == b.stream()).flat_map(|stream| {
        let last = if stream.len() > 1 { stream.last() } else { None };
        stream.first().into_iter().chain(last)
    });
    *packets = ends.cloned().collect();
}

fn lost(before: Option<&Filed>, filed: &Filed) -> u64 {
    let before = before.and_then(|before| before.packet.header.sequence);
    match (before, filed.packet.header.sequence) {
        (Some(before), Some(sequence)) => sequence.saturating_sub(before).saturating_sub(1),
        _ => 0,
    }
}

fn discarded(before: Option<&Filed>, filed: &Filed) -> u64 {
    let Some((count, bits)) = filed.packet.header.discarded else { return 0 };
    match before.map(|before| before.packet.header.discarded) {
        Some(Some((before, _))) => count.wrapping_sub(before) & (u64::MAX >> (64 - bits)),
        Some(None) => 0,
        None if filed.packet.header.sequence.unwrap_or(0) == 0 => count,
        None => 0,
    }
}
