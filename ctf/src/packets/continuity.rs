//! The packets of a trace, each once, and what their counters say.
//!
//! Snapshots of one session overlap and repeat packets. A repeat has the same stream, sequence number, times and
//! sizes: the number alone does not identify a packet, as some tracers number two packets 0.
//!
//! `events_discarded` counts from the stream's beginning, so what was discarded before a packet is the difference to
//! the highest count before it, and all of it if the packet is the stream's first. Some packets have a lower count: under
//! overload LTTng writes 0 into some. A count that is ahead by less than half of the counter's range is one that wrapped
//! around; any other lower count says nothing. Where the first packets are missing, as in
//! a later chunk of a rotated trace, what was discarded in their time is not known and not counted. A gap in the
//! sequence numbers is a loss, but a beginning above 0 is not, for the same reason.

use super::LocatedPacket;
use super::header::PacketHeader;

/// What the packets of a trace add up to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of streams.
    pub streams: usize,
    /// The number of packets in the window.
    pub packets: u64,
    /// The number of events that were discarded.
    pub discarded_events: u64,
    /// The number of packets that are missing.
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
            // Numbers that repeat do not give the order, but times do.
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

/// What the packets of a stream so far say about losses before the next one. They are given in their order.
#[derive(Clone, Debug, Default)]
pub struct Predecessors {
    /// The end and the number of the packet before.
    before: Option<(Option<u64>, Option<u64>)>,
    /// The highest count of those that were closed: an open packet has a number, but no counts.
    discarded: Option<u64>,
}

/// What is missing between a packet and those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketGap {
    /// The clock's count at which the gap begins: the end of the packet before.
    pub since: u64,
    /// The number of packets that are missing.
    pub lost_packets: u64,
    /// The number of events that were discarded; 0 for a packet that was not closed.
    pub discarded_events: u64,
}

impl Predecessors {
    /// Adds the next packet of the stream, and returns what is missing before it.
    pub fn next(&mut self, header: &PacketHeader) -> PacketGap {
        let begin = header.begin.unwrap_or(0);
        let since = self.before.and_then(|(end, _)| end).unwrap_or(begin).min(begin);
        let lost_packets = match (self.before.and_then(|(_, sequence)| sequence), header.sequence) {
            (Some(before), Some(sequence)) => sequence.saturating_sub(before).saturating_sub(1),
            _ => 0,
        };
        self.before = Some((header.end, header.sequence));
        let discarded_events = if header.is_open { 0 } else { self.discarded(header) };
        PacketGap { since, lost_packets, discarded_events }
    }

    /// The number of events that were discarded before a packet that was closed.
    fn discarded(&mut self, header: &PacketHeader) -> u64 {
        let Some((count, bits)) = header.discarded else { return 0 };
        let Some(highest) = self.discarded.replace(count) else {
            return if header.sequence.unwrap_or(0) == 0 { count } else { 0 };
        };
        let range = u64::MAX >> (64 - bits);
        let ahead = count.wrapping_sub(highest) & range;
        if count >= highest || (count != 0 && ahead <= range / 2) {
            return ahead;
        }
        self.discarded = Some(highest);
        0
    }
}

/// Sums up the packets of arranged streams in a time window. `in_window` says for a stream class's index and
/// two counts of its clock whether the time between them reaches into it.
pub fn count<'p>(
    streams: impl Iterator<Item = &'p [LocatedPacket]>,
    in_window: &dyn Fn(usize, u64, u64) -> bool,
) -> Counts {
    let mut counts = Counts::default();
    for stream in streams {
        counts.streams += 1;
        let mut predecessors = Predecessors::default();
        for packet in stream {
            let header = &packet.header;
            let gap = predecessors.next(header);
            if packet.is_skipped {
                continue;
            }
            if in_window(header.stream, packet.earliest(), packet.latest) {
                counts.packets += 1;
            }
            let (begin, end) = (header.begin.unwrap_or(0), header.end.unwrap_or(u64::MAX));
            let mut until = None;
            if in_window(header.stream, gap.since, begin) {
                counts.lost_packets = counts.lost_packets.saturating_add(gap.lost_packets);
                until = (gap.lost_packets > 0).then_some(begin);
            }
            if gap.discarded_events > 0 && in_window(header.stream, gap.since, end) {
                counts.discarded_events = counts.discarded_events.saturating_add(gap.discarded_events);
                // A tracer without room for an event counts it in the next packet that it closes.
                until = Some(end);
            }
            let since = gap.since;
            counts.gaps.extend(until.map(|until| StreamGap { stream: header.stream, since, until }));
        }
    }
    counts
}
