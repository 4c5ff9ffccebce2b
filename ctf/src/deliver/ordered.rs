//! Packets to events in the order of time: a k-way merge over packets.
//!
//! Within a packet events are in order. A packet is opened when the merge reaches the earliest time that its header
//! allows, its *floor*, and then gives its next event to the merge for as long as it has any:
//!
//! ```text
//!              stream 0   │ packet ──────────│   │ packet ───────│      │ packet (not open) …
//!              stream 1      │ packet ───────────────│  │ packet (not open) …
//!                                     ^ the merge: the earliest of all next events, unless a floor is earlier
//! ```
//!
//! So packets of one stream may overlap, as they do where a tracer closed one before it had written its last events or
//! where a clock was set back between them, and memory is bounded by the packets that are open at a time. A stream
//! that has nothing yet, as over a network, holds events back that are later than its *watermark*, the time up to which
//! it is known to be complete. One that is *away* holds nothing back.
//!
//! Events of the same time come in the order of their streams, and then of their packets and positions in them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::active_packet::ActivePacket;
use super::open_packet::{OpenPacket, PART};
use super::ordered_event::OrderedEvent;
use super::packet_source::{NextPacket, Packet, PacketSource, Storage};
use super::unordered::MAX_DAMAGE;
use crate::decode::stream_plan::StreamPlan;
use crate::decode::tally::Tally;
use crate::layout::{Layout, Want};
use crate::metadata;
use crate::packets::LocatedPacket;
use crate::packets::header::PacketHeader;
use crate::packets::ledger::Predecessors;
use crate::packets::pool::FilePool;
use crate::packets::scan;
use crate::{Damage, EventClass, Gap, Progress, Report, Trace, Window};

/// The parts of all open packets together take about this much memory, unless there are very many streams.
const MEMORY: usize = 2 << 20;

/// A part is not smaller than this.
const SMALLEST_PART: usize = 8 << 10;

/// How many bytes of a part there are for each event that is located ahead: about as many as locating it takes in memory.
const BYTES_AN_EVENT: usize = 256;

/// How many gaps are remembered until somebody asks for them.
const MAX_GAPS: usize = 4096;

/// How many packets of one stream may be open at a time. Where more overlap, their events may come late.
const MAX_OPEN: usize = 8;

/// Events in the order of time; [`Reader::in_order`](crate::Reader::in_order) makes one.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use ctf_reader::{Window, all_fields};
///
/// let reader = example();
/// let mut events = reader.in_order(Window::default(), all_fields);
/// let mut times = Vec::new();
/// while let Some(event) = events.next_event() {
///     times.push((event.timestamp(), event.stream()));
/// }
/// assert_eq!(times, [(10, 0), (20, 1), (30, 0)]);
/// assert_eq!(events.report().events, 3);
/// ```
pub struct InOrder<'r> {
    traces: Vec<MergedTrace<'r>>,
    streams: Vec<MergedStream>,
    want: Box<Want<'r>>,
    limits: RangeInclusive<i64>,
    /// The number that the next new event class gets.
    next_class: usize,
    files: FilePool,
    /// Packets that are open, and in free slots those that were, whose memory is used again.
    open: Vec<ActivePacket>,
    free: Vec<usize>,
    /// The open packets by their next events, but for the current one.
    heads: BinaryHeap<Reverse<Head>>,
    /// The streams that are not at their end by the earliest time of what is not open yet.
    floors: BinaryHeap<Reverse<(i64, usize)>>,
    /// The streams that nobody waits for, until there is more.
    away: Vec<usize>,
    /// The number of streams that are not at their end.
    lasting: usize,
    /// The packet that the last event came from.
    current: Option<Current>,
    report: Report,
    /// Where events are missing, until somebody asks.
    gaps: Vec<Gap>,
    tally: Tally,
    progress: Option<&'r Progress>,
    /// The size of all packets that are known from the start, in bytes.
    size: u64,
}

/// A trace whose packets are merged.
struct MergedTrace<'r> {
    source: Box<dyn PacketSource + 'r>,
    layout: Arc<Layout>,
    plans: Vec<Arc<StreamPlan>>,
    /// The metadata that the source has delivered.
    metadata: Vec<u8>,
    /// The number of streams that are known.
    streams: usize,
}

