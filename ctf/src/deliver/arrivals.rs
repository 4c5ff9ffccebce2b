//! What the merge has not opened yet: the sources, their streams, and the next packet of each stream.
//!
//! Each stream that is not at its end has a *floor*, the earliest time that an event of what is not open yet can have: the
//! beginning of its next packet, or, while it has none, its *watermark*, the time up to which it is known to be complete.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::Arc;

use super::merged::{MergedStream, MergedTrace, Next};
use super::packet_source::{NextPacket, Packet, PacketSource};
use super::unordered::MAX_DAMAGE;
use crate::layout::{Layout, Want};
use crate::metadata::{GrowingMetadata, Growth, Problem};
use crate::packets::LocatedPacket;
use crate::packets::header::PacketHeader;
use crate::packets::pool::FilePool;
use crate::packets::scan;
use crate::{Damage, Gap, Report};

/// The most gaps that are kept until they are taken.
const MAX_GAPS: usize = 4096;

/// The number of packets of one stream that may be open at a time. Where more overlap, their events may come late.
const MAX_OPEN: usize = 8;

/// The earliest time of what a stream has not open yet, and the stream.
pub type Floor = (i64, usize);

/// The sources of a merge, and what they have next.
pub struct Arrivals<'r> {
    pub traces: Vec<MergedTrace<'r>>,
    pub streams: Vec<MergedStream>,
    pub files: FilePool,
    /// What was found other than the events.
    pub report: Report,
    /// Where events are missing, until that is taken.
    pub gaps: Vec<Gap>,
    /// The number of streams that are not at their end.
    pub lasting: usize,
    want: Box<Want<'r>>,
    /// The number that the next new event class gets.
    next_class: usize,
    /// For each lane, the floors of its streams.
    floors: Vec<BinaryHeap<Reverse<Floor>>>,
    /// The streams that the merge does not wait for, until they have more.
    away: Vec<usize>,
}

/// What a stream was found to have next.
#[derive(PartialEq, Eq)]
enum Advance {
    Packet,
    Quiet,
    Away,
    End,
}

