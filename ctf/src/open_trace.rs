//! A trace, opened: its metadata is understood and its packets are found.

use std::path::PathBuf;
use std::sync::Arc;

use crate::layout::Layout;
use crate::packets::{LocatedPacket, TracePackets, continuity};
use crate::{Gap, Report, Trace, Window};

/// A trace, its layout and its packets.
#[derive(Debug)]
pub struct OpenTrace {
    pub folders: Vec<PathBuf>,
    pub layout: Arc<Layout>,
    pub packets: TracePackets,
}

impl OpenTrace {
    /// Whether a packet may have events in the window.
    pub fn is_in_window(&self, packet: &LocatedPacket, window: Window) -> bool {
        !packet.is_skipped
            && self.layout.is_in_window(window, packet.header.stream, packet.earliest(), packet.latest)
    }

    /// For each stream, the times between which its first event is, and its last one; `None` if headers do not say it.
    pub fn ends(&self) -> impl Iterator<Item = Option<[[i64; 2]; 2]>> {
        self.packets.ends().map(|[first, last]| {
            let timebase = &self.layout.timebases[first.header.stream];
            let times = |packet: &LocatedPacket| Some(packet.bounds()?.map(|count| timebase.time(count)));
            Some([times(first)?, times(last)?])
        })
    }

    /// Adds what is known of the trace before any event is read to a report.
    pub fn add_to(&self, window: Window, report: &mut Report) {
        let in_window = |stream, from, to| self.layout.is_in_window(window, stream, from, to);
        let counts = continuity::count(self.packets.streams(), &in_window);
        report.discarded_events = report.discarded_events.saturating_add(counts.discarded_events);
        report.lost_packets = report.lost_packets.saturating_add(counts.lost_packets);
        report.damage.extend_from_slice(&self.packets.damage);
        for stream in self.packets.streams() {
            stream.iter().for_each(|packet| self.add_step(packet, packet.header.end, report));
            stream.windows(2).for_each(|pair| self.add_step(&pair[0], pair[1].header.begin, report));
        }
        report.traces.push(Trace {
            uuid: self.layout.metadata.uuid,
            folders: self.folders.clone(),
            environment: self.layout.environment().collect(),
            clock: self.layout.metadata.streams.iter().find_map(|stream| stream.clock.as_ref()?.uuid),
            streams: counts.streams,
            packets: counts.packets,
        });
    }

    /// Where events of the trace, which has this number, are missing in the window.
    pub fn gaps(&self, trace: usize, window: Window) -> impl Iterator<Item = Gap> {
        let in_window = |stream, from, to| self.layout.is_in_window(window, stream, from, to);
        let gaps = continuity::count(self.packets.streams(), &in_window).gaps;
        gaps.into_iter().map(move |gap| {
            let timebase = &self.layout.timebases[gap.stream];
            Gap { trace, since: timebase.time(gap.since), until: timebase.time(gap.until) }
        })
    }

    /// The times that packets cover; a packet that has no end covers all after it.
    pub fn covered(&self) -> impl Iterator<Item = (i64, i64)> {
        self.packets.streams().flatten().filter_map(|packet| {
            let timebase = &self.layout.timebases[packet.header.stream];
            let end = packet.header.end.map_or(i64::MAX, |end| timebase.time(end));
            Some((timebase.time(packet.header.begin?), end))
        })
    }

    /// Notes if the clock ran backwards from a packet's beginning to something later.
    fn add_step(&self, packet: &LocatedPacket, later: Option<u64>, report: &mut Report) {
        let timebase = &self.layout.timebases[packet.header.stream];
        match (packet.header.begin, later) {
            (Some(begin), Some(later)) if later < begin => {
                report.clock_steps.step(timebase.time(begin), timebase.time(later));
            }
            _ => {}
        }
    }
}