/// A stream whose packets are merged.
struct MergedStream {
    trace: usize,
    /// Its number in the trace's source.
    number: usize,
    /// The class of its last packet.
    class: usize,
    /// The next packet, if it has arrived.
    next: Option<(Storage, LocatedPacket)>,
    /// The number of packets that have been opened so far, and of those that are open.
    packets: u64,
    open: usize,
    /// The time up to which it is complete.
    watermark: i64,
    /// Whether it is among the floors.
    has_floor: bool,
    /// What its packets so far tell of what is lost before the next.
    predecessors: Predecessors,
}

/// What a stream was found to have next.
#[derive(PartialEq, Eq)]
enum Advance {
    Packet,
    Quiet,
    Away,
    End,
}

/// What the merge compares: the time of a packet's next event, its stream and its number there. The last is its slot.
type Head = (i64, usize, u64, usize);

/// The packet whose events are being handed out, and what the next one is compared with.
#[derive(Clone, Copy)]
struct Current {
    slot: usize,
    stream: usize,
    number: u64,
    /// The earliest of the other packets' next events.
    other: Option<Head>,
    /// The earliest time of what is not open yet.
    floor: Option<i64>,
}

impl Current {
    /// Whether its event at this time comes before all others.
    #[inline(always)]
    fn is_first(&self, time: i64) -> bool {
        self.floor.is_none_or(|floor| time < floor)
            && self.other.is_none_or(|other| (time, self.stream, self.number) < (other.0, other.1, other.2))
    }

    /// The next event of the others, if it comes before what is not open yet.
    #[inline(always)]
    fn other_before_floor(&self) -> Option<Head> {
        self.other.filter(|other| self.floor.is_none_or(|floor| other.0 < floor))
    }
}

/// What comes next.
///
/// ```
/// # mod made { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/example.rs")); }
/// # use made::*;
/// use ctf_reader::{Step, Window, all_fields};
///
/// let reader = example();
/// let mut events = reader.in_order(Window::default(), all_fields);
/// let mut count = 0;
/// while let Step::Event(_) = events.step() {
///     count += 1;
/// }
/// assert!(matches!(events.step(), Step::End));
/// assert_eq!(count, 3);
/// ```
pub enum Step<'a> {
    /// An event.
    Event(OrderedEvent<'a>),
    /// Nothing yet: a source must deliver more before it is known which event is next. Files never wait.
    Wait,
    /// Nothing more.
    End,
}

/// What the merge found to be next.
enum Choice {
    Packet(usize),
    Wait,
    End,
}

