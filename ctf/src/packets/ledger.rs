//! The packets of a trace, each once, and what their counters tell.
//!
//! Snapshots of one session overlap and repeat packets. A repeat has the same stream, sequence number, times and
//! sizes: the number alone does not identify a packet, as some tracers number two packets 0.
//!
//! `events_discarded` counts from the stream's beginning, so what was discarded before a packet is the difference to
//! the packet before it, and all of it if the packet is the stream's first. Where the first packets are missing, as in
//! a later chunk of a rotated trace, what was discarded in their time is not known and not counted. A gap in the
//! sequence numbers is a loss, but a beginning above 0 is not, for the same reason.

use super::LocatedPacket;

/// What the packets of a trace tell.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of streams.
    pub streams: usize,
    /// The number of packets in the window.
    pub packets: u64,
    /// How many events were discarded.
    pub discarded_events: u64,
    /// How many packets are missing.
    pub lost_packets: u64,
    /// Where events are missing, stream by stream.
    pub gaps: Vec<StreamGap>,
}

/// A time in which events of a stream are missing, in counts of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamGap {
    /// The index of the stream's class.
    pub stream: usize,
    pub since: u64,
    pub until: u64,
}

/// Puts packets into the order of their streams, drops those that are repeated, and works out the latest time of each.
pub fn arrange(packets: &mut Vec<LocatedPacket>) {
    packets.sort_by_key(|packet| {
        let header = &packet.header;
        (packet.stream(), header.sequence, header.begin, packet.is_incomplete(), packet.file, packet.offset)
    });
    packets.dedup_by(|later, earlier| later.is_repeat_of(earlier));
    for stream in packets.chunk_by_mut(|a, b| a.stream() == b.stream()) {
        let is_numbered = |pair: &[LocatedPacket]| pair[0].header.sequence < pair[1].header.sequence;
        if !stream.windows(2).all(is_numbered) {
            // Numbers that repeat do not tell the order, but times do.
            stream.sort_by_key(|packet| {
                (packet.header.begin, packet.header.sequence, packet.file, packet.offset)
            });
        }
        let mut next_begin = None;
        for packet in stream.iter_mut().rev() {
            // Some tracers close a packet before they have written its last events: these may be as late as the next
            // packet's beginning. A clock that was set back bounds nothing.
            packet.latest = match (packet.header.end, next_begin) {
                (Some(end), Some(next)) if !packet.header.is_stepped() => end.max(next),
                _ => u64::MAX,
            };
            next_begin = packet.header.begin;
        }
    }
}

impl LocatedPacket {
    fn is_repeat_of(&self, other: &LocatedPacket) -> bool {
        let (header, others) = (&self.header, &other.header);
        let same_size = || {
            let sizes = |packet: &LocatedPacket| {
                (packet.header.end, packet.header.content_size, packet.header.packet_size)
            };
            sizes(self) == sizes(other)
        };
        self.stream() == other.stream()
            && header.sequence.is_some()
            && (header.sequence, header.begin) == (others.sequence, others.begin)
            // One that was still open when the first snapshot was taken may be closed in the second.
            && (header.is_open || others.is_open || same_size())
    }

    /// Whether the tracer or the file left something of it out, so that another copy is better.
    fn is_incomplete(&self) -> bool {
        self.is_cut || self.header.is_open
    }
}

/// Counts what the packets of arranged streams tell of a time window. `in_window` says for a stream class's index and
/// two counts of its clock whether the time between them reaches into it.
pub fn count<'p>(
    streams: impl Iterator<Item = &'p [LocatedPacket]>,
    in_window: &dyn Fn(usize, u64, u64) -> bool,
) -> Counts {
    let mut counts = Counts::default();
    for stream in streams {
        counts.streams += 1;
        let mut before: Option<&LocatedPacket> = None;
        // The last one whose counter was written: an open packet has a number, but no counts.
        let mut closed: Option<&LocatedPacket> = None;
        for packet in stream {
            let header = &packet.header;
            let begin = header.begin.unwrap_or(0);
            let since = before.and_then(|before| before.header.end).unwrap_or(begin).min(begin);
            if in_window(header.stream, packet.earliest(), packet.latest) {
                counts.packets += 1;
            }
            let mut until = None;
            if in_window(header.stream, since, begin) {
                let lost = lost(before, packet);
                counts.lost_packets = counts.lost_packets.saturating_add(lost);
                until = (lost > 0).then_some(begin);
            }
            before = Some(packet);
            let end = header.end.unwrap_or(u64::MAX);
            if !header.is_open {
                if in_window(header.stream, since, end) {
                    let discarded = discarded(closed, packet);
                    counts.discarded_events = counts.discarded_events.saturating_add(discarded);
                    // A tracer that has no room says so in the next packet that it closes.
                    until = if discarded > 0 { Some(end) } else { until };
                }
                closed = Some(packet);
            }
            counts.gaps.extend(until.map(|until| StreamGap { stream: header.stream, since, until }));
        }
    }
    counts
}

fn lost(before: Option<&LocatedPacket>, packet: &LocatedPacket) -> u64 {
    let before = before.and_then(|before| before.header.sequence);
    match (before, packet.header.sequence) {
        (Some(before), Some(sequence)) => sequence.saturating_sub(before).saturating_sub(1),
        _ => 0,
    }
}

fn discarded(before: Option<&LocatedPacket>, packet: &LocatedPacket) -> u64 {
    let Some((count, bits)) = packet.header.discarded else { return 0 };
    match before.map(|before| before.header.discarded) {
        Some(Some((before, _))) => count.wrapping_sub(before) & (u64::MAX >> (64 - bits)),
        Some(None) => 0,
        None if packet.header.sequence.unwrap_or(0) == 0 => count,
        None => 0,
    }
}