impl<'r> Arrivals<'r> {
    /// No sources yet.
    pub fn new(want: Box<Want<'r>>, report: Report) -> Arrivals<'r> {
        Arrivals {
            traces: Vec::new(),
            streams: Vec::new(),
            files: FilePool::default(),
            report,
            gaps: Vec::new(),
            lasting: 0,
            want,
            next_class: 0,
            floors: vec![BinaryHeap::new()],
            away: Vec::new(),
        }
    }

    /// Adds a trace to a lane, which the report has already; its layout may come with its metadata.
    pub fn add(&mut self, lane: usize, source: Box<dyn PacketSource + 'r>, layout: Arc<Layout>) {
        if self.floors.len() <= lane {
            self.floors.resize_with(lane + 1, BinaryHeap::new);
        }
        let plans = layout.plans(&mut *self.want);
        self.traces.push(MergedTrace {
            source,
            layout,
            plans,
            metadata: GrowingMetadata::default(),
            streams: 0,
            lane,
        });
        self.refresh(self.traces.len() - 1);
    }

    /// The lowest floor of a lane.
    pub fn floor(&self, lane: usize) -> Option<Floor> {
        self.floors[lane].peek().map(|Reverse(floor)| *floor)
    }

    /// Takes the lowest floor of a lane away: its stream gets another one when it has been asked what it has next.
    pub fn pop_floor(&mut self, lane: usize) {
        if let Some(Reverse((_, stream))) = self.floors[lane].pop() {
            self.streams[stream].has_floor = false;
        }
    }

    /// Whether no source will have more streams.
    pub fn is_complete(&self) -> bool {
        self.traces.iter().all(|trace| trace.source.is_complete() && !trace.metadata.is_waiting())
    }

    /// Asks all sources for metadata and streams, and streams that are away for packets.
    pub fn look_for_more(&mut self) {
        (0..self.traces.len()).for_each(|trace| self.refresh(trace));
        for stream in std::mem::take(&mut self.away) {
            self.advance(stream);
        }
    }

    /// Asks a stream that had nothing again. Returns whether it has made progress.
    pub fn ask_again(&mut self, stream: usize) -> bool {
        let before = self.streams[stream].watermark;
        self.refresh(self.streams[stream].trace);
        self.advance(stream) != Advance::Quiet || self.streams[stream].watermark > before
    }

    /// Looks for a stream's next packet.
    pub fn find_next(&mut self, stream: usize) {
        self.advance(stream);
    }

    /// Gives a stream that has a next packet a floor, so that the merge opens it in time.
    pub fn give_floor(&mut self, stream: usize) {
        let MergedStream { trace, next, open, .. } = &self.streams[stream];
        let Some(Next { packet, .. }) = next else { return };
        // A packet that does not say when it begins follows the others of its stream. So do those beyond the limit.
        let must_follow = *open >= MAX_OPEN || (packet.header.begin.is_none() && *open > 0);
        if !must_follow {
            let timebase = &self.traces[*trace].layout.timebases[packet.header.stream];
            self.push_floor(stream, timebase.time(packet.earliest()));
        }
    }

    /// Reports damage, unless there is too much of it to list.
    pub fn damaged(&mut self, damage: Damage) {
        if self.report.damage.len() < MAX_DAMAGE {
            self.report.damage.push(damage);
        }
    }

    fn failed(&mut self, trace: usize, error: &io::Error) {
        let folder = self.report.traces[trace].folders.first().cloned().unwrap_or_default();
        self.damaged(Damage::io(&folder, "read", error));
    }

    /// Asks a source for new metadata and streams.
    fn refresh(&mut self, number: usize) {
        self.refresh_metadata(number);
        let streams = match self.traces[number].source.streams() {
            Ok(streams) => streams,
            Err(error) => return self.failed(number, &error),
        };
        for stream in self.traces[number].streams..streams {
            self.traces[number].streams += 1;
            self.lasting += 1;
            self.streams.push(MergedStream::new(number, stream));
            self.advance(self.streams.len() - 1);
        }
        let known = &mut self.report.traces[number];
        known.streams = known.streams.max(streams);
    }

    /// Reads what a trace's metadata has grown by. Classes that are known keep their numbers.
    fn refresh_metadata(&mut self, number: usize) {
        let MergedTrace { source, metadata, layout, plans, .. } = &mut self.traces[number];
        let bytes = match source.metadata() {
            Ok(bytes) => bytes,
            Err(error) => return self.failed(number, &error),
        };
        let is_last = source.is_complete();
        if bytes.is_empty() && !(metadata.is_waiting() && is_last) {
            return;
        }
        let known = Arc::get_mut(layout);
        match (metadata.grow(&bytes, is_last, known.map(|layout| &mut layout.metadata)), Arc::get_mut(layout))
        {
            (Growth::Events, Some(layout)) => {
                layout.extend(number, &mut self.next_class, plans, &mut *self.want)
            }
            // Events are only added to a layout that nobody else has.
            (Growth::Events, None) => {}
            (Growth::All(metadata), _) => {
                *layout = Arc::new(Layout::new(metadata, number, layout, &mut self.next_class));
                self.report.traces[number].environment = layout.environment().collect();
                *plans = layout.plans(&mut *self.want);
            }
        }
        let problems: Vec<String> = metadata.new_problems().iter().map(Problem::to_string).collect();
        problems.into_iter().for_each(|problem| self.damaged_metadata(number, problem));
    }

    /// Reports metadata that cannot be used.
    fn damaged_metadata(&mut self, number: usize, reason: String) {
        let folder = self.report.traces[number].folders.first().cloned().unwrap_or_default();
        self.damaged(Damage::new(&folder.join("metadata"), reason));
    }

    /// What was found other than the events, if no more metadata comes.
    pub fn report(&self) -> Report {
        let mut report = self.report.clone();
        for (trace, known) in self.traces.iter().zip(&self.report.traces) {
            if let Some(problem) = trace.metadata.unfinished().filter(|_| trace.source.is_complete()) {
                let folder = known.folders.first().cloned().unwrap_or_default();
                report.damage.push(Damage::new(&folder.join("metadata"), problem.to_string()));
            }
        }
        report
    }

    /// Finds out what a stream has next, and gives it a floor unless it is at its end.
    fn advance(&mut self, stream: usize) -> Advance {
        let MergedStream { trace, number, .. } = self.streams[stream];
        loop {
            match self.traces[trace].source.next_packet(number) {
                Ok(NextPacket::Packet(packet)) => match self.locate(trace, packet) {
                    Ok((next, is_new)) => {
                        if is_new {
                            self.count_losses(stream, &next.packet);
                        }
                        self.streams[stream].class = next.packet.header.stream;
                        self.streams[stream].next = Some(next);
                        self.give_floor(stream);
                        return Advance::Packet;
                    }
                    Err(damage) => self.damaged(damage),
                },
                Ok(NextPacket::Quiet(until)) => {
                    let timebase = self.traces[trace].layout.timebases.get(self.streams[stream].class);
                    let until = until.zip(timebase).map(|(count, timebase)| timebase.time(count));
                    let entry = &mut self.streams[stream];
                    entry.watermark = entry.watermark.max(until.unwrap_or(i64::MIN));
                    let watermark = entry.watermark;
                    self.push_floor(stream, watermark);
                    return Advance::Quiet;
                }
                Ok(NextPacket::Away) => {
                    self.away.push(stream);
                    return Advance::Away;
                }
                Ok(NextPacket::End) => break,
                Err(error) => {
                    self.failed(trace, &error);
                    break;
                }
            }
        }
        self.lasting -= 1;
        Advance::End
    }

    fn push_floor(&mut self, stream: usize, time: i64) {
        if !std::mem::replace(&mut self.streams[stream].has_floor, true) {
            let lane = self.traces[self.streams[stream].trace].lane;
            self.floors[lane].push(Reverse((time, stream)));
        }
    }

    /// Counts what is missing before a packet that was not known from the start.
    fn count_losses(&mut self, stream: usize, packet: &LocatedPacket) {
        let MergedStream { trace, predecessors, .. } = &mut self.streams[stream];
        let gap = predecessors.next(&packet.header);
        self.report.traces[*trace].packets += 1;
        self.report.lost_packets = self.report.lost_packets.saturating_add(gap.lost_packets);
        self.report.discarded_events = self.report.discarded_events.saturating_add(gap.discarded_events);
        let PacketHeader { stream: class, begin, end, .. } = packet.header;
        let until = match gap.discarded_events {
            0 => begin.filter(|_| gap.lost_packets > 0),
            _ => end,
        };
        if let Some(until) = until.filter(|_| self.gaps.len() < MAX_GAPS) {
            let timebase = &self.traces[*trace].layout.timebases[class];
            let (since, until) = (timebase.time(gap.since), timebase.time(until));
            self.gaps.push(Gap { trace: *trace, since, until });
        }
    }

    /// A packet with its header, which is decoded if it is not known, and whether it was.
    fn locate(&mut self, trace: usize, packet: Packet) -> Result<(Next, bool), Damage> {
        let Packet { storage, offset, length, located } = packet;
        let is_new = located.is_none();
        let packet = match located {
            Some(packet) => *packet,
            None => {
                // It may be the first packet to need what metadata has grown by.
                self.refresh_metadata(trace);
                let metadata = &self.traces[trace].layout.metadata;
                let header = storage
                    .open(&mut self.files)
                    .and_then(|bytes| scan::read_header(metadata, &bytes, offset))
                    .map_err(|error| storage.unreadable(offset, &error))?
                    .map_err(|reason| storage.damage(offset, reason))?;
                let is_cut = header.packet_size.is_some_and(|size| size > length);
                LocatedPacket::new(0, offset, length, header, is_cut)
            }
        };
        Ok((Next { storage, packet, place: None }, is_new))
    }
}