impl<'r> InOrder<'r> {
    /// Merges the packets of sources, each of which is a trace. `want` says for each event class which fields to
    /// decode, as [`Collect::want`](crate::Collect::want) does, also of classes that metadata adds later.
    pub fn new(
        sources: Vec<Box<dyn PacketSource + 'r>>,
        window: Window,
        want: impl FnMut(&Arc<EventClass>) -> Option<Vec<usize>> + 'r,
    ) -> InOrder<'r> {
        let mut merge = InOrder::of(window, Box::new(want), Report::default());
        sources.into_iter().for_each(|source| merge.add_source("", source));
        merge
    }

    /// Adds a trace whose packets are merged from now on. Damage is reported under its name.
    ///
    /// Its events may be earlier than those that have been handed out already.
    pub fn add_source(&mut self, name: impl Into<PathBuf>, source: Box<dyn PacketSource + 'r>) {
        self.report.traces.push(Trace { folders: vec![name.into()], ..Trace::default() });
        self.add(source, Arc::new(Layout::default()), 0);
    }

    /// Asks all sources for metadata and streams, and streams that are [away](NextPacket::Away) for packets.
    ///
    /// The merge asks a source by itself when one of its streams has nothing left. A program that merges what arrives
    /// over time calls this before it goes on after [`Step::Wait`], and now and then while events never end.
    pub fn look_for_more(&mut self) {
        (0..self.traces.len()).for_each(|trace| self.refresh(trace));
        for stream in std::mem::take(&mut self.away) {
            self.advance(stream);
        }
        if let Some(current) = &mut self.current {
            current.floor = self.floors.peek().map(|Reverse((time, _))| *time);
        }
    }

    /// The time before which nothing more is to come, except from streams that are away or that nobody knows yet.
    pub fn watermark(&self) -> Option<i64> {
        let current = self.current.and_then(|current| self.open[current.slot].next_time());
        let head = self.heads.peek().map(|Reverse(head)| head.0);
        let floor = self.floors.peek().map(|Reverse((time, _))| *time);
        [current, head, floor].into_iter().flatten().min().filter(|&time| time > i64::MIN)
    }

    /// Merges the packets of traces that are added before the first step.
    pub(crate) fn of(window: Window, want: Box<Want<'r>>, report: Report) -> InOrder<'r> {
        InOrder {
            traces: Vec::new(),
            streams: Vec::new(),
            want,
            limits: window.limits(),
            next_class: 0,
            files: FilePool::default(),
            open: Vec::new(),
            free: Vec::new(),
            heads: BinaryHeap::new(),
            floors: BinaryHeap::new(),
            away: Vec::new(),
            lasting: 0,
            current: None,
            report,
            gaps: Vec::new(),
            tally: Tally::default(),
            progress: None,
            size: 0,
        }
    }

    /// Adds a trace, whose packets have this size as far as they are known; its layout may come with its metadata.
    pub(crate) fn add(&mut self, source: Box<dyn PacketSource + 'r>, layout: Arc<Layout>, size: u64) {
        self.size += size;
        let plans = layout.plans(&mut *self.want);
        self.traces.push(MergedTrace { source, layout, plans, metadata: Vec::new(), streams: 0 });
        self.refresh(self.traces.len() - 1);
    }

    /// Tells another thread how far reading has come.
    pub fn with_progress(mut self, progress: &'r Progress) -> InOrder<'r> {
        progress.total.store(self.size, Ordering::Relaxed);
        self.progress = Some(progress);
        self
    }

    /// The next event, or `None` if there is none (yet).
    #[inline]
    pub fn next_event(&mut self) -> Option<OrderedEvent<'_>> {
        match self.step() {
            Step::Event(event) => Some(event),
            Step::Wait | Step::End => None,
        }
    }

    /// The next event, or why there is none.
    #[inline]
    pub fn step(&mut self) -> Step<'_> {
        if let Some(current) = self.current {
            let packet = &mut self.open[current.slot];
            packet.pop();
            if let Some(time) = packet.next_time() {
                if current.is_first(time) {
                    return Step::Event(self.event(current.slot));
                }
                if let Some(other) = current.other_before_floor() {
                    let slot = self.take_turns(current, time, other);
                    return Step::Event(self.event(slot));
                }
            }
            self.put_back(current);
        }
        match self.choose() {
            Choice::Packet(slot) => Step::Event(self.event(slot)),
            Choice::Wait => Step::Wait,
            Choice::End => Step::End,
        }
    }

    /// Where events are missing before packets that have come since the last call. Of traces that are complete from the start,
    /// [`Reader::gaps`](crate::Reader::gaps) tells.
    pub fn new_gaps(&mut self) -> Vec<Gap> {
        std::mem::take(&mut self.gaps)
    }

    /// What was read besides the events; it is complete when the last event has been handed out.
    pub fn report(&self) -> Report {
        let mut report = self.report.clone();
        self.tally.tell(&mut report);
        report.damage.sort();
        report
    }

    /// Puts the current packet, whose next event is at this time, in the place of another one, which becomes current.
    #[inline(always)]
    fn take_turns(&mut self, current: Current, time: i64, other: Head) -> usize {
        if let Some(mut first) = self.heads.peek_mut() {
            *first = Reverse((time, current.stream, current.number, current.slot));
        }
        let (_, stream, number, slot) = other;
        let other = self.heads.peek().map(|Reverse(head)| *head);
        self.current = Some(Current { slot, stream, number, other, floor: current.floor });
        slot
    }

    /// Returns the current packet to the others.
    #[inline(never)]
    fn put_back(&mut self, current: Current) {
        self.current = None;
        self.settle(current.slot);
    }

    /// Finds the packet with the earliest event, and opens others as their floors are reached.
    #[inline(never)]
    fn choose(&mut self) -> Choice {
        loop {
            let head = self.heads.peek().map(|Reverse(head)| *head);
            let floor = self.floors.peek().map(|Reverse(floor)| *floor);
            match (head, floor) {
                // At the same time too: what is not open may have an event that goes first.
                (_, Some((time, stream))) if head.is_none_or(|head| time <= head.0) => {
                    self.floors.pop();
                    self.streams[stream].has_floor = false;
                    if self.streams[stream].next.is_some() {
                        self.open_next(stream);
                    } else if !self.ask(stream) {
                        return Choice::Wait;
                    }
                }
                (Some((.., slot)), _) => {
                    self.heads.pop();
                    let ActivePacket { stream, number, .. } = self.open[slot];
                    let other = self.heads.peek().map(|Reverse(head)| *head);
                    let floor = floor.map(|(time, _)| time);
                    self.current = Some(Current { slot, stream, number, other, floor });
                    return Choice::Packet(slot);
                }
                (None, _) => {
                    // Every stream has ended or is away; there may be new ones.
                    self.look_for_more();
                    if self.floors.is_empty() {
                        let is_complete = self.traces.iter().all(|trace| trace.source.is_complete());
                        return if is_complete { Choice::End } else { Choice::Wait };
                    }
                }
            }
        }
    }

    /// Asks a stream that had nothing again. Returns whether it has made progress.
    fn ask(&mut self, stream: usize) -> bool {
        let before = self.streams[stream].watermark;
        self.refresh(self.streams[stream].trace);
        self.advance(stream) != Advance::Quiet || self.streams[stream].watermark > before
    }

    /// Takes in what a source has added: metadata and streams.
    fn refresh(&mut self, number: usize) {
        self.refresh_metadata(number);
        let streams = match self.traces[number].source.streams() {
            Ok(streams) => streams,
            Err(error) => return self.failed(number, &error),
        };
        for stream in self.traces[number].streams..streams {
            self.traces[number].streams += 1;
            self.lasting += 1;
            self.streams.push(MergedStream {
                trace: number,
                number: stream,
                class: 0,
                next: None,
                packets: 0,
                open: 0,
                watermark: i64::MIN,
                has_floor: false,
                predecessors: Predecessors::default(),
            });
            self.advance(self.streams.len() - 1);
        }
        let known = &mut self.report.traces[number];
        known.streams = known.streams.max(streams);
    }

    /// Understands a trace's metadata anew if it has grown. Classes that are known keep their numbers.
    fn refresh_metadata(&mut self, number: usize) {
        let trace = &mut self.traces[number];
        match trace.source.metadata() {
            Ok(bytes) if bytes.is_empty() => {}
            Ok(bytes) => {
                trace.metadata.extend(bytes);
                // What cannot be understood yet may be complete next time.
                let (metadata, _) = metadata::read(&trace.metadata);
                let layout = Layout::new(metadata, number, &trace.layout, &mut self.next_class);
                self.report.traces[number].environment = layout.environment().collect();
                trace.plans = layout.plans(&mut *self.want);
                trace.layout = Arc::new(layout);
            }
            Err(error) => self.failed(number, &error),
        }
    }

    /// Finds out what a stream has next, and gives it a floor unless it is at its end.
    fn advance(&mut self, stream: usize) -> Advance {
        let MergedStream { trace, number, .. } = self.streams[stream];
        loop {
            match self.traces[trace].source.next_packet(number) {
                Ok(NextPacket::Packet(packet)) => match self.locate(trace, packet) {
                    Ok((located, is_new)) => {
                        if is_new {
                            self.count_losses(stream, &located.1);
                        }
                        self.streams[stream].class = located.1.header.stream;
                        self.streams[stream].next = Some(located);
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

    /// Takes in what is missing before a packet that was not known from the start.
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

    /// A packet with its header, which is decoded if need be, and whether it was.
    fn locate(&mut self, trace: usize, packet: Packet) -> Result<((Storage, LocatedPacket), bool), Damage> {
        let Packet { storage, offset, length, header } = packet;
        let is_new = header.is_none();
        let (header, is_cut) = match header {
            Some(known) => known,
            None => {
                // It may be the first to need what metadata has grown by.
                self.refresh_metadata(trace);
                let metadata = &self.traces[trace].layout.metadata;
                let header = storage
                    .open(&mut self.files)
                    .and_then(|bytes| scan::read_header(metadata, &bytes, offset))
                    .map_err(|error| storage.unreadable(offset, &error))?
                    .map_err(|reason| storage.damage(offset, reason))?;
                let is_cut = header.packet_size.is_some_and(|size| size > length);
                (header, is_cut)
            }
        };
        let located = LocatedPacket { file: 0, offset, length, header, is_cut, latest: u64::MAX };
        Ok(((storage, located), is_new))
    }

    /// Gives a stream that has a next packet a floor, so that the merge opens it in time.
    fn give_floor(&mut self, stream: usize) {
        let MergedStream { trace, next, open, .. } = &self.streams[stream];
        let Some((_, packet)) = next else { return };
        // One that does not say when it begins follows the others of its stream, and so do those that are too many.
        let must_follow = *open >= MAX_OPEN || (packet.header.begin.is_none() && *open > 0);
        if !must_follow {
            let timebase = &self.traces[*trace].layout.timebases[packet.header.stream];
            self.push_floor(stream, timebase.time(packet.earliest()));
        }
    }

    fn push_floor(&mut self, stream: usize, time: i64) {
        if !std::mem::replace(&mut self.streams[stream].has_floor, true) {
            self.floors.push(Reverse((time, stream)));
        }
    }

    /// Opens a stream's next packet, and looks for the one after it.
    fn open_next(&mut self, stream: usize) {
        let part = self.part();
        let entry = &mut self.streams[stream];
        let Some((storage, packet)) = entry.next.take() else { return };
        let trace = &self.traces[entry.trace];
        let number = entry.packets;
        entry.packets += 1;
        if let Some(end) = packet.header.end {
            let timebase = &trace.layout.timebases[packet.header.stream];
            entry.watermark = entry.watermark.max(timebase.time(end));
        }
        let (layout, plan) = (Arc::clone(&trace.layout), Arc::clone(&trace.plans[packet.header.stream]));
        let free = self.free.last().map(|&slot| &mut self.open[slot]);
        let (ahead, buffer) = free.map(ActivePacket::take_memory).unwrap_or_default();
        let opened = storage
            .open(&mut self.files)
            .and_then(|bytes| OpenPacket::open(&layout.metadata, plan, &packet, &bytes, part, buffer));
        match opened {
            Ok(open) => {
                self.streams[stream].open += 1;
                let LocatedPacket { offset, length, .. } = packet;
                let active = ActivePacket { packet: open, ahead, storage, offset, length, stream, number };
                let slot = self.free.pop().unwrap_or(self.open.len());
                match self.open.get_mut(slot) {
                    Some(free) => *free = active,
                    None => self.open.push(active),
                }
                self.settle(slot);
            }
            Err(error) => self.damaged(storage.unreadable(packet.offset, &error)),
        }
        self.advance(stream);
    }

    /// How large a part is: the more streams there are, the smaller.
    fn part(&self) -> usize {
        (MEMORY / self.lasting.max(1)).clamp(SMALLEST_PART, PART)
    }

    /// Puts an open packet where the merge finds it, or closes it if it has no more events.
    fn settle(&mut self, slot: usize) {
        let chunk = self.part() / BYTES_AN_EVENT;
        let packet = &mut self.open[slot];
        match packet.refill(chunk, &self.limits, &mut self.files, &mut self.tally) {
            Ok(Some(time)) => self.heads.push(Reverse((time, packet.stream, packet.number, slot))),
            Ok(None) => self.close(slot),
            Err(damage) => {
                self.damaged(damage);
                self.close(slot);
            }
        }
    }

    /// Closes a packet that has no more events.
    fn close(&mut self, slot: usize) {
        let ActivePacket { stream, length, .. } = self.open[slot];
        if let Some(damage) = self.open[slot].damage() {
            self.damaged(damage);
        }
        if let Some(progress) = self.progress {
            progress.done.fetch_add(length, Ordering::Relaxed);
        }
        self.open[slot].storage.release();
        self.free.push(slot);
        self.streams[stream].open -= 1;
        // The next one may have had to wait for this.
        self.give_floor(stream);
    }

    /// Hands out the next event of an open packet.
    #[inline(always)]
    fn event(&mut self, slot: usize) -> OrderedEvent<'_> {
        let event = self.open[slot].event();
        self.tally.count(1, event.timestamp(), event.timestamp());
        event
    }

    fn failed(&mut self, trace: usize, error: &io::Error) {
        let folder = self.report.traces[trace].folders.first().cloned().unwrap_or_default();
        self.damaged(Damage::new(&folder, format!("cannot be read: {error}")));
    }

    fn damaged(&mut self, damage: Damage) {
        if self.report.damage.len() < MAX_DAMAGE {
            self.report.damage.push(damage);
        }
    }
}
